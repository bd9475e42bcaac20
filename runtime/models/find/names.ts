import { Failure } from '../../../schemas/errors.js';

const ID = /^[A-Za-z0-9_.-]{1,96}(?:\/[A-Za-z0-9_.-]{1,96})?$/;
/** Forbidden by the hub too: cache folders have `--` for the slash, and a path goes past `.`, so that two names would stand for one folder. */
const AMBIGUOUS = /--|(?:^|\/)-|-(?:\/|$)|(?:^|\/)\.(?:\/|$)/;
const NAME_LIMIT = 1024;
/** What other programs put in the place of a quantisation where any will do. */
const NO_WISH: ReadonlySet<string> = new Set(['', 'LATEST']);
/** How other programs write that a repository is one of the hub's. */
const ON_HUB = /^(?:hf:\/\/(?:models\/)?|(?:https?:\/\/)?(?:www\.)?(?:hf|huggingface)\.co\/)(?=[^/]+\/[^/]+$)/i;

/** A model as a caller names it. */
export interface ModelName {
  /** `org/repo`, a bare name, or a path; without the quantisation. */
  readonly id: string;
  /** Upper case, such as `Q4_K_M`; null where none was given. */
  readonly quantisation: string | null;
  readonly isPath: boolean;
}

const badName = (name: string, rule: string): Failure =>
  new Failure(
    'bad_request',
    `"${name.slice(0, 200)}" is not a model name: ${rule}. Give org/repo, org/repo:QUANT, a built-in name or a path that ends in .gguf.`,
    {
      code: 'InvalidModelName',
    },
  );

/** Whether a caller can name this repository or folder. */
export const isNameable = (id: string): boolean => !/\.gguf$/i.test(id) && !id.includes('..') && ID.test(id) && !AMBIGUOUS.test(id);

/**
 * Splits a model name at its last colon; names that end in `.gguf` are paths and have no quantisation. What others put before a repository of
 * the hub, such as `hf.co/`, is left out.
 */
export function splitName(given: string): ModelName {
  if (/\.gguf$/i.test(given)) return { id: given, quantisation: null, isPath: true };
  const name = given.replace(ON_HUB, '');
  const colon = name.lastIndexOf(':');
  if (colon < 0) return { id: name, quantisation: null, isPath: false };
  const suffix = name
    .slice(colon + 1)
    .trim()
    .toUpperCase();
  return { id: name.slice(0, colon), quantisation: NO_WISH.has(suffix) ? null : suffix, isPath: false };
}

/** Checks a model name and splits it. Throws `Failure('bad_request')` for what cannot name a model, traversals among them (threats T1, T2). */
export function parseName(name: string): ModelName {
  if (name === '' || name.length > NAME_LIMIT) throw badName(name, `it must have 1 to ${NAME_LIMIT} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f]/.test(name)) throw badName(name, 'it holds a control character');
  const parsed = splitName(name);
  if (parsed.isPath) return parsed;
  if (parsed.id.includes('..') || !ID.test(parsed.id)) throw badName(name, 'letters, digits, "_", ".", "-" and one slash are allowed');
  if (AMBIGUOUS.test(parsed.id)) throw badName(name, '"--", a part "." and a "-" at the beginning or end of a part are not allowed');
  if (parsed.quantisation !== null && !/^[A-Z0-9_-]{1,32}$/.test(parsed.quantisation))
    throw badName(name, `"${parsed.quantisation}" is no quantisation`);
  return parsed;
}
