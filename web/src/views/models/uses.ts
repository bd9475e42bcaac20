/** Which projects name a model. */
import { get } from '../../lib/api';

interface Listed {
  readonly namespace: string;
  readonly name: string;
  readonly config: unknown;
}

/** Labels of projects by the models that their files name, with and without a quantisation. */
export async function usesOf(namespaces: readonly string[]): Promise<Map<string, string[]>> {
  const uses = new Map<string, string[]>();
  const lists = await Promise.all(namespaces.map((one) => get<{ projects: Listed[] }>(`/v1/projects/${encodeURIComponent(one)}`)));
  for (const { namespace, name, config } of lists.flatMap(({ projects }) => projects)) {
    const label = namespace === 'default' ? name : `${namespace}/${name}`;
    for (const model of new Set(modelsIn(config))) uses.set(model, [...(uses.get(model) ?? []), label]);
  }
  return uses;
}

/** Texts at members called `model`, wherever they stand; each also without its quantisation. */
function* modelsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== 'string') yield* modelsIn(member);
    else if (/(?:^|_)model$/.test(key)) yield* [member, member.replace(/:[^/:]+$/, '')];
  }
}
