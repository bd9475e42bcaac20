import { Failure } from '../../../schemas/errors.js';
import type { OptionValues } from '../../config/plugin-options.js';
import { isObject } from '../../config/values.js';
import { expandEnv } from '../../config/variables.js';
import type { Metadata } from '../../documents/contract.js';
import { postJson } from '../../net/ask/json-host.js';
import type { Hit } from '../contract.js';
import { valueAt } from '../stores/filter.js';
import type { RetrievalQuery } from './contract.js';
import { defineRetriever, TOP_K } from './define.js';
import { type Fields, searchBody } from './elastic/query.js';
import { scored } from './explain.js';
import { bounded, vectorOf } from './search.js';

const RETRIES = 1;

const OPTIONS = {
  top_k: TOP_K,
  host: { type: 'string', default: null, description: 'Address of an Elasticsearch or OpenSearch host. Required.' },
  port: { type: 'integer', default: 9200, minimum: 1, maximum: 65_535, description: 'Where host has no scheme and no port.' },
  index: { type: 'string', default: 'documents', description: 'The index, or several joined by commas.' },
  api_key: { type: 'string', default: null, description: 'Sent as ApiKey. Write ${env:NAME}.' },
  username: { type: 'string', default: null, description: 'With password, in place of a key.' },
  password: { type: 'string', default: null, description: 'Write ${env:NAME}.' },
  engine: { type: 'string', default: 'elasticsearch', enum: ['elasticsearch', 'opensearch'], description: 'How vectors are asked for.' },
  text_field: { type: 'string', default: 'content', description: 'The field with the text.' },
  metadata_field: { type: 'string', default: 'metadata', description: 'The field with the metadata; empty = the document itself.' },
  vector_field: { type: 'string', default: null, description: 'The field with the vectors; none = BM25 only.' },
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
    score: bounded(score),
  };
  return scored(query, hit, hit.score, { lexical_rank: rank, elastic_score: score, plan: { plan: 'elastic' } });
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
