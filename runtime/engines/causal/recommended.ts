import type { RecommendedSampling } from '../contract.js';

/** Members of `generation_config.json`, each with its name in a request, its least and its greatest value there. */
const MEMBERS: readonly (readonly [member: string, name: keyof RecommendedSampling, least: number, greatest: number])[] = [
  ['temperature', 'temperature', 0, 2],
  ['top_k', 'top_k', 0, 100_000],
  ['top_p', 'top_p', 0, 1],
  ['min_p', 'min_p', 0, 1],
  ['repetition_penalty', 'repeat_penalty', 0.01, 10],
];

/** The sampling that a `generation_config.json` recommends; a value that no request could have is left out. */
export function recommendedSampling(config: Readonly<Record<string, unknown>>): RecommendedSampling {
  const sampling: RecommendedSampling = {};
  for (const [member, name, least, greatest] of MEMBERS) {
    const value = config[member];
    const isUsable = typeof value === 'number' && value >= least && value <= greatest && (name !== 'top_k' || Number.isInteger(value));
    if (isUsable) sampling[name] = value;
  }
  return sampling;
}
