import type { Metadata } from '../../../documents/contract.js';
import type { Filter } from '../../stores/contract.js';
import { type Condition, conditionsOf } from '../../stores/filter.js';
import { storedPaths } from '../../stores/names.js';

/** Where a chunk's parts lie in the documents of an index. */
export interface Fields {
  readonly text: string;
  /** Empty where metadata lies at the top of a document. */
  readonly metadata: string;
  readonly vector: string | null;
}

const RANGES = new Set(['gt', 'gte', 'lt', 'lte']);

function clause({ operator, wanted }: Condition, field: string): Metadata {
  if (RANGES.has(operator)) return { range: { [field]: { [operator]: wanted } } };
  if (operator === 'in' || operator === 'nin') return { terms: { [field]: wanted } };
  return wanted === null ? { bool: { must_not: [{ exists: { field } }] } } : { term: { [field]: wanted } };
}

/** The conditions of a filter in the query language of Elasticsearch. */
export function filterClauses(filter: Filter | undefined, metadata: string): Metadata[] {
  return conditionsOf(filter ?? {}).map((condition) => {
    const clauses = storedPaths(condition.path).map((path) => clause(condition, metadata === '' ? path : `${metadata}.${path}`));
    const found = clauses.length === 1 ? clauses[0]! : { bool: { should: clauses, minimum_should_match: 1 } };
    return condition.operator === 'ne' || condition.operator === 'nin' ? { bool: { must_not: [found] } } : found;
  });
}

/** The body of `_search`: BM25 over the text, and the nearest vectors where one is given. Elasticsearch adds up both scores. */
export function searchBody(
  question: { text: string; vector?: Float32Array | undefined; filter?: Filter | undefined; size: number },
  fields: Fields,
  openSearch: boolean,
): Metadata {
  const filter = filterClauses(question.filter, fields.metadata);
  const match = { match: { [fields.text]: { query: question.text } } };
  const plain = { bool: { must: [match], filter } };
  const source = fields.vector === null ? {} : { _source: { excludes: [fields.vector] } };
  if (!question.vector || fields.vector === null) return { size: question.size, query: plain, ...source };
  const vector = [...question.vector];
  if (openSearch) {
    const near = { knn: { [fields.vector]: { vector, k: question.size, ...(filter.length > 0 && { filter: { bool: { filter } } }) } } };
    return { size: question.size, query: { bool: { should: [plain, near], minimum_should_match: 1 } }, ...source };
  }
  const knn = { field: fields.vector, query_vector: vector, k: question.size, num_candidates: Math.max(100, question.size * 2), filter };
  return { size: question.size, query: plain, knn, ...source };
}
