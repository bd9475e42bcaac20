/** Conditions on the metadata of passages, as the reader states them. */
export const OPERATORS = [
  ['$eq', 'is'],
  ['$ne', 'is not'],
  ['$in', 'is one of'],
  ['$gt', 'is more than'],
  ['$gte', 'is at least'],
  ['$lt', 'is less than'],
  ['$lte', 'is at most'],
] as const;

export interface Condition {
  key: string;
  operator: (typeof OPERATORS)[number][0];
  /** As it is typed; of several, with commas between them. */
  value: string;
}

export type Filters = Record<string, Record<string, unknown>>;

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * Conditions as a request takes them; those without a key or a value do not count. Several on one key hold together; of two of one comparison that is not
 * `is not`, the last one holds. What looks like a number can be a text in the metadata: equality asks for both.
 */
export function filtersOf(conditions: readonly Condition[]): Filters | undefined {
  const filters: Filters = {};
  for (const { key, operator, value } of conditions) {
    if (key.trim() === '' || value.trim() === '') continue;
    const of = filters[key.trim()] ?? {};
    filters[key.trim()] = of;
    const readings = readingsOf(value.trim());
    if (operator === '$eq') Object.assign(of, readings.length === 1 ? { $eq: readings[0] } : { $in: readings });
    else if (operator === '$ne') of.$nin = [...((of.$nin as unknown[] | undefined) ?? []), ...readings];
    else if (operator === '$in') of.$in = value.split(',').flatMap((word) => (word.trim() === '' ? [] : readingsOf(word.trim())));
    else of[operator] = readings.at(-1);
  }
  return Object.keys(filters).length === 0 ? undefined : filters;
}

/** The other way round. */
export function conditionsOf(filters: unknown): Condition[] {
  return Object.entries((filters ?? {}) as Record<string, unknown>).flatMap(([key, meant]) => {
    const operators =
      typeof meant === 'object' && meant !== null && !Array.isArray(meant) ? (meant as Record<string, unknown>) : { $eq: meant };
    return Object.entries(operators).flatMap(([name, value]): Condition[] => {
      const operator = `$${name.replace('$', '')}`;
      const words = [...new Set((Array.isArray(value) ? value : [value]).map(String))];
      if (operator === '$nin') return words.map((word) => ({ key, operator: '$ne', value: word }));
      const isOne = operator === '$in' && words.length === 1;
      return [{ key, operator: isOne ? '$eq' : (operator as Condition['operator']), value: words.join(', ') }];
    });
  });
}

/** What a text can stand for: itself, and the number or the truth that it writes. */
function readingsOf(text: string): (string | number | boolean)[] {
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  return NUMBER.test(text) ? [text, Number(text)] : [text];
}
