import type { Encoding } from './contract.js';

const NUMBER = /^\s*[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?\s*$/;

/** A number, or a text that Python's `float` reads as a finite one; anything else is 0. */
export const numeric: Encoding = {
  columns: (field) => [field],
  isState: (state): state is object => typeof state === 'object',
  writer: () => (value, out, at) => {
    out[at] = numberOf(value);
  },
};

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && NUMBER.test(value) ? Number(value.replaceAll('_', '')) : 0;
}
