import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { ModelConfig, ProjectConfig } from '../../schemas/generated/config/project.js';
import type { EmbeddingStrategy } from '../../schemas/generated/config/rag.js';
import { log } from '../base/log.js';
import type { Events } from '../events/events.js';
import { type EventProject, recordWork } from '../events/recording.js';
import type { Provider } from '../providers/contract.js';
import type { Embedder } from '../rag/embedders/contract.js';
import type { Embedders } from '../rag/embedders/index.js';
import { embeddingOf } from '../rag/retrieval.js';
import type { ItemOutcome } from '../store/records.js';
import type { TaskItem, TaskKind } from '../tasks/contract.js';
import type { Tasks } from '../tasks/tasks.js';
import { type NameFinder, readByEncoder } from './consolidation/batch.js';
import { readByModel } from './consolidation/by-model.js';
import {
  CONSOLIDATION_KIND,
  type ConsolidationInput,
  ConsolidationTimer,
  consolidationKind,
  consolidationOff,
  cursorOf,
  inputOf,
  type ProjectMeans,
  readAnew,
  waitingRecords,
} from './consolidation/kind.js';
import type { KindName, Memories, MemoryCounts, MemoryRecord, MemoryStore, NewMemory } from './contract.js';
import { likenessBy } from './facts.js';
import { RecallIndex } from './recall/index.js';
import { Recall, type Recalled, type RecallQuestion } from './recall/recall.js';
import { madeOf, removeMade } from './removal.js';

/** Stores whose recall indexes are kept in memory; the one that was asked longest ago goes first. */
const MOST_OPEN = 64;
/** The embedder of projects that have none. */
const BUILT_IN: EmbeddingStrategy = { name: 'memory', type: 'LexicalEmbedder', config: {} };

/** What is known of a project here. */
export interface MindProject extends EventProject {
  readonly config: ProjectConfig;
}

/** What a mind is made of. */
export interface MindParts {
  readonly memories: Pick<Memories, 'of'>;
  readonly embedders: Embedders;
  /** Throws for a project that is not there. */
  load(namespace: string, project: string): MindProject;
  /** The model that chats of the project run on unless they name one; undefined without any. */
  chatModel(config: ProjectConfig): ModelConfig | undefined;
  provider(model: ModelConfig): Pick<Provider, 'open'>;
  /** The encoder that finds the names of what is remembered; absent in a mind without encoders. */
  nameFinder?(config: ProjectConfig): NameFinder;
  readonly events?: Events;
  /** The queue that consolidations run in. */
  tasks(): Tasks;
}

/** What a consolidation came to, or, of one that takes longer than its caller waits, so far. */
export interface Consolidated {
  readonly taskId: string;
  readonly isDone: boolean;
  readonly info: Record<string, unknown>;
}

interface OpenRecall {
  readonly store: MemoryStore;
  readonly embedder: Embedder;
  readonly opening: Promise<{ index: RecallIndex; recall: Recall }>;
}

/** What makes stores of records a memory: recall, and the consolidation that takes facts from what was said. */
export class Mind {
  /** The kind of its tasks. */
  readonly kind: TaskKind;
  readonly #parts: MindParts;
  readonly #open = new Map<string, OpenRecall>();
  readonly #timers = new Map<string, ConsolidationTimer>();
  /** Ids of the tasks that consolidate now, by store. */
  readonly #running = new Map<string, string>();
  readonly #closing = new AbortController();

  constructor(parts: MindParts) {
    this.#parts = parts;
    const means = (store: MemoryStore, useModel: boolean, signal: AbortSignal): Promise<ProjectMeans> =>
      Promise.resolve(this.#means(store, useModel, signal));
    const store = (namespace: string, project: string, name: string): Promise<MemoryStore> => parts.memories.of(namespace, project, name);
    this.kind = consolidationKind({ store, means }, (item, work) => this.#recorded(item, work));
  }

  /** Consolidates an opened store now and then, as its configuration says. */
  attend(store: MemoryStore): void {
    const name = nameOf(store);
    this.#timers.get(name)?.stop();
    this.#timers.delete(name);
    if (!isConsolidated(store)) return;
    const { namespace, project } = store;
    const look = async (): Promise<void> => {
      // Its configuration may have changed meanwhile, or its project may be gone.
      const open = await this.#parts.memories.of(namespace, project, store.name);
      const least = open.config.consolidation?.min_records ?? 10;
      if (!isConsolidated(open) || (await waitingRecords(open, least)) < least) return;
      await this.#parts.tasks().finished(namespace, project, await this.#start(open, undefined), this.#closing.signal);
    };
    this.#timers.set(name, new ConsolidationTimer(store, look));
  }

  /**
   * The best memories of a store first; its `default_store` where no name is given. No model is asked but an embedder, for the question. Throws as
   * `Memories.of`.
   */
  async recall(
    namespace: string,
    project: string,
    storeName: string | undefined,
    question: RecallQuestion,
    signal: AbortSignal,
  ): Promise<Recalled[]> {
    const store = await this.#parts.memories.of(namespace, project, storeName);
    const { recall } = await this.#recallOf(store);
    return recall.ask(question, signal);
  }

  /** Adds records to a store; its `default_store` where no name is given. Throws as `Memories.of` and `MemoryStore.write`. */
  async remember(
    namespace: string,
    project: string,
    storeName: string | undefined,
    records: readonly NewMemory[],
  ): Promise<MemoryRecord[]> {
    const store = await this.#parts.memories.of(namespace, project, storeName);
    return store.write({ add: records });
  }

  /** Removes records with all that was made of them. Returns the ids that are gone; unknown ones are passed over. */
  async forget(store: MemoryStore, ids: readonly string[]): Promise<string[]> {
    const gone = await madeOf(store, new Set(ids.filter((id) => store.get(id) !== undefined)));
    await removeMade(store, gone);
    return [...gone];
  }

  /** Empties one kind of a store, or all. Without its facts a store is consolidated from the beginning. */
  async clear(store: MemoryStore, kind: KindName | 'all'): Promise<MemoryCounts> {
    const lost = await store.clear(kind);
    if (kind === 'graph') await readAnew(store);
    return lost;
  }

  /** Starts a consolidation of a store and waits up to `waitMs` for its end. Throws `conflict` where it is off, and as `Tasks.start`. */
  async consolidate(store: MemoryStore, useModel: boolean | undefined, waitMs: number, signal: AbortSignal): Promise<Consolidated> {
    const taskId = await this.#start(store, useModel);
    const within = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    const task = await this.#parts
      .tasks()
      .finished(store.namespace, store.project, taskId, within)
      .catch((failure: unknown) => {
        if (signal.aborted || !within.aborted) throw failure;
        return undefined;
      });
    if (!task) return { taskId, isDone: false, info: {} };
    const item = this.#parts.tasks().get(store.namespace, store.project, `${taskId}.0`);
    if (item.state !== 'SUCCESS') {
      throw new Failure(
        item.state === 'REVOKED' ? 'conflict' : 'internal',
        `Memory store ${store.name} was not consolidated: ${item.error ?? 'the task was cancelled'}.`,
        {
          code: 'NotConsolidated',
        },
      );
    }
    return { taskId, isDone: true, info: (item.result ?? {}) as Record<string, unknown> };
  }

  /** The id of the task that consolidates a store now, whoever started it. */
  consolidating(store: MemoryStore): Promise<string | undefined> {
    return Promise.resolve(this.#running.get(nameOf(store)));
  }

  /** Closes the indexes; close the queue first. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers.values()) timer.stop();
    for (const { opening } of this.#open.values()) await opening.then(({ index }) => index.close()).catch(() => undefined);
  }

  async #start(store: MemoryStore, useModel: boolean | undefined): Promise<string> {
    if (!isConsolidated(store)) throw consolidationOff(store);
    const input: ConsolidationInput = {
      store: store.name,
      after_seq: cursorOf(store),
      run: randomUUID(),
      use_llm: useModel ?? store.config.graph?.relationship_extraction ?? false,
    };
    const items = [{ key: store.name, name: `memory ${store.name}`, input: { ...input } }];
    return this.#parts.tasks().start({ namespace: store.namespace, project: store.project, kind: CONSOLIDATION_KIND, items });
  }

  #means(store: MemoryStore, useModel: boolean, signal: AbortSignal): ProjectMeans {
    const { config } = this.#parts.load(store.namespace, store.project);
    const model = useModel ? this.#parts.chatModel(config) : undefined;
    const finder = this.#parts.nameFinder?.(config);
    return {
      likeness: likenessBy(this.#embedderOf(store), signal),
      byEncoder: finder && readByEncoder(finder),
      byModel: model && readByModel(this.#parts.provider(model), model),
    };
  }

  /** The embedder of the project's default database, else the built-in one. */
  #embedderOf(store: MemoryStore): Embedder {
    const { config } = this.#parts.load(store.namespace, store.project);
    const { databases = [], components, default_database: name } = config.rag ?? {};
    const database = databases.find((one) => one.name === name) ?? databases[0];
    const strategies = components?.embedding_strategies ?? [];
    const strategy = (database?.embedding_strategies ?? []).length > 0 ? embeddingOf(database!) : (strategies[0] ?? BUILT_IN);
    return this.#parts.embedders.of(`${store.namespace}/${store.project}/memory/${store.name}`, strategy, config.runtime?.models);
  }

  async #recallOf(store: MemoryStore): Promise<{ index: RecallIndex; recall: Recall }> {
    const name = nameOf(store);
    const embedder = this.#embedderOf(store);
    const known = this.#open.get(name);
    if (known && known.store === store && known.embedder.key === embedder.key) {
      this.#open.delete(name);
      this.#open.set(name, known);
      return known.opening;
    }
    if (known) this.#close(name, known);
    const opening = RecallIndex.open(store, embedder).then((index) => ({ index, recall: new Recall(store, index) }));
    const made: OpenRecall = { store, embedder, opening };
    this.#open.set(name, made);
    opening.catch(() => this.#open.get(name) === made && this.#open.delete(name));
    for (const [oldest, one] of this.#open) if (this.#open.size > MOST_OPEN) this.#close(oldest, one);
    return opening;
  }

  #close(name: string, { opening }: OpenRecall): void {
    this.#open.delete(name);
    opening.then(({ index }) => index.close()).catch((cause: unknown) => log('warn', 'a recall index could not be closed', { cause }));
  }

  async #recorded(item: TaskItem, work: () => Promise<ItemOutcome>): Promise<ItemOutcome> {
    const { events } = this.#parts;
    const { store, use_llm } = inputOf(item);
    const project = this.#parts.load(item.namespace, item.project);
    const data = { store, use_llm, task_id: item.task };
    const name = nameOf({ namespace: item.namespace, project: item.project, name: store });
    this.#running.set(name, item.task);
    try {
      return await recordWork(events, { type: 'memory_consolidation', project, data }, work, ({ info }) => ({ data: info }));
    } finally {
      this.#running.delete(name);
    }
  }
}

function nameOf({ namespace, project, name }: Pick<MemoryStore, 'namespace' | 'project' | 'name'>): string {
  return `${namespace}/${project}/${name}`;
}

/** Whether a store is configured to be consolidated, and has a place for facts. */
function isConsolidated({ config, graph }: MemoryStore): boolean {
  return config.consolidation !== undefined && config.consolidation.enabled !== false && graph !== undefined;
}
