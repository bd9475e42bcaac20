import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { callsOf, Lazy } from '../base/once.js';
import { collect } from '../completions/collect.js';
import type { PageImages } from '../documents/parsing/page-images.js';
import { Parsing } from '../documents/parsing/parsing.js';
import type { ReadRecording } from '../documents/parsing/recognition.js';
import type { Events } from '../events/events.js';
import { Databases } from '../library/databases/databases.js';
import { DatabaseInspection } from '../library/databases/inspection.js';
import { Preview } from '../library/databases/preview.js';
import { type Datasets, openDatasets } from '../library/datasets/datasets.js';
import { PagePictures } from '../library/datasets/page-pictures.js';
import { FileIngest } from '../library/ingest/ingest.js';
import type { Outbound } from '../net/outbound.js';
import type { Picture } from '../pictures/picture.js';
import type { Projects } from '../projects/projects.js';
import type { Provider } from '../providers/contract.js';
import type { Retrieval } from '../rag/contract.js';
import { createEmbedders } from '../rag/embedders/index.js';
import { OpenedStores } from '../rag/opened-stores.js';
import type { RetrievalParts } from '../rag/retrieval.js';
import type { Store } from '../store/store.js';
import type { TaskKind } from '../tasks/contract.js';
import type { Tasks } from '../tasks/tasks.js';
import type { Around } from '../tasks/worker.js';
import type { VisionService } from '../vision/contract.js';
import type { ModelServices } from './model-services.js';

/** Stands for the best OCR engine that is there. */
const BEST_OCR = 'surya';

/** What the documents of projects are opened with. */
export interface LibraryParts {
  readonly store: Store;
  readonly projects: Projects;
  readonly outbound: Outbound;
  /** The port of our own runtime: a `base_url` that names it stays in process. */
  readonly runtimePort: number;
  /** Bytes of all files of one dataset. */
  readonly datasetQuotaBytes: number;
  readonly encoders: Pick<ModelServices, 'embed' | 'rerank'> & Partial<Pick<ModelServices, 'need'>>;
  readonly pageImages: PageImages;
  /** Reads pages of PDFs that have no text layer. */
  readonly vision?: VisionService;
  /** Writes down what is said in recordings. */
  readonly recordings?: ReadRecording;
  provider(model: ModelConfig): Pick<Provider, 'open'>;
  /** Keeps events of files on their way in; without it none is kept. */
  readonly events?: Events;
  /** Kinds of tasks beside those of datasets, by name. */
  readonly kinds?: Readonly<Record<string, TaskKind>>;
  /** What the work of tasks has around it. */
  readonly around?: Around;
}

/** Documents and the questions to them. Close it before the store. */
export interface OpenLibrary {
  readonly retrieval: Retrieval;
  readonly datasets: Datasets;
  readonly tasks: Tasks;
  readonly databases: Databases;
  readonly inspection: DatabaseInspection;
  readonly preview: Preview;
  readonly parsing: Pick<Parsing, 'parse'>;
  readonly pagePictures: PagePictures;
  close(): Promise<void>;
}

/** Opens databases, datasets and their tasks, which go on where they were. */
export function openLibrary({
  store,
  projects,
  outbound,
  runtimePort,
  datasetQuotaBytes,
  encoders,
  pageImages,
  vision,
  recordings,
  provider,
  events,
  kinds = {},
  around,
}: LibraryParts): OpenLibrary {
  const stores = new OpenedStores({ store, outbound });
  const embedders = createEmbedders({ outbound, runtimePort, runtime: encoders.embed, need: encoders.need });
  const parsing = new Parsing({}, vision && { pageImages, ocr: (...asked) => textOf(vision, ...asked) }, recordings);
  const ingest = new FileIngest({ projects, stores, embedders, parsing });
  const { datasets, tasks } = openDatasets({
    store,
    projects,
    ingest,
    quotaBytes: datasetQuotaBytes,
    kinds,
    ...(around ? { taskOptions: { around } } : {}),
    ...(events ? { events } : {}),
  });
  projects.onErase((namespace, name) => stores.erase(namespace, name));
  const parts = {
    outbound,
    openStore: ({ namespace, project }, database) => {
      const { directory } = projects.load(namespace, project);
      return stores.of({ namespace, project, directory }, database);
    },
    embedderFor: ({ namespace, project, config }, database, strategy) =>
      embedders.of(`${namespace}/${project}/${database.name}`, strategy, config.runtime?.models),
    rerank: encoders.rerank,
    complete: (model, prompt, maxTokens, signal) => answerOf(provider(model), model, prompt, maxTokens, signal),
  } satisfies RetrievalParts;
  return {
    retrieval: callsOf(new Lazy(async () => (await import('../rag/retrieval.js')).createRetrieval(parts))),
    datasets,
    tasks,
    databases: new Databases({ projects, stores }),
    inspection: new DatabaseInspection({ projects, stores, embedders }),
    parsing,
    pagePictures: new PagePictures(pageImages),
    preview: new Preview({ projects, parsing, find: ({ namespace, name }, ...file) => datasets.file(namespace, name, ...file) }),
    close: async () => {
      await tasks.close();
      await parsing.close();
      await stores.close();
    },
  };
}

/** The text of each picture, by the best OCR engine that is there. */
async function textOf(
  vision: VisionService,
  pictures: readonly Picture[],
  languages: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const { pages } = await vision.ocr({ model: BEST_OCR, pictures, languages }, signal);
  return pages.map(({ text }) => text);
}

async function answerOf(
  provider: Pick<Provider, 'open'>,
  model: ModelConfig,
  prompt: string,
  maxTokens: number,
  signal: AbortSignal,
): Promise<string> {
  const messages = [{ role: 'user' as const, content: prompt }];
  const { parts } = await provider.open(model, { messages, max_tokens: maxTokens, stream: false }, signal);
  return (await collect(parts)).text;
}
