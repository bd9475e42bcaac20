import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MemoryStore } from '../../../runtime/memory/contract.js';
import { OpenMemories } from '../../../runtime/memory/memories.js';
import { openStore, type Store } from '../../../runtime/store/store.js';
import type { MemoryStore as StoreConfig } from '../../../schemas/generated/config/memory.js';

/** A store of a project with all kinds, as a project file with `{}` for each gives it. */
export const ALL_KINDS = {
  name: 'main',
  working_memory: { enabled: true, ttl_seconds: 3_600, max_records: 10_000 },
  timeseries: { enabled: true, retention_days: 30 },
  spatial: { enabled: true, retention_days: 30, index_type: 'rtree' },
  graph: { enabled: true, max_path_depth: 10, entity_extraction: true, relationship_extraction: false },
} as const satisfies StoreConfig;

/** Memory on a real state store, with a clock that tests move. */
export interface MemoryStage {
  readonly dataDir: string;
  readonly state: Store;
  readonly memories: OpenMemories;
  /** Milliseconds since 1970. */
  nowMs: number;
  /** What the project file says; it may be changed. */
  stores: StoreConfig[];
  /** The store `main` of the one project. */
  main(): Promise<MemoryStore>;
  /** Ends, and begins anew on the same files. */
  restart(): Promise<MemoryStage>;
  close(): Promise<void>;
}

/** Opens a stage on a data directory, one of its own unless given, which goes away with it. */
export async function openMemoryStage(
  stores: StoreConfig[] = [ALL_KINDS],
  given?: string,
  nowMs = 1_800_000_000_000,
  isOwn = given === undefined,
): Promise<MemoryStage> {
  const dataDir = given ?? mkdtempSync(join(tmpdir(), 'quern-memory-'));
  const state = await openStore(dataDir);
  const end = async (): Promise<void> => {
    await stage.memories.close();
    await state.close();
  };
  const stage: MemoryStage = {
    dataDir,
    state,
    memories: new OpenMemories({
      store: state,
      projects: { load: () => ({ config: { memory: { stores: stage.stores } } }) },
      nowMs: () => stage.nowMs,
    }),
    nowMs,
    stores,
    main: () => stage.memories.of('ns', 'p', 'main'),
    restart: async () => {
      await end();
      return openMemoryStage(stage.stores, dataDir, stage.nowMs, isOwn);
    },
    close: async () => {
      await end();
      if (isOwn) rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return stage;
}
