import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBatch } from '../../../runtime/memory/consolidation/batch.js';
import { CONSOLIDATION_KIND } from '../../../runtime/memory/consolidation/kind.js';
import type { Memories, MemoryStore, NewMemory } from '../../../runtime/memory/contract.js';
import { factData, likenessBy } from '../../../runtime/memory/facts.js';
import { OpenMemories } from '../../../runtime/memory/memories.js';
import { Mind, type MindProject } from '../../../runtime/memory/mind.js';
import type { Outbound } from '../../../runtime/net/outbound.js';
import type { Embedder } from '../../../runtime/rag/embedders/contract.js';
import { createEmbedders } from '../../../runtime/rag/embedders/index.js';
import { openStore as openState } from '../../../runtime/store/store.js';
import { Tasks } from '../../../runtime/tasks/tasks.js';
import type { MemoryStore as StoreConfig } from '../../../schemas/generated/config/memory.js';

const never = new AbortController().signal;

/** The embedder that needs no model. */
export function lexicalEmbedder(): Embedder {
  // It asks nobody.
  const outbound = undefined as unknown as Outbound;
  return createEmbedders({ outbound }).of('memory', { name: 'words', type: 'LexicalEmbedder', config: {} });
}

/** All kinds with their defaults, and nothing that goes by its age: the conversation is a year old. */
export const EVERYTHING: StoreConfig = {
  name: 'main',
  working_memory: { enabled: true, ttl_seconds: 3_155_760_000, max_records: 1_000_000 },
  spatial: { enabled: true, retention_days: 36_500, index_type: 'rtree' },
  graph: { enabled: true, max_path_depth: 10, entity_extraction: true, relationship_extraction: false },
  consolidation: {
    enabled: true,
    interval_seconds: 300,
    min_records: 10,
    batch_size: 100,
    prune_after_consolidate: true,
    extract_summaries: false,
  },
};

/** The same, consolidated two records at a time. */
export const SMALL_BATCHES: StoreConfig = { ...EVERYTHING, consolidation: { ...EVERYTHING.consolidation, batch_size: 2 } };

/** The memory of one project with its queue, on a data directory. */
export interface MemoryStage {
  readonly store: MemoryStore;
  readonly memories: Memories;
  readonly mind: Mind;
  readonly tasks: Tasks;
  close(): Promise<void>;
}

/** Opens a memory with one store, without a chat model. The queue goes on where it was. */
export async function openStage(dataDir: string, config: StoreConfig = EVERYTHING): Promise<MemoryStage> {
  const state = await openState(dataDir);
  const memory = { default_store: config.name, stores: [config] };
  const projects = { load: () => ({ config: { memory } }) };
  const memories = new OpenMemories({ store: state, projects, onOpen: (store) => mind.attend(store) });
  const mind = mindOver(memories, () => tasks);
  const tasks = new Tasks(state, { [CONSOLIDATION_KIND]: mind.kind });
  const store = await memories.of('n', 'p');
  return {
    store,
    memories,
    mind,
    tasks,
    close: async () => {
      await tasks.close();
      await mind.close();
      await memories.close();
      await state.close();
    },
  };
}

/** A memory with one empty store in a new folder, for one test. */
export async function openOwnStage(after: (close: () => Promise<void>) => void, config: StoreConfig = EVERYTHING): Promise<MemoryStage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-memory-'));
  const stage = await openStage(dataDir, config);
  after(async () => {
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return stage;
}

/** Its store alone. */
export async function openMemory(after: (close: () => Promise<void>) => void, config?: StoreConfig): Promise<MemoryStore> {
  return (await openOwnStage(after, config)).store;
}

const none = (): never => {
  throw new Error('this mind has none');
};

/** A mind over these stores, without a chat model. */
export function mindOver(memories: Pick<Memories, 'of'>, tasks: () => Tasks = none): Mind {
  return new Mind({
    memories,
    embedders: createEmbedders({ outbound: none as unknown as Outbound }),
    load: (namespace, name) =>
      ({ namespace, name, config: { name, namespace, version: 'v1', runtime: { models: [] } } }) as unknown as MindProject,
    chatModel: () => undefined,
    provider: none,
    tasks,
  });
}

/** Says something to a store and takes its facts. Returns the record's id. */
export async function say(store: MemoryStore, text: string, about: Partial<NewMemory> = {}): Promise<string> {
  const added = await store.write({ add: [{ type: 'chat', data: text, text, metadata: { role: 'user' }, ...about }] });
  const likeness = likenessBy(lexicalEmbedder(), never);
  const { add, end } = await readBatch(added, { store, likeness, byModel: undefined, signal: never, run: 'test' });
  await store.write({ add, end });
  return added[0]!.id;
}

/** All facts of a store in short, the ended ones with a tilde before them. */
export async function factsOf(store: MemoryStore): Promise<string[]> {
  const facts: string[] = [];
  for await (const fact of store.records({ types: ['fact'] })) {
    const { subject, relation, object, negated } = factData(fact);
    facts.push(`${fact.valid?.toMs === undefined ? '' : '~'}${negated ? 'not ' : ''}${subject} | ${relation} | ${object}`);
  }
  return facts;
}
