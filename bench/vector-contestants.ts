import { mkdtempSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeVectorIndex, VectorSearchOptions } from '../native/contract.js';
import { loadCore } from '../native/loader.js';
import { buildHnswlib, installPeers, peerModule, startChroma } from './npm-peers.js';
import { treeMemoryMb } from './start.js';
import { DIMENSIONS, vectorAt } from './vector-space.js';

const CONNECTIVITY = 16;
const EFFORT_BUILD = 128;
/** One row in so many is allowed by the filter. */
const SHARE = 100;

/** An index under measurement: cosine, 16 links, 128 candidates while building. */
export interface Contestant {
  build(rows: Float32Array): Promise<void>;
  /** The ids of the 10 nearest; with `filtered` only ids that `SHARE` divides. */
  search(query: Float32Array, effort: number, filtered: boolean): Promise<number[]>;
  /** Called before each effort. */
  prepare?(effort: number): Promise<void>;
  /** Memory of a server; that of the process itself when missing. */
  memoryMb?(): number;
}

const K = 10;
const BATCH = 512;
/** Rows from which on ours has a graph for certain. */
const LEAST_GRAPH = 10_000;

function filterOf(count: number): Uint8Array<ArrayBuffer> {
  const filter = new Uint8Array(Math.ceil(count / 8));
  for (let id = 0; id < count; id += SHARE) filter[id >> 3]! |= 1 << (id & 7);
  return filter;
}

/** Adds rows to an index, their numbers as ids. */
export async function addAll(index: NativeVectorIndex, rows: Float32Array): Promise<void> {
  const count = rows.length / DIMENSIONS;
  for (let from = 0; from < count; from += BATCH) {
    const ids = Uint32Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => from + at);
    await index.add(ids, rows.subarray(from * DIMENSIONS, (from + ids.length) * DIMENSIONS));
  }
}

/** The true neighbours of queries, by f32 numbers: of all rows, and of those that the filter allows. */
export async function nearest(rows: Float32Array, queries: Float32Array[]): Promise<[number[][], number[][]]> {
  const index = loadCore().openVectorIndex({ dimensions: DIMENSIONS, metric: 'cosine', storage: 'f32', scanBelow: 2 ** 32 - 1 });
  await addAll(index, rows);
  const find = (options: VectorSearchOptions): Promise<number[][]> =>
    Promise.all(queries.map(async (query) => [...(await index.search(query, K, { ...options, exact: true })).ids]));
  return [await find({}), await find({ filter: filterOf(rows.length / DIMENSIONS) })];
}

/** Our index, opened as the store of a database opens it. */
function quern(): Contestant {
  const index = loadCore().openVectorIndex({
    dimensions: DIMENSIONS,
    metric: 'cosine',
    storage: 'f32',
    graph: { connectivity: CONNECTIVITY, effortBuild: EFFORT_BUILD },
  });
  let filter = new Uint8Array();
  return {
    async build(rows) {
      const count = rows.length / DIMENSIONS;
      filter = filterOf(count);
      await addAll(index, rows);
      // Few rows have no graph: searches scan them.
      const scanned = (await index.search(vectorAt(rows, 0), K)).plan === 'scan' && count < LEAST_GRAPH;
      while (!scanned && index.stats().graphRows < count) await sleep(10);
    },
    search: async (query, effort, filtered) => [...(await index.search(query, K, filtered ? { effort, filter } : { effort })).ids],
  };
}

interface Hnswlib {
  HierarchicalNSW: new (
    space: string,
    dimensions: number,
  ) => {
    initIndex(rows: number, connectivity: number, effort: number): void;
    addPoint(row: number[], id: number): void;
    setEf(effort: number): void;
    searchKnn(query: number[], k: number, filter?: (id: number) => boolean): { neighbors: number[] };
  };
}

function hnswlib(): Contestant {
  buildHnswlib();
  const { HierarchicalNSW } = peerModule<Hnswlib>('hnswlib-node');
  const index = new HierarchicalNSW('cosine', DIMENSIONS);
  return {
    async build(rows) {
      const count = rows.length / DIMENSIONS;
      index.initIndex(count, CONNECTIVITY, EFFORT_BUILD);
      for (let id = 0; id < count; id += 1) index.addPoint([...vectorAt(rows, id)], id);
    },
    prepare: async (effort) => index.setEf(effort),
    search: async (query, _effort, filtered) => index.searchKnn([...query], K, filtered ? (id) => id % SHARE === 0 : undefined).neighbors,
  };
}

interface Usearch {
  Index: new (
    settings: object,
  ) => {
    add(keys: BigUint64Array, rows: Float32Array, threads: number): void;
    search(query: Float32Array, k: number, threads: number): { keys: BigUint64Array };
    save(path: string): void;
    load(path: string): void;
  };
}

/** The effort of a search is fixed when an index is made, so each one opens the saved graph anew. It takes no filter: more are asked for, and sorted out. */
function usearch(): Contestant {
  installPeers('usearch@2.25.3');
  const { Index } = peerModule<Usearch>('usearch');
  const path = join(mkdtempSync(join(tmpdir(), 'quern-bench-usearch-')), 'index');
  const opened = (effort: number) =>
    new Index({
      metric: 'cos',
      dimensions: DIMENSIONS,
      quantization: 'f32',
      connectivity: CONNECTIVITY,
      expansion_add: EFFORT_BUILD,
      expansion_search: effort,
      multi: false,
    });
  let index = opened(EFFORT_BUILD);
  return {
    async build(rows) {
      const keys = BigUint64Array.from({ length: rows.length / DIMENSIONS }, (_, id) => BigInt(id));
      index.add(keys, rows, availableParallelism());
      index.save(path);
    },
    async prepare(effort) {
      index = opened(effort);
      index.load(path);
    },
    async search(query, _effort, filtered) {
      const { keys } = index.search(query, filtered ? K * SHARE : K, 1);
      const ids = [...keys].map(Number);
      return filtered ? ids.filter((id) => id % SHARE === 0).slice(0, K) : ids;
    },
  };
}

interface LanceQuery {
  distanceType(metric: string): LanceQuery;
  ef(effort: number): LanceQuery;
  limit(count: number): LanceQuery;
  select(columns: string[]): LanceQuery;
  where(condition: string): LanceQuery;
  toArray(): Promise<{ id: number }[]>;
}

interface LanceTable {
  createIndex(column: string, options: object): Promise<void>;
  query(): { nearestTo(query: Float32Array): LanceQuery };
}

interface Lance {
  connect(path: string): Promise<{ createTable(name: string, rows: object[]): Promise<LanceTable> }>;
  Index: { hnswSq(options: object): object };
}

async function lance(): Promise<Contestant> {
  installPeers('@lancedb/lancedb@0.39.0', '@lancedb/lancedb-linux-x64-gnu@0.39.0', 'apache-arrow@18');
  process.env.RUST_LOG = 'off';
  const { connect, Index } = peerModule<Lance>('@lancedb/lancedb');
  const db = await connect(mkdtempSync(join(tmpdir(), 'quern-bench-lance-')));
  let table: LanceTable;
  return {
    async build(rows) {
      const count = rows.length / DIMENSIONS;
      table = await db.createTable(
        'rows',
        Array.from({ length: count }, (_, id) => ({ id, share: id % SHARE, vector: [...vectorAt(rows, id)] })),
      );
      const config = Index.hnswSq({ distanceType: 'cosine', m: CONNECTIVITY, efConstruction: EFFORT_BUILD, numPartitions: 1 });
      await table.createIndex('vector', { config });
    },
    async search(query, effort, filtered) {
      const asked = table.query().nearestTo(query).distanceType('cosine').ef(effort).limit(K).select(['id', '_distance']);
      return (await (filtered ? asked.where('share = 0') : asked).toArray()).map(({ id }) => id);
    },
  };
}

async function chroma(): Promise<Contestant> {
  const { url, child } = await startChroma();
  const collections = `${url}/tenants/default_tenant/databases/default_database/collections`;
  const send = async (method: string, path: string, body: object): Promise<{ id: string; ids: string[][] }> => {
    const answer = await fetch(collections + path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Chroma answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  };
  // By default it writes its index to disk after every 1,000 rows.
  const hnsw = { space: 'cosine', ef_construction: EFFORT_BUILD, max_neighbors: CONNECTIVITY, sync_threshold: 50_000 };
  const { id } = await send('POST', '', { name: 'rows', configuration: { hnsw } });
  return {
    async build(rows) {
      const count = rows.length / DIMENSIONS;
      for (let from = 0; from < count; from += BATCH) {
        const ids = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => from + at);
        const embeddings = ids.map((row) => [...vectorAt(rows, row)]);
        await send('POST', `/${id}/add`, { ids: ids.map(String), embeddings, metadatas: ids.map((row) => ({ share: row % SHARE })) });
      }
    },
    async prepare(effort) {
      await send('PUT', `/${id}`, { new_configuration: { hnsw: { ef_search: effort } } });
    },
    async search(query, _effort, filtered) {
      const where = filtered ? { where: { share: 0 } } : {};
      const { ids } = await send('POST', `/${id}/query`, { query_embeddings: [[...query]], n_results: K, include: [], ...where });
      return ids[0]!.map(Number);
    },
    memoryMb: () => treeMemoryMb(child.pid!),
  };
}

/** All contestants by name; a peer is fetched at its first use, and throws where it cannot be had. */
export const CONTESTANTS: Readonly<Record<string, () => Contestant | Promise<Contestant>>> = {
  Quern: quern,
  Chroma: chroma,
  usearch,
  'hnswlib-node': hnswlib,
  LanceDB: lance,
};
