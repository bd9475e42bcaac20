import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Metadata } from '../../../../../runtime/documents/contract.js';
import type { Outbound } from '../../../../../runtime/net/outbound.js';
import type { EmbeddedChunk } from '../../../../../runtime/rag/contract.js';
import type { VectorStore } from '../../../../../runtime/rag/stores/contract.js';
import { openStore } from '../../../../../runtime/rag/stores/index.js';
import { openStore as openState, type Store } from '../../../../../runtime/store/store.js';

/** Dimensions of the vectors below. */
export const DIMENSIONS = 8;

/** Never aborted. */
export const NEVER = new AbortController().signal;

/** A direction of its own for each number. */
export function direction(number: number): Float32Array {
  let state = number + 1;
  return Float32Array.from({ length: DIMENSIONS }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return (state >>> 0) / 2 ** 31 - 1;
  });
}

/** A word of its own for each number, of which no part is a word. */
export function word(number: number): string {
  return `z${[...String(number)].map((digit) => 'bcdfghjklm'[Number(digit)]).join('')}`;
}

/** Chunk `number` of a document, with a word that no other has. */
export function chunk(document: string, number: number, metadata: Metadata = {}): EmbeddedChunk {
  const id = `doc_${document}_chunk_${number}_x`;
  return {
    id,
    documentHash: document,
    text: `${word(number)} of ${document}`,
    vector: direction(number),
    metadata: { number, ...metadata },
  };
}

/** Chunks `first` to before `end` of a document. */
export function chunks(document: string, first: number, end: number): EmbeddedChunk[] {
  return Array.from({ length: end - first }, (_, index) => chunk(document, first + index));
}

/** The state of a folder and one database in it. */
export interface Opened {
  readonly state: Store;
  readonly store: VectorStore;
  /** Of the index files. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Opens, or makes, the database `db` of a data directory. */
export async function open(dataDir: string, config: Metadata = {}): Promise<Opened> {
  const directory = join(dataDir, 'project');
  mkdirSync(directory, { recursive: true });
  const state = await openState(dataDir);
  const scope = { namespace: 'ns', project: 'p', directory, store: state, outbound: undefined as unknown as Outbound };
  const store = await openStore({ name: 'db', type: 'NativeStore', config }, scope);
  const close = async (): Promise<void> => {
    await store.close();
    await state.close();
  };
  return { state, store, folder: join(directory, 'lf_data', 'stores', 'db'), close };
}

/** Ids of the nearest to the direction of a number, and of the texts with its word. */
export async function find(store: VectorStore, number: number, k = 1): Promise<{ dense: string[]; lexical: string[] }> {
  const { dense, lexical } = await store.query({ vector: direction(number), text: word(number), k }, NEVER);
  return { dense: dense.map(({ id }) => id), lexical: lexical.map(({ id }) => id) };
}
