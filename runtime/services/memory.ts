import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { callsOf, Lazy } from '../base/once.js';
import type { Entity } from '../engines/contracts/encoder.js';
import type { Events } from '../events/events.js';
import { CONSOLIDATION_KIND, consolidationLock } from '../memory/consolidation/kind.js';
import type { Memories } from '../memory/contract.js';
import type { OpenMemories } from '../memory/memories.js';
import type { Mind } from '../memory/mind.js';
import type { Outbound } from '../net/outbound.js';
import { defaultModel, namingModel } from '../projects/loaded-project.js';
import type { Projects } from '../projects/projects.js';
import type { Provider } from '../providers/contract.js';
import type { Store } from '../store/store.js';
import type { TaskKind } from '../tasks/contract.js';
import type { Tasks } from '../tasks/tasks.js';
import type { ModelServices } from './model-services.js';

/** How long after a start what is kept in memory is looked through for what is past its time. */
const TIDY_AFTER_MS = 10_000;

/** The NER model of projects that name none, where it lies on this machine. */
const NAMING_MODEL: ModelConfig = { name: 'ner', provider: 'universal', model: 'dslim/bert-base-NER' };

/** What the memory of projects is opened with. */
export interface MemoryParts {
  readonly store: Store;
  readonly projects: Projects;
  readonly outbound: Outbound;
  /** The port of our own runtime: a `base_url` that names it stays in process. */
  readonly runtimePort: number;
  readonly encoders: Pick<ModelServices, 'embed' | 'entities' | 'need'>;
  provider(model: ModelConfig): Pick<Provider, 'open'>;
  readonly events: Events;
  /** The queue, once it is open. */
  tasks(): Tasks;
}

/** The memory of projects. Close it before the queue's store, and behind the queue. */
export interface OpenMemory {
  readonly memories: Memories;
  readonly mind: Pick<Mind, 'recall' | 'remember' | 'forget' | 'clear' | 'consolidate' | 'consolidating'>;
  /** The kinds of its tasks, for the queue. */
  readonly kinds: Readonly<Record<string, TaskKind>>;
  close(): Promise<void>;
}

/** Opens the memory of projects, whose code is loaded for its first use; a project that is deleted takes its own along. */
export function openMemory({ store, projects, ...parts }: MemoryParts): OpenMemory {
  const memories: Lazy<OpenMemories> = new Lazy(async () => {
    const { OpenMemories } = await import('../memory/memories.js');
    return new OpenMemories({ store, projects, onOpen: (one) => void mind.get().then((opened) => opened.attend(one)) });
  });
  const mind: Lazy<Mind> = new Lazy(async () => {
    const [{ Mind }, { createEmbedders }] = await Promise.all([import('../memory/mind.js'), import('../rag/embedders/index.js')]);
    const { outbound, runtimePort, encoders } = parts;
    const embedders = createEmbedders({ outbound, runtimePort, runtime: encoders.embed, need: encoders.need });
    return new Mind({
      memories: callsOf<Memories>(memories),
      embedders,
      load: (namespace, project) => projects.load(namespace, project),
      chatModel: ({ runtime }) => defaultModel(runtime),
      provider: parts.provider,
      nameFinder: ({ runtime }) => {
        const chosen = namingModel(runtime);
        const model = chosen ?? NAMING_MODEL;
        const found = (texts: readonly string[], signal: AbortSignal): Promise<Entity[][]> => encoders.entities(model, texts, signal);
        // One that the project does not name is used where it is here.
        const find: typeof found = chosen
          ? (texts, signal) => encoders.need(model.model, { signal, waitMs: Number.POSITIVE_INFINITY }, () => found(texts, signal))
          : found;
        return { model: model.model, isChosen: chosen !== undefined, find };
      },
      events: parts.events,
      tasks: parts.tasks,
    });
  });
  const isUsed = (): boolean => [store.memoryStores, store.memoryTrash].some((table) => table.keys({ limit: 1 }).length > 0);
  projects.onErase(async (namespace, name) => {
    if (memories.opened || isUsed()) await (await memories.get()).erase(namespace, name);
  });
  if (isUsed()) setTimeout(() => void memories.get(), TIDY_AFTER_MS).unref();
  const kind: TaskKind = {
    run: async (item, context) => (await mind.get()).kind.run(item, context),
    revert: async (item) => (await mind.get()).kind.revert(item),
    lock: consolidationLock,
  };
  return {
    memories: callsOf<Memories>(memories),
    mind: callsOf<Mind>(mind),
    kinds: { [CONSOLIDATION_KIND]: kind },
    close: async () => {
      await (await mind.settled())?.close();
      await (await memories.settled())?.close();
    },
  };
}
