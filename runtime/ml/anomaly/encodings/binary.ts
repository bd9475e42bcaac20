import type { Encoding } from './contract.js';

const TRUE_WORDS = new Set(['true', 'yes', '1', 'on', 't', 'y']);

/** 1 for true, numbers other than 0, and the words for yes in any case; else 0. */
export const binary: Encoding = {
  columns: (field) => [field],
  isState: (state): state is object => typeof state === 'object',
  writer: () => (value, out, at) => {
    out[at] = typeof value === 'string' ? Number(TRUE_WORDS.has(value.trim().toLowerCase())) : Number(isTrue(value));
  },
};

function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'number' && value !== 0);
}
