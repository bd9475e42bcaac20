/** The sampling that the author of a model recommends for requests that leave it open; names and ranges as in a request. */
export interface RecommendedSampling {
  temperature?: number;
  top_p?: number;
  top_k?: number;
  min_p?: number;
  presence_penalty?: number;
  frequency_penalty?: number;
  repeat_penalty?: number;
  dry_multiplier?: number;
  dry_base?: number;
  dry_allowed_length?: number;
}

/** A key with its name in a request, its least and its greatest value there. */
export type RecommendedKey = readonly [key: string, name: keyof RecommendedSampling, least: number, greatest: number];

/** What a model's files recommend, and a note for each value that cannot be used. */
export interface Recommended {
  readonly sampling: RecommendedSampling;
  readonly notes: readonly string[];
}

const PREFIX = 'general.sampling.';

/**
 * What a GGUF file may recommend, by its keys: llama.cpp's, and after the names of llama.cpp's settings the penalties and DRY, for which it has
 * no keys.
 */
const KEYS: readonly RecommendedKey[] = [
  ['temp', 'temperature', 0, 2],
  ['top_k', 'top_k', -1, 100_000],
  ['top_p', 'top_p', 0, 1],
  ['min_p', 'min_p', 0, 1],
  ['penalty_repeat', 'repeat_penalty', 0.01, 10],
  ['penalty_freq', 'frequency_penalty', -2, 2],
  ['penalty_present', 'presence_penalty', -2, 2],
  ['dry_multiplier', 'dry_multiplier', 0, 100],
  ['dry_base', 'dry_base', 1, 100],
  ['dry_allowed_length', 'dry_allowed_length', 1, 1000],
];

const WHOLE: ReadonlySet<string> = new Set(['top_k', 'dry_allowed_length']);

/** Decimal digits that a 32-bit float holds. */
const DIGITS = 7;

/** The sampling that a file recommends, and a note for each value that cannot be used. */
export function readRecommended(metadata: ReadonlyMap<string, unknown>): Recommended {
  const { sampling, notes } = recommended(KEYS, PREFIX, (key) => metadata.get(key));
  // -1 stands for 0 in many places.
  if (sampling.top_k !== undefined) sampling.top_k = Math.max(0, sampling.top_k);
  return { sampling, notes };
}

/** What `given` gives for `prefix` and each key. */
export function recommended(keys: readonly RecommendedKey[], prefix: string, given: (key: string) => unknown): Recommended {
  const sampling: RecommendedSampling = {};
  const notes: string[] = [];
  for (const [key, name, least, greatest] of keys) {
    const value = given(prefix + key) ?? undefined;
    if (value === undefined) continue;
    const isUsable = typeof value === 'number' && value >= least && value <= greatest && (Number.isInteger(value) || !WHOLE.has(name));
    if (isUsable) sampling[name] = Number(value.toPrecision(DIGITS));
    else
      notes.push(
        `The model's files recommend ${prefix}${key} ${renderRecommended(value)}; ${WHOLE.has(name) ? 'a whole number of ' : ''}${least} to ${greatest} is possible, so it is ignored.`,
      );
  }
  return { sampling, notes };
}

function renderRecommended(value: unknown): string {
  return typeof value === 'object' ? 'as a list' : String(value).slice(0, 40);
}
