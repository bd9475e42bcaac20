import type { Encoding } from './contract.js';
import { countTexts, pythonText, sortedTexts } from './texts.js';

interface Labels {
  readonly labels: readonly string[];
}

/** 1 and up for the texts of the fit in their order; 0 for any other and for missing values. */
export const label: Encoding<Labels> = {
  learn: async (values, field) => ({ labels: sortedTexts((await countTexts(values, field)).keys()) }),
  columns: (field) => [field],
  isState: (state): state is Labels => isTexts((state as Partial<Labels>).labels),
  writer: (field, { labels }) => {
    const numbers = new Map(labels.map((text, index) => [text, index + 1]));
    return (value, out, at, row) => {
      out[at] = numbers.get(pythonText(value, field, row) as string) ?? 0;
    };
  },
};

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
