import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metadata } from '../../runtime/documents/contract.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { RagScope } from '../../runtime/rag/contract.js';
import { createEmbedders } from '../../runtime/rag/embedders/index.js';
import { createRetrieval, type RetrievalParts } from '../../runtime/rag/retrieval.js';
import type { StoreQuery } from '../../runtime/rag/stores/contract.js';
import { openStore } from '../../runtime/rag/stores/index.js';
import { openStore as openState } from '../../runtime/store/store.js';
import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { RagConfig, RetrievalStrategyType } from '../../schemas/generated/config/rag.js';

/** Small documents with the metadata that strategies look at. */
export const SHELF: readonly (readonly [id: string, text: string, metadata: Metadata])[] = [
  ['a', 'The kettle boils water for tea in three minutes.', { year: 2019, entities_org: ['Brewster'], headings: ['Kitchen', 'Kettle'] }],
  ['b', 'Green tea needs water of eighty degrees, not boiling water.', { year: 2021, headings: ['Kitchen', 'Tea'] }],
  ['c', 'The garage door opens with the small remote.', { year: 2022, entities_org: ['Portal'], headings: ['Garage'] }],
  ['d', 'Brewster repairs every appliance within ten days.', { year: 2023, entities_org: ['Brewster'], headings: ['Service'] }],
  ['e', 'Invoices are paid within thirty days of delivery.', { year: 2018, headings: ['Money'] }],
  ['f', 'A remote without battery opens no door; change the battery each year.', { year: 2024, headings: ['Garage'] }],
];

const signal = new AbortController().signal;

/** The strategy that `ask` uses unless told otherwise. */
export function configOf(type: RetrievalStrategyType, config: Metadata = {}): ProjectConfig {
  const rag: RagConfig = {
    databases: [
      {
        name: 'main',
        type: 'NativeStore',
        embedding_strategies: [{ name: 'words', type: 'LexicalEmbedder' }],
        retrieval_strategies: [{ name: 'asked', type, config }],
      },
    ],
  };
  const models = [
    { name: 'ranker', provider: 'universal', model: 'ranker' },
    { name: 'writer', provider: 'universal', model: 'writer' },
  ];
  return { name: 'p', namespace: 'n', version: 'v1', runtime: { models }, rag } as unknown as ProjectConfig;
}

/** A project's scope with this configuration. */
export function scopeOf(config: ProjectConfig): RagScope {
  return { namespace: 'n', project: 'p', config };
}

/** A database over the shelf, with real embeddings, a real store that writes down what it is asked, and the models that a test brings. */
export async function openLibrary(models: Pick<RetrievalParts, 'rerank' | 'complete'> = {}, shelf = SHELF) {
  const directory = mkdtempSync(join(tmpdir(), 'quern-library-'));
  const state = await openState(directory);
  const outbound = new Outbound();
  const scope = { namespace: 'n', project: 'p', directory, store: state, outbound };
  const store = await openStore({ name: 'main', type: 'NativeStore' }, scope);
  const embedders = createEmbedders({ outbound });
  const lexical = embedders.of('main', { name: 'words', type: 'LexicalEmbedder' });
  const texts = shelf.map(([, text]) => text);
  const vectors = await lexical.embed(texts, 'document', 'bulk', signal);
  const chunks = shelf.map(([id, text, metadata], at) => ({ id, documentHash: `hash-${id}`, text, metadata, vector: vectors[at]! }));
  if (chunks.length > 0) await store.add(chunks, signal);
  const asked: StoreQuery[] = [];
  const query = store.query.bind(store);
  store.query = (one, stop) => {
    asked.push(one);
    return query(one, stop);
  };
  const retrieval = createRetrieval({
    ...models,
    outbound,
    openStore: async () => store,
    embedderFor: (_scope, database, strategy) => embedders.of(database.name, strategy),
  });
  const close = async (): Promise<void> => {
    await store.close();
    await state.close();
    await outbound.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { retrieval, store, asked, close };
}
