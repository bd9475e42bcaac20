import { createHash } from 'node:crypto';
import type { Metadata } from '../../../documents/contract.js';
import type { Outbound } from '../../../net/outbound.js';
import type { Chunk, EmbeddedChunk } from '../../contract.js';
import type { Metric } from '../contract.js';
import { type Condition, storedPaths } from '../metadata.js';
import type { ServerOptions } from '../options.js';
import { BATCH, type CollectionClient, type RemoteHit, Server } from './client.js';

/** Names that mean themselves in a path of Qdrant. */
const PLAIN_NAME = /^[A-Za-z_][\w-]*$/;

/** The condition on one value, for values that Qdrant compares as our filters do: it looks into lists too. */
function matching(key: string, value: unknown): Metadata | undefined {
  if (typeof value === 'boolean' || (typeof value === 'string' && !/[,{]/.test(value))) return { key, match: { value } };
  // Whole numbers and fractions are different kinds to `match`, but not to a range.
  return typeof value === 'number' ? { key, range: { gte: value, lte: value } } : undefined;
}

function anyOf(keys: readonly string[], values: readonly unknown[]): Metadata[] | undefined {
  const parts = keys.flatMap((key) => values.map((value) => matching(key, value)));
  return parts.every((part) => part !== undefined) ? (parts as Metadata[]) : undefined;
}

/** The part of a filter that Qdrant can take: it lets everything through that passes the whole. */
export function qdrantFilter(conditions: readonly Condition[]): Metadata | undefined {
  const must: Metadata[] = [];
  const mustNot: Metadata[] = [];
  for (const { path, operator, wanted } of conditions) {
    if (!PLAIN_NAME.test(path)) continue;
    const keys = storedPaths(path).map((stored) => `metadata.${stored}`);
    if (operator === 'eq' || operator === 'in') {
      const should = anyOf(keys, operator === 'eq' ? [wanted] : (wanted as unknown[]));
      if (should !== undefined && should.length > 0) must.push({ should });
    } else if (operator === 'ne' || operator === 'nin') {
      mustNot.push(...(anyOf(keys, operator === 'ne' ? [wanted] : (wanted as unknown[])) ?? []));
    } else if (typeof wanted === 'number') must.push({ should: keys.map((key) => ({ key, range: { [operator]: wanted } })) });
  }
  if (must.length + mustNot.length === 0) return undefined;
  return { ...(must.length > 0 && { must }), ...(mustNot.length > 0 && { must_not: mustNot }) };
}

const DISTANCES: Record<Metric, string> = { cosine: 'Cosine', l2: 'Euclid', ip: 'Dot' };

/** How texts are indexed: by the beginnings of their words. Without this index, in a collection made by others, the case of letters counts. */
const WORDS = { type: 'text', tokenizer: 'prefix', lowercase: true, min_token_len: 2, max_token_len: 20 };

/** A point as Qdrant answers. */
interface Point {
  readonly id: string | number;
  readonly score?: number;
  readonly vector?: readonly number[];
  readonly payload?: {
    readonly chunk_id?: string;
    readonly document_hash?: string;
    readonly text?: string;
    readonly metadata?: Metadata;
  } | null;
}

/** A collection on a Qdrant server, by its REST API from 1.10 on (requests compiled against the types of its OpenAPI document, 1.18). */
export class QdrantClient implements CollectionClient {
  readonly #server: Server;
  readonly #path: string;
  readonly #options: ServerOptions;
  readonly #metric: Metric;
  #dimensions: number | undefined;

  constructor(outbound: Outbound, options: ServerOptions, metric: Metric) {
    this.#server = new Server(outbound, options.origin, options.apiKey === undefined ? {} : { 'api-key': options.apiKey });
    this.#path = `/collections/${options.collection}`;
    this.#options = options;
    this.#metric = metric;
  }

  get host(): string {
    return this.#server.host;
  }

  async dimensions(): Promise<number | undefined> {
    if (this.#dimensions !== undefined) return this.#dimensions;
    const { status, body } = await this.#server.call('GET', this.#path);
    if (status === 404) return undefined;
    const described = body as { result: { config: { params: { vectors: { size: number } } } } };
    this.#dimensions = described.result.config.params.vectors.size;
    return this.#dimensions;
  }

  async prepare(dimensions: number): Promise<void> {
    if ((await this.dimensions()) !== undefined) return;
    const vectors = { size: dimensions, distance: DISTANCES[this.#metric], on_disk: this.#options.onDisk };
    await this.#server.call('PUT', this.#path, { vectors });
    await this.#server.call('PUT', `${this.#path}/index?wait=true`, { field_name: 'document_hash', field_schema: 'keyword' });
    await this.#server.call('PUT', `${this.#path}/index?wait=true`, { field_name: 'text', field_schema: WORDS });
    this.#dimensions = dimensions;
  }

  async existing(ids: readonly string[]): Promise<Set<string>> {
    const points = await this.#points(ids, { with_payload: ['chunk_id'], with_vector: false });
    return new Set(points.map((point) => chunkOf(point).id));
  }

  async put(chunks: readonly EmbeddedChunk[], signal: AbortSignal): Promise<void> {
    const points = chunks.map(({ id, documentHash, text, metadata, vector }) => ({
      id: pointId(id),
      vector: [...vector],
      payload: { chunk_id: id, document_hash: documentHash, text, metadata },
    }));
    await this.#server.call('PUT', `${this.#path}/points?wait=true`, { points }, signal);
  }

  async erase(ids: readonly string[]): Promise<void> {
    await this.#post('points/delete?wait=true', { points: ids.map(pointId) });
  }

  async eraseDocument(documentHash: string): Promise<number> {
    const filter = { must: [{ key: 'document_hash', match: { value: documentHash } }] };
    const counted = (await this.#post('points/count', { filter, exact: true })) as { count: number } | undefined;
    if (counted === undefined || counted.count === 0) return 0;
    await this.#post('points/delete?wait=true', { filter });
    return counted.count;
  }

  async nearest(vector: Float32Array, limit: number, conditions: readonly Condition[], signal: AbortSignal): Promise<RemoteHit[]> {
    const filter = qdrantFilter(conditions);
    const query = { query: [...vector], limit, ...(filter && { filter }), with_payload: true, with_vector: false };
    const answer = (await this.#post('points/query', query, signal)) as { points: Point[] } | undefined;
    return (answer?.points ?? []).map((point) => ({ chunk: chunkOf(point), raw: this.#raw(point.score ?? 0) }));
  }

  async matching(beginnings: readonly string[], limit: number, conditions: readonly Condition[], signal: AbortSignal): Promise<Chunk[]> {
    const words = { should: beginnings.map((text) => ({ key: 'text', match: { text } })) };
    const { must = [], ...rest } = qdrantFilter(conditions) ?? {};
    const filter = { ...rest, must: [...(must as Metadata[]), words] };
    const found: Chunk[] = [];
    for await (const page of this.#scroll({ filter }, signal)) {
      found.push(...page);
      if (found.length >= limit) break;
    }
    return found;
  }

  list(): AsyncGenerator<Chunk[]> {
    return this.#scroll({});
  }

  async *#scroll(more: object, signal?: AbortSignal): AsyncGenerator<Chunk[]> {
    for (let offset: unknown = null; ; ) {
      const asked = { ...more, limit: BATCH, offset, with_payload: true, with_vector: false };
      const page = (await this.#post('points/scroll', asked, signal)) as { points: Point[]; next_page_offset?: unknown } | undefined;
      if (page === undefined) return;
      if (page.points.length > 0) yield page.points.map(chunkOf);
      offset = page.next_page_offset ?? null;
      if (offset === null) return;
    }
  }

  async fetch(ids: readonly string[]): Promise<EmbeddedChunk[]> {
    const points = await this.#points(ids, { with_payload: true, with_vector: true });
    return points.map((point) => ({ ...chunkOf(point), vector: Float32Array.from(point.vector ?? []) }));
  }

  async count(): Promise<number> {
    return ((await this.#post('points/count', { exact: true })) as { count: number } | undefined)?.count ?? 0;
  }

  async drop(): Promise<void> {
    await this.#server.call('DELETE', this.#path);
    this.#dimensions = undefined;
  }

  async ping(): Promise<void> {
    await this.#server.call('GET', '/collections');
  }

  /** Qdrant scores are the cosine, the inner product, and the Euclidean distance itself. */
  #raw(score: number): number {
    return this.#metric === 'l2' ? -(score ** 2) : score;
  }

  async #points(ids: readonly string[], more: object): Promise<Point[]> {
    return ((await this.#post('points', { ids: ids.map(pointId), ...more })) as Point[] | undefined) ?? [];
  }

  /** Undefined when the collection is not there. */
  async #post(action: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    const reply = await this.#server.call('POST', `${this.#path}/${action}`, body, signal);
    return reply.status === 404 ? undefined : (reply.body as { result: unknown }).result;
  }
}

/** Qdrant takes numbers and UUIDs: the start of the SHA-256 of the chunk id, as a UUID of version 8. */
function pointId(id: string): string {
  const hex = createHash('sha256').update(id).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function chunkOf({ id, payload }: Point): Chunk {
  return {
    id: payload?.chunk_id ?? String(id),
    documentHash: payload?.document_hash ?? '',
    text: payload?.text ?? '',
    metadata: payload?.metadata ?? {},
  };
}
