import { join } from 'node:path';
import type { ModelConfig } from '../schemas/generated/config/project.js';
import { log } from './base/log.js';
import { callsOf, Lazy } from './base/once.js';
import { Payers } from './base/spending.js';
import { Chat } from './chat/chat.js';
import { NamedModels } from './completions/modelfiles/named-models.js';
import type { CompletionSource } from './completions/request.js';
import { type Conversations, openConversations } from './conversations/conversations.js';
import { PageImages } from './documents/parsing/page-images.js';
import type { Parsing } from './documents/parsing/parsing.js';
import { Events } from './events/events.js';
import { OtlpExporter } from './events/otlp/exporter.js';
import type { OtlpSettings } from './events/otlp/settings.js';
import { Examples } from './examples/examples.js';
import { Files } from './files/files.js';
import type { Help } from './help/help.js';
import { placeHelpProject } from './help/project.js';
import { Images } from './images/images.js';
import type { KvCache } from './kv-cache/kv-cache.js';
import type { Databases } from './library/databases/databases.js';
import type { DatabaseInspection } from './library/databases/inspection.js';
import type { Preview } from './library/databases/preview.js';
import type { Datasets } from './library/datasets/datasets.js';
import type { PagePictures } from './library/datasets/page-pictures.js';
import { sweepPending } from './library/datasets/pending.js';
import { sweepStages } from './library/ingest/stages.js';
import { Questions } from './library/questions.js';
import { ToolServers } from './mcp/tool-servers.js';
import type { Memories } from './memory/contract.js';
import type { Mind } from './memory/mind.js';
import { Hub } from './models/fetch/hub.js';
import { ModelFetches, needNothing } from './models/fetch/on-use.js';
import { findRepository } from './models/find/repository.js';
import { Models } from './models/residency/models.js';
import { Outbound } from './net/outbound.js';
import { builtInRoot } from './projects/cache.js';
import { Generations } from './projects/generations.js';
import { Projects } from './projects/projects.js';
import type { Provider } from './providers/contract.js';
import { createProviders, providerOf } from './providers/index.js';
import type { StartRunner } from './providers/runners.js';
import type { Retrieval } from './rag/contract.js';
import { StoredResponses } from './responses/stored-responses.js';
import { type HealthCheck, healthChecks } from './services/health.js';
import { openLibrary } from './services/library.js';
import { openMemory } from './services/memory.js';
import { modelServices, payingProvider } from './services/model-services.js';
import { type InMemory, openServices, type Services } from './services/services.js';
import type { AudioTexts } from './speech/transcription/audio-texts.js';
import { openStore } from './store/store.js';
import type { Tasks } from './tasks/tasks.js';
import type { Tenants } from './tenants/tenants.js';
import type { Voice, VoiceParts } from './voice/voice.js';

/** What the gateway's handlers work on; made by `openRuntime`. */
export interface Runtime {
  readonly version: string;
  readonly dataDir: string;
  /** The HTTP engine that carries the requests, and why where it is not the first choice. */
  transport: string;
  readonly checks: readonly HealthCheck[];
  readonly projects: Projects;
  /** What project files said, from change to change. */
  readonly generations: Generations;
  readonly chat: Chat;
  /** Conversations that are kept until somebody deletes them. */
  readonly conversations: Conversations;
  readonly events: Events;
  readonly examples: Examples;
  /** Servers of projects that offer tools to models. */
  readonly toolServers: ToolServers;
  /** The project that answers about this program; opened at its first use. */
  readonly help: Help;
  readonly completions: CompletionSource;
  readonly models: Models;
  /** Models that clients made of others. */
  readonly named: NamedModels;
  /** Answers that clients may go on from. */
  readonly responses: StoredResponses;
  readonly hub: Hub;
  /** Models that are being fetched on their first use. */
  readonly fetches: ModelFetches;
  /** Who pays for the models of work that nobody waits for. */
  readonly payers: Payers;
  /** Images by diffusion models. */
  readonly images: Images;
  /** KV states that outlive their models; opened at first use. */
  readonly kvCache: () => Promise<KvCache>;
  readonly files: Files;
  /** What this machine does for the universal runtime's clients. */
  readonly here: Services;
  /** What the core and its projects use: the same, or the services of the remote runtimes. */
  readonly core: Services;
  /** What the services of this machine keep in memory, beside models. */
  inMemory(): readonly InMemory[];
  readonly datasets: Datasets;
  readonly tasks: Tasks;
  readonly databases: Databases;
  /** Test questions of projects. */
  readonly questions: Questions;
  readonly inspection: DatabaseInspection;
  readonly preview: Preview;
  /** Reads documents, in processes of their own. */
  readonly parsing: Pick<Parsing, 'parse'>;
  /** Pages of datasets' files as pictures. */
  readonly pagePictures: PagePictures;
  readonly retrieval: Retrieval;
  /** What projects remember; opened at its first use, or soon after a start where something is kept. */
  readonly memories: Memories;
  /** Recall, consolidation and forgetting over them. */
  readonly mind: Pick<Mind, 'recall' | 'remember' | 'forget' | 'clear' | 'consolidate' | 'consolidating'>;
  /** Spoken conversations; opened at first use. */
  readonly voice: () => Promise<Voice>;
  /** Several people on this runtime; opened where accounts are on. */
  readonly tenants: () => Promise<Tenants>;
  /** Aborts when the daemon begins to stop, for streams that have no end of their own. */
  readonly stopping: AbortSignal;
  /** Ends those streams, so that nobody waits for their readers. */
  endStreams(): void;
  /** Ends all work and closes engines, then the store. */
  close(): Promise<void>;
}

/** What a runtime is opened with. */
export interface RuntimeParts {
  readonly version: string;
  readonly dataDir: string;
  /** Remote universal runtimes used instead of the one in this process. */
  readonly runtimeUrls: readonly string[];
  /** The port of our own universal runtime: a `base_url` that names it stays in process. */
  readonly runtimePort: number;
  /** Bytes of all files of one dataset. */
  readonly datasetQuotaBytes: number;
  /** DELETE of a project removes it unless the request says otherwise. */
  readonly deleteProjects?: boolean;
  /** Language models must keep the chat template that they had first. */
  readonly pinTemplates?: boolean;
  /** Every configured tool server may run, also one that came over HTTP. */
  readonly allowMcp?: boolean;
  /** Models that project files and fits name are fetched on their first use. */
  readonly pullsOnUse?: boolean;
  /** Several people share the runtime: until `fetches.rightOf` is set, nothing is fetched in the background. */
  readonly isShared?: boolean;
  /** Where events go as traces; absent or null = nowhere. */
  readonly otlp?: OtlpSettings | null;
  /** Opens a listener of our own for `local_accel`. */
  readonly startRunner: StartRunner;
}

/** Voice chat, whose code is loaded for its first client. */
async function openVoice(
  parts: Pick<VoiceParts, 'projects' | 'chat' | 'events' | 'fetching'>,
  { speech, transcription }: Services,
): Promise<Voice> {
  const [{ Voice }, { LiveEars }] = await Promise.all([import('./voice/voice.js'), import('./voice/hearing.js')]);
  return new Voice({ ...parts, speech, transcription, ears: new LiveEars() });
}

/** A data directory that takes no file has no help, and all else. */
function placeHelp(dataDir: string): void {
  try {
    placeHelpProject(dataDir);
  } catch (cause) {
    log('warn', 'the help project could not be written', { cause });
  }
}

/** Opens the store, the engines and everything above them; whatever was opened is closed again when a later part fails. */
export async function openRuntime(parts: RuntimeParts): Promise<Runtime> {
  const { version, dataDir, runtimeUrls, runtimePort, datasetQuotaBytes, startRunner } = parts;
  const store = await openStore(dataDir);
  placeHelp(dataDir);
  for (const root of [join(dataDir, 'projects'), builtInRoot(dataDir)]) {
    await sweepPending(root);
    await sweepStages(root);
  }
  const models = new Models({ dataDir, pinTemplates: parts.pinTemplates ?? false });
  const named = new NamedModels(store, models);
  const outbound = new Outbound();
  const projects = new Projects({ dataDir, purges: parts.deleteProjects ?? false });
  const generations = new Generations(projects);
  const exporter = parts.otlp ? new OtlpExporter(outbound, parts.otlp) : undefined;
  const events = new Events({ store, projects, sink: exporter });
  const stopping = new AbortController();
  stopping.signal.addEventListener('abort', () => events.endStreams(), { once: true });
  const hub = new Hub(outbound, process.env, events);
  const fetches = new ModelFetches(hub);
  if (parts.isShared) fetches.rightOf = () => 'nothing';
  // Remote runtimes fetch what they miss by their own setting.
  const need = parts.pullsOnUse && runtimeUrls.length === 0 ? fetches.need : needNothing;
  const pageImages = new PageImages();
  const files = new Files({ folder: join(dataDir, 'files'), pageImages });
  const audioTexts = ({ transcription }: Services): AudioTexts =>
    callsOf(new Lazy(async () => new (await import('./speech/transcription/audio-texts.js')).AudioTexts(transcription)));
  const completions: CompletionSource = callsOf(
    new Lazy(
      async () => new (await import('./completions/completions.js')).Completions({ models, named, hearing: audioTexts(services.here) }),
    ),
  );
  const ofServices = {
    dataDir,
    models,
    completions,
    store,
    events,
    outbound,
    runtimeUrls,
    need: parts.pullsOnUse ? fetches.need : needNothing,
  };
  const { close: closeServices, ...services } = openServices(ofServices);
  const tenants = new Lazy(async () =>
    (await import('./tenants/tenants.js')).Tenants.open({ ...ofServices, pageImages, shared: services }),
  );
  const ofModels = modelServices({ core: services.core, outbound, runtimePort, need });
  const kvCache = new Lazy(async () => new (await import('./kv-cache/kv-cache.js')).KvCache({ folder: join(dataDir, 'cache', 'kv') }));
  const toolServers = new ToolServers({ projects, outbound, events, version, allowsAll: parts.allowMcp ?? false });
  const providers = createProviders({ outbound, universal: ofModels.completions, startRunner });
  const provider = (model: ModelConfig): Provider => providers[providerOf(model)];
  const paying = (model: ModelConfig) => payingProvider(provider(model));
  const payers = new Payers();
  const heard = audioTexts(services.core);
  const {
    close: closeMemory,
    kinds,
    ...memory
  } = openMemory({
    store,
    projects,
    outbound,
    runtimePort,
    encoders: ofModels,
    provider: paying,
    events,
    tasks: () => documents.tasks,
  });
  const { close: closeLibrary, ...documents } = openLibrary({
    store,
    projects,
    outbound,
    runtimePort,
    datasetQuotaBytes,
    encoders: ofModels,
    pageImages,
    vision: services.core.vision,
    recordings: (...asked) => heard.recording(...asked),
    provider: paying,
    events,
    kinds,
    around: (namespace, work) => fetches.inBackground(namespace, () => payers.inBackground(namespace, work)),
  });
  const chat = new Chat({
    projects,
    providers,
    providerOf,
    store,
    retrieval: documents.retrieval,
    events,
    tools: toolServers,
    memory: memory.mind,
  });
  const conversations = openConversations(store, projects);
  const places = runtimeUrls.length > 0 ? undefined : models.places;
  const ofHelp = { dataDir, projects, chat, events, places, toolServers, datasets: documents.datasets, tasks: documents.tasks };
  const fetching = need === needNothing ? undefined : { need, findVoice: (model: string) => findRepository(model, models.places) };
  const voice = new Lazy(async () => openVoice({ projects, chat, events, fetching }, services.core));
  return {
    version,
    dataDir,
    transport: '',
    checks: healthChecks({ version, dataDir, runtimeUrls, store, tasks: documents.tasks, models, speech: services.core.speech }),
    projects,
    generations,
    chat,
    conversations,
    questions: new Questions(store, projects),
    events,
    examples: new Examples({ dataDir, projects, datasets: documents.datasets }),
    toolServers,
    help: callsOf(new Lazy(async () => new (await import('./help/help.js')).Help(ofHelp))),
    completions,
    models,
    named,
    responses: new StoredResponses(store),
    hub,
    fetches,
    payers,
    kvCache: () => kvCache.get(),
    images: new Images(models),
    files,
    ...services,
    ...documents,
    ...memory,
    voice: () => voice.get(),
    tenants: () => tenants.get(),
    stopping: stopping.signal,
    endStreams: () => stopping.abort(),
    close: async () => {
      stopping.abort();
      await (await voice.settled())?.close();
      await conversations.close();
      await closeLibrary();
      await closeMemory();
      await chat.close();
      await toolServers.close();
      fetches.close();
      await hub.close();
      await files.close();
      await (await kvCache.settled())?.close();
      await (await tenants.settled())?.close();
      await closeServices();
      await models.close();
      await events.close();
      await exporter?.close();
      await outbound.close();
      await store.close();
    },
  };
}
