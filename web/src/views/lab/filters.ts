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

/** Conditions as a request takes them; those without a key or a value do not count. Two on one key hold both. */
export function filtersOf(conditions: readonly Condition[]): Record<string, Record<string, unknown>> | undefined {
  const filters: Record<string, Record<string, unknown>> = {};
  for (const { key, operator, value } of conditions) {
    if (key.trim() === '' || value.trim() === '') continue;
    const meant = operator === '$in' ? value.split(',').map((one) => valueOfText(one)) : valueOfText(value);
    filters[key.trim()] = { ...filters[key.trim()], [operator]: meant };
  }
  return Object.keys(filters).length === 0 ? undefined : filters;
}

/** The other way round. */
export function conditionsOf(filters: unknown): Condition[] {
  return Object.entries((filters ?? {}) as Record<string, unknown>).flatMap(([key, meant]) => {
    const operators =
      typeof meant === 'object' && meant !== null && !Array.isArray(meant) ? (meant as Record<string, unknown>) : { $eq: meant };
    return Object.entries(operators).map(([name, value]): Condition => {
      const operator = `$${name.replace('$', '')}` as Condition['operator'];
      return { key, operator, value: Array.isArray(value) ? value.join(', ') : String(value) };
    });
  });
}

function valueOfText(text: string): string | number | boolean {
  const word = text.trim();
  if (word === 'true' || word === 'false') return word === 'true';
  return word !== '' && Number.isFinite(Number(word)) ? Number(word) : word;
}
