import { plainName } from '../../runtime/completions/modelfiles/named-models.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { ChatRequest } from '../../schemas/generated/universal/ollama.js';

const NS_PER_MS = 1e6;
const MS_OF_UNIT = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DURATION = /^(-?\d{1,6}(?:\.\d{1,6})?)(ms|s|m|h)?$/;

/** An endpoint of Ollama's API: failures in its shape, and JSON read whatever its clients call it. */
export function ollamaEndpoint(definition: Omit<Endpoint<Runtime>, 'tag' | 'errorShape' | 'anyContentType'>): Endpoint<Runtime> {
  return endpoint({ ...definition, tag: 'ollama', errorShape: 'ollama', anyContentType: true });
}

/** The model that a request names by `model`, or by `name` as older clients do. */
export function modelIn({ body }: Request): string {
  const { model, name } = body as { model?: string; name?: string };
  const given = model ?? name;
  if (given === undefined) throw new Failure('bad_request', 'model is missing: name a model.');
  return given;
}

/** Whole nanoseconds, as Ollama counts time. */
export const nanoseconds = (ms: number): number => Math.max(0, Math.round(ms * NS_PER_MS));

/**
 * What `keep_alive` asks for, in milliseconds: seconds, or a number with a unit; negative = as long as there is room. Undefined where nothing is asked for. Throws
 * `bad_request` for what is no duration.
 */
export function stayOf(keepAlive: ChatRequest['keep_alive']): number | undefined {
  if (keepAlive === undefined || keepAlive === null) return undefined;
  const match = DURATION.exec(String(keepAlive).trim());
  if (!match)
    throw new Failure(
      'bad_request',
      `keep_alive is "${String(keepAlive).slice(0, 50)}": give seconds, or a number with ms, s, m or h, such as "5m".`,
    );
  const [, number = '', unit = 's'] = match;
  const ms = Number(number) * MS_OF_UNIT[unit as keyof typeof MS_OF_UNIT];
  return ms < 0 ? Number.POSITIVE_INFINITY : ms;
}

/** Unloads the model of a name with all its settings. Throws `not_found` where there is none on this machine. */
export async function unload({ named, models }: Runtime, model: string): Promise<void> {
  const name = named.baseOf(model);
  await models.require(name);
  for (const one of new Set(models.loaded().map((loaded) => loaded.name))) if (plainName(one) === plainName(name)) await models.unload(one);
}
