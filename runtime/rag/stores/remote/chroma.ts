import type { Metadata } from '../../../documents/contract.js';
import type { Outbound } from '../../../net/outbound.js';
import type { Chunk, EmbeddedChunk } from '../../contract.js';
import type { Metric } from '../contract.js';
import { type Condition, storedPaths } from '../metadata.js';
import type { ServerOptions } from '../options.js';
import { BATCH, type CollectionClient, type RemoteHit, Server } from './client.js';

/** The whole metadata as JSON: Chroma keeps texts, numbers and booleans only. */
const METADATA_KEY = 'quern_metadata';
/** Marks keys whose value is a list or a fraction, so that a filter on the server can let them through. */
const OTHER = '#other';

/** Metadata as Chroma keeps it: lists joined by commas, objects as JSON, nulls dropped; with the whole beside it. */
export function flattened(documentHash: string, metadata: Metadata): Metadata {
  const flat: Metadata = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) flat[key] = value.join(',');
    else if (typeof value === 'object') flat[key] = JSON.stringify(value);
    else flat[key] = value;
    if (Array.isArray(value) || (typeof value === 'number' && !Number.isInteger(value))) flat[`${key}${OTHER}`] = true;
  }
  return { ...flat, document_hash: documentHash, [METADATA_KEY]: JSON.stringify(metadata) };
}

/** Values that Chroma compares as our filters do, whatever the form of the metadata, apart from what OTHER marks. */
const plain = (value: unknown): boolean =>
  typeof value === 'boolean' || Number.isInteger(value) || (typeof value === 'string' && !/[,{]/.test(value));

/** Chroma compares integers with integers only. */
function bound(operator: string, value: number): Metadata {
  if (Number.isInteger(value)) return { [`$${operator}`]: value };
  return operator.startsWith('g') ? { $gte: Math.ceil(value) } : { $lte: Math.floor(value) };
}

function tested({ operator, wanted }: Condition): Metadata | undefined {
  switch (operator) {
    case 'eq':
      return plain(wanted) ? { $eq: wanted } : undefined;
    case 'in': {
      const values = wanted as unknown[];
      const alike = values.length > 0 && values.every((value) => plain(value) && typeof value === typeof values[0]);
      return alike ? { $in: values } : undefined;
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof wanted === 'number' && Number.isFinite(wanted) ? bound(operator, wanted) : undefined;
    default:
      return undefined;
  }
}

/** The part of a filter that Chroma can take: it lets everything through that passes the whole. */
export function chromaWhere(conditions: readonly Condition[]): Metadata | undefined {
  const parts = conditions.flatMap((condition) => {
    const test = condition.path.includes('.') ? undefined : tested(condition);
    const paths = storedPaths(condition.path);
    return test === undefined ? [] : [{ $or: paths.flatMap((path) => [{ [path]: test }, { [`${path}${OTHER}`]: { $eq: true } }]) }];
  });
  return parts.length > 1 ? { $and: parts } : parts[0];
}

/** The condition that a text has one of the beginnings of words. Chroma tells upper from lower case: the usual three ways are asked for. */
export function chromaWords(beginnings: readonly string[]): Metadata {
  const forms = beginnings.flatMap((word) => [word, word[0]!.toUpperCase() + word.slice(1), word.toUpperCase()]);
  const parts = [...new Set(forms)].map((form) => ({ $contains: form }));
  return parts.length > 1 ? { $or: parts } : parts[0]!;
}

const DATABASE = '/api/v2/tenants/default_tenant/databases/default_database';

/** What Chroma says of a collection. */
interface Described {
  readonly id: string;
  readonly dimension: number | null;
}

/** Parallel lists, as Chroma answers. */
interface Columns {
  readonly ids: readonly string[];
  readonly documents?: readonly (string | null)[];
  readonly metadatas?: readonly (Metadata | null)[];
  readonly embeddings?: readonly (readonly number[])[];
}

/** A collection on a Chroma server, by its HTTP API v2 (checked against server 1.5.9). */
export class ChromaClient implements CollectionClient {
  readonly #server: Server;
  readonly #name: string;
  readonly #metric: Metric;
  /** The server knows collections by an id that changes when they are made anew. */
  #known: Described | undefined;

  constructor(outbound: Outbound, options: ServerOptions, metric: Metric) {
    this.#server = new Server(outbound, options.origin, options.apiKey === undefined ? {} : { 'x-chroma-token': options.apiKey });
    this.#name = options.collection;
    this.#metric = metric;
  }

  get host(): string {
    return this.#server.host;
  }

  async dimensions(): Promise<number | undefined> {
    const described = this.#known?.dimension ? this.#known : await this.#describe();
    return described?.dimension ?? undefined;
  }

  async prepare(): Promise<void> {
    if (this.#known !== undefined) return;
    const configuration = { hnsw: { space: this.#metric } };
    const { body } = await this.#server.call('POST', `${DATABASE}/collections`, { name: this.#name, get_or_create: true, configuration });
    this.#known = body as Described;
  }

  async existing(ids: readonly string[]): Promise<Set<string>> {
    return new Set((await this.#get({ ids, include: [] })).ids);
  }

  async put(chunks: readonly EmbeddedChunk[], signal: AbortSignal): Promise<void> {
    // An upsert would merge the metadata with what was there.
    await this.erase(chunks.map(({ id }) => id));
    const rows = {
      ids: chunks.map(({ id }) => id),
      documents: chunks.map(({ text }) => text),
      embeddings: chunks.map(({ vector }) => [...vector]),
      metadatas: chunks.map(({ documentHash, metadata }) => flattened(documentHash, metadata)),
    };
    await this.#call('upsert', rows, signal);
  }

  async erase(ids: readonly string[]): Promise<void> {
    await this.#call('delete', { ids });
  }

  async eraseDocument(documentHash: string): Promise<number> {
    const where = { document_hash: { $eq: documentHash } };
    let removed = 0;
    for (;;) {
      const { ids } = await this.#get({ where, limit: BATCH, include: [] });
      if (ids.length === 0) return removed;
      await this.erase(ids);
      removed += ids.length;
    }
  }

  async nearest(vector: Float32Array, limit: number, conditions: readonly Condition[], signal: AbortSignal): Promise<RemoteHit[]> {
    const where = chromaWhere(conditions);
    const query = {
      query_embeddings: [[...vector]],
      n_results: limit,
      ...(where && { where }),
      include: ['documents', 'metadatas', 'distances'],
    };
    const answer = (await this.#call('query', query, signal)) as
      | { ids: string[][]; documents: string[][]; metadatas: Metadata[][]; distances: number[][] }
      | undefined;
    if (answer === undefined) return [];
    const columns = { ids: answer.ids[0] ?? [], documents: answer.documents[0] ?? [], metadatas: answer.metadatas[0] ?? [] };
    return columns.ids.map((_id, i) => ({ chunk: chunkAt(columns, i), raw: this.#raw(answer.distances[0]![i]!) }));
  }

  async matching(beginnings: readonly string[], limit: number, conditions: readonly Condition[], signal: AbortSignal): Promise<Chunk[]> {
    const where = chromaWhere(conditions);
    const query = { ...(where && { where }), where_document: chromaWords(beginnings), include: ['documents', 'metadatas'] };
    const found: Chunk[] = [];
    while (found.length < limit) {
      const columns = await this.#get({ ...query, limit: BATCH, offset: found.length }, signal);
      found.push(...columns.ids.map((_id, i) => chunkAt(columns, i)));
      if (columns.ids.length < BATCH) break;
    }
    return found;
  }

  async *list(): AsyncGenerator<Chunk[]> {
    for (let offset = 0; ; offset += BATCH) {
      const columns = await this.#get({ limit: BATCH, offset, include: ['documents', 'metadatas'] });
      if (columns.ids.length > 0) yield columns.ids.map((_id, i) => chunkAt(columns, i));
      if (columns.ids.length < BATCH) return;
    }
  }

  async fetch(ids: readonly string[]): Promise<EmbeddedChunk[]> {
    const columns = await this.#get({ ids, include: ['documents', 'metadatas', 'embeddings'] });
    return columns.ids.map((_id, i) => ({ ...chunkAt(columns, i), vector: Float32Array.from(columns.embeddings![i]!) }));
  }

  async count(): Promise<number> {
    const described = await this.#described();
    if (described === undefined) return 0;
    const { status, body } = await this.#server.call('GET', `${DATABASE}/collections/${described.id}/count`);
    return status === 404 ? 0 : (body as number);
  }

  async drop(): Promise<void> {
    await this.#server.call('DELETE', `${DATABASE}/collections/${this.#name}`);
    this.#known = undefined;
  }

  async ping(): Promise<void> {
    await this.#server.call('GET', '/api/v2/heartbeat');
  }

  /** Chroma's distances are 1 - cosine, 1 - inner product, and the squared Euclidean one. */
  #raw(distance: number): number {
    return this.#metric === 'l2' ? -distance : 1 - distance;
  }

  async #describe(): Promise<Described | undefined> {
    const { status, body } = await this.#server.call('GET', `${DATABASE}/collections/${this.#name}`);
    this.#known = status === 404 ? undefined : (body as Described);
    return this.#known;
  }

  async #described(): Promise<Described | undefined> {
    return this.#known ?? (await this.#describe());
  }

  async #get(body: Record<string, unknown>, signal?: AbortSignal): Promise<Columns> {
    return ((await this.#call('get', body, signal)) as Columns | undefined) ?? { ids: [] };
  }

  /** Undefined when the collection is not there; one that was made anew meanwhile is looked up once more. */
  async #call(action: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    for (let fresh = this.#known === undefined; ; fresh = true) {
      const described = await this.#described();
      if (described === undefined) return undefined;
      const reply = await this.#server.call('POST', `${DATABASE}/collections/${described.id}/${action}`, body, signal);
      if (reply.status !== 404) return reply.body;
      this.#known = undefined;
      if (fresh) return undefined;
    }
  }
}

function chunkAt({ ids, documents, metadatas }: Columns, index: number): Chunk {
  const { [METADATA_KEY]: text, document_hash: documentHash, ...rest } = metadatas?.[index] ?? {};
  return {
    id: ids[index]!,
    documentHash: String(documentHash ?? ''),
    text: documents?.[index] ?? '',
    // Chunks of other programs have flat metadata only.
    metadata: typeof text === 'string' ? (JSON.parse(text) as Metadata) : rest,
  };
}
