import type { Encoding } from './contract.js';
import { countTexts, pythonText, sortedTexts } from './texts.js';

interface Categories {
  readonly categories: readonly string[];
}

/** Columns of one field; categories beyond it, in their order, are as unseen ones. */
const MAX_COLUMNS = 100;

/** A column for each category of the fit, 1 in that of the value; all 0 for unseen and missing values, and one column of 0 where there is none. */
export const onehot: Encoding<Categories> = {
  learn: async (values, field) => ({ categories: sortedTexts((await countTexts(values, field)).keys()).slice(0, MAX_COLUMNS) }),
  columns: (field, { categories }) => (categories.length === 0 ? [field] : categories.map((category) => `${field}_${category}`)),
  isState: (state): state is Categories => {
    const { categories } = state as Partial<Categories>;
    return Array.isArray(categories) && categories.length <= MAX_COLUMNS && categories.every((one) => typeof one === 'string');
  },
  writer: (field, { categories }) => {
    const places = new Map(categories.map((category, index) => [category, index]));
    return (value, out, at, row) => {
      const place = places.get(pythonText(value, field, row) as string);
      out.fill(0, at, at + Math.max(1, categories.length));
      if (place !== undefined) out[at + place] = 1;
    };
  },
};
