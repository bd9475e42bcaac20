import type { Encoding } from './contract.js';
import { countTexts, pythonText, sortedTexts } from './texts.js';

interface Shares {
  /** Pairs, since a member named `__proto__` would be none. */
  readonly frequencies: readonly (readonly [text: string, share: number])[];
}

/** The share of the value among those of the fit, missing ones not counted; half the smallest share for unseen and missing values. */
export const frequency: Encoding<Shares> = {
  learn: async (values, field) => {
    const counts = await countTexts(values, field);
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return { frequencies: sortedTexts(counts.keys()).map((text) => [text, counts.get(text)! / total]) };
  },
  columns: (field) => [field],
  isState: (state): state is Shares => {
    const { frequencies } = state as Partial<Shares>;
    return Array.isArray(frequencies) && frequencies.every(isShare);
  },
  writer: (field, { frequencies }) => {
    const shares = new Map(frequencies);
    const least = frequencies.reduce((smallest, [, share]) => Math.min(smallest, share), 1);
    const unseen = frequencies.length === 0 ? 0 : least / 2;
    return (value, out, at, row) => {
      out[at] = shares.get(pythonText(value, field, row) as string) ?? unseen;
    };
  },
};

function isShare(one: unknown): boolean {
  return Array.isArray(one) && one.length === 2 && typeof one[0] === 'string' && typeof one[1] === 'number';
}
