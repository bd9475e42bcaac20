import { type Recommended, type RecommendedKey, recommended } from '../../../formats/recommended.js';

const MEMBERS: readonly RecommendedKey[] = [
  ['temperature', 'temperature', 0, 2],
  ['top_k', 'top_k', 0, 100_000],
  ['top_p', 'top_p', 0, 1],
  ['min_p', 'min_p', 0, 1],
  ['repetition_penalty', 'repeat_penalty', 0.01, 10],
];

/** The sampling that a `generation_config.json` recommends. */
export const recommendedSampling = (config: Readonly<Record<string, unknown>>): Recommended =>
  recommended(MEMBERS, '', (member) => config[member]);
