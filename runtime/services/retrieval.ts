import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { SourceFile } from '../documents/parsers/contract.js';
import { Parsing } from '../documents/parsing/parsing.js';
import type { ScansParts } from '../documents/parsing/scans.js';
import { Databases } from '../library/databases/databases.js';
import { DatabaseInspection } from '../library/databases/inspection.js';
import { Preview } from '../library/databases/preview.js';
import { type Datasets, openDatasets } from '../library/datasets/datasets.js';
import { DatasetPlaces, findDataset, unknownFile } from '../library/datasets/places.js';
import { FileIngest } from '../library/ingest/ingest.js';
import type { Outbound } from '../net/outbound.js';
import type { LoadedProject, Projects } from '../projects/projects.js';
import { collect, type Provider } from '../providers/contract.js';
import { createEmbedders } from '../rag/embedders/index.js';
import { OpenedStores } from '../rag/opened-stores.js';
import type { Retrieval } from '../rag/query/contract.js';
import type { RetrievalParts as QueryParts } from '../rag/query/retrieval.js';
import type { Store } from '../store/store.js';
import type { Tasks } from '../tasks/tasks.js';
import type { OpenEncoders } from './encoders.js';

/** What retrieval is opened with. */
export interface RetrievalParts {
  readonly store: Store;
  readonly projects: Projects;
  readonly outbound: Outbound;
  /** The port of our own runtime: a `base_url` that names it stays in process. */
  readonly runtimePort: number;
  /** Bytes of all files of one dataset. */
  readonly datasetQuotaBytes: number;
  readonly encoders: Pick<OpenEncoders, 'embed' | 'rerank'>;
  /** Reads pages of PDFs that have no text layer. */
  readonly scans?: ScansParts;
  provider(model: ModelConfig): Provider;
}

/** Documents and the questions to them. Close it before the store. */
export interface OpenRetrieval {
  readonly retrieval: Retrieval;
  readonly datasets: Datasets;
  readonly tasks: Tasks;
  readonly databases: Databases;
  readonly inspection: DatabaseInspection;
  readonly preview: Preview;
  close(): Promise<void>;
}

/** Opens databases, datasets and their tasks, which go on where they were. */
export function openRetrieval({
  store,
  projects,
  outbound,
  runtimePort,
  datasetQuotaBytes,
  encoders,
  scans,
  provider,
}: RetrievalParts): OpenRetrieval {
  const stores = new OpenedStores({ store, outbound });
  const embedders = createEmbedders({ outbound, runtimePort, runtime: encoders.embed });
  const parsing = new Parsing({}, scans);
  const ingest = new FileIngest({ projects, stores, embedders, parsing });
  const { datasets, tasks } = openDatasets({ store, projects, ingest, quotaBytes: datasetQuotaBytes });
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
  } satisfies QueryParts;
  return {
    retrieval: retrievalOf(parts),
    datasets,
    tasks,
    databases: new Databases({ projects, stores }),
    inspection: new DatabaseInspection({ projects, stores, embedders }),
    preview: new Preview({ projects, parsing, find: uploadFinder(new DatasetPlaces()) }),
    close: async () => {
      await tasks.close();
      await parsing.close();
      await stores.close();
    },
  };
}

/** Retrieval whose code is loaded at the first question, so that a start does not wait for it. */
function retrievalOf(parts: QueryParts): Retrieval {
  let loading: Promise<Retrieval> | undefined;
  return {
    ask: async (scope, question, signal) => {
      loading ??= import('../rag/query/retrieval.js').then(({ createRetrieval }) => createRetrieval(parts));
      return (await loading).ask(scope, question, signal);
    },
  };
}

async function answerOf(provider: Provider, model: ModelConfig, prompt: string, maxTokens: number, signal: AbortSignal): Promise<string> {
  const messages = [{ role: 'user' as const, content: prompt }];
  const { parts } = await provider.open(model, { messages, max_tokens: maxTokens, stream: false }, signal);
  return (await collect(parts)).text;
}

function uploadFinder(places: DatasetPlaces) {
  return async (project: LoadedProject, dataset: string, hash: string): Promise<SourceFile> => {
    const found = findDataset(project, dataset);
    const [entry] = (await places.list(found)).filter((file) => file.hash === hash);
    const path = await places.raw(found, hash);
    if (!entry || path === undefined) throw unknownFile(dataset, hash);
    return { path, name: entry.original_file_name, mimeType: entry.mime_type, sizeBytes: entry.size };
  };
}
