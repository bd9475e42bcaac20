import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import type { OptionValues } from '../../config/plugin-options.js';
import { expandEnv } from '../../config/variables.js';
import type { Metadata } from '../../documents/contract.js';
import { postJson } from '../../net/ask/json.js';
import type { Filter, Hit } from '../contract.js';
import { type Condition, conditionsOf, storedPaths, valueAt } from '../stores/metadata.js';
import type { RetrievalQuery } from './contract.js';
import { defineRetriever, TOP_K } from './define-retriever.js';
import { boundedScore, vectorOf, withScore } from './hits.js';

/** Where a chunk's parts lie in the documents of an index. */
interface Fields {
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

const RETRIES = 1;

const OPTIONS = {
  top_k: TOP_K,
  host: {
    type: 'string',
    default: null,
    description: 'Address of an Elasticsearch or OpenSearch host. Required.',
    examples: ['http://127.0.0.1:9200'],
  },
  port: { type: 'integer', default: 9200, minimum: 1, maximum: 65_535, description: 'Where host has no scheme and no port.' },
  index: { type: 'string', default: 'documents', description: 'The index, or several joined by commas.' },
  api_key: { type: 'string', default: null, description: 'Sent as ApiKey. Write ${env:NAME}.', examples: ['${env:ELASTIC_KEY}'] },
  username: { type: 'string', default: null, description: 'With password, in place of a key.', examples: ['reader'] },
  password: { type: 'string', default: null, description: 'Write ${env:NAME}.', examples: ['${env:ELASTIC_PASSWORD}'] },
  engine: { type: 'string', default: 'elasticsearch', enum: ['elasticsearch', 'opensearch'], description: 'How vectors are asked for.' },
  text_field: { type: 'string', default: 'content', description: 'The field with the text.' },
  metadata_field: { type: 'string', default: 'metadata', description: 'The field with the metadata; empty = the document itself.' },
  vector_field: { type: 'string', default: null, description: 'The field with the vectors; none = BM25 only.', examples: ['embedding'] },
  timeout: { type: 'number', default: 10, minimum: 0.1, maximum: 600, description: 'Seconds for one request.' },
} as const;

type Options = OptionValues<typeof OPTIONS>;

function baseOf(options: Options): string {
  const host = options.host?.trim() ?? '';
  if (host === '')
    throw new Failure(
      'bad_request',
      "An ElasticRetriever needs 'host': the address of an Elasticsearch or OpenSearch host. BM25Retriever and HybridRetriever search this database itself.",
      { code: 'ElasticHostMissing' },
    );
  if (/^https?:\/\//i.test(host)) return host;
  return /:\d+$/.test(host) ? `http://${host}` : `http://${host}:${options.port}`;
}

function credentials({ api_key: key, username, password }: Options): Record<string, string> {
  if (key !== null) return { authorization: `ApiKey ${key}` };
  if (username === null) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}` };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function hitOf(query: RetrievalQuery, row: unknown, rank: number, fields: Fields): Hit | undefined {
  if (!isObject(row) || !isObject(row._source) || typeof row._id !== 'string') return undefined;
  const source: Metadata = row._source;
  const { [fields.text]: _text, ...rest } = source;
  const nested = fields.metadata === '' ? rest : source[fields.metadata];
  const metadata = isObject(nested) ? nested : {};
  const score = typeof row._score === 'number' ? row._score : 0;
  const hit = {
    id: row._id,
    documentHash: textOf(metadata.document_hash ?? source.document_hash),
    text: textOf(valueAt(source, fields.text)),
    metadata,
    score: boundedScore(score),
  };
  return withScore(query, hit, hit.score, { lexical_rank: rank, elastic_score: score, plan: { plan: 'elastic' } });
}

/** Asks an Elasticsearch or OpenSearch host that the project file names. */
export const elastic = defineRetriever('ElasticRetriever', 'top_k', OPTIONS, async (query, configured, means) => {
  const options = expandEnv({ ...configured });
  const base = baseOf(options);
  const fields: Fields = { text: options.text_field, metadata: options.metadata_field, vector: options.vector_field };
  const vector = fields.vector === null ? undefined : await vectorOf(query.text, means);
  const body = searchBody({ text: query.text, vector, filter: query.filter, size: query.topK }, fields, options.engine === 'opensearch');
  const path = `/${options.index
    .split(',')
    .map((name) => encodeURIComponent(name.trim()))
    .join(',')}/_search`;
  const call = {
    base,
    path,
    body,
    model: options.index,
    headers: credentials(options),
    timeoutMs: options.timeout * 1000,
    retries: RETRIES,
  };
  const answer = await postJson(means.outbound, call, query.signal);
  const found = isObject(answer) && isObject(answer.hits) ? answer.hits.hits : undefined;
  if (!Array.isArray(found))
    throw new Failure('unavailable', `${base} answered '${path}' with something that holds no hits.`, { code: 'BadAnswer' });
  return found.map((row, at) => hitOf(query, row, at + 1, fields)).filter((hit) => hit !== undefined);
});
