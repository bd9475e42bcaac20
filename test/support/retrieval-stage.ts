import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { Chat } from '../../runtime/chat/chat.js';
import { PageImages } from '../../runtime/documents/parsing/page-images.js';
import { Events } from '../../runtime/events/events.js';
import { Examples } from '../../runtime/examples/examples.js';
import { Help } from '../../runtime/help/help.js';
import { placeHelpProject } from '../../runtime/help/project.js';
import { DATASET_BYTES } from '../../runtime/library/datasets/contract.js';
import { ToolServers } from '../../runtime/mcp/tool-servers.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { Generations } from '../../runtime/projects/generations.js';
import { Projects } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openLibrary } from '../../runtime/services/library.js';
import { openMemory } from '../../runtime/services/memory.js';
import { modelServices } from '../../runtime/services/model-services.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import { ScriptedProvider } from '../unit/runtime/chat/scripted-provider.js';
import { send } from './scenario.js';
import { openSomeServices } from './services.js';

const POLL_MS = 10;

/** The whole of retrieval on real files and a real store; only the chat models are scripted. */
export interface RetrievalStage extends Runtime {
  readonly store: Store;
  readonly provider: ScriptedProvider;
  readonly application: Application;
  /** Sends a request with a JSON body, and returns the parsed answer of a success. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  call(method: string, path: string, body?: unknown): Promise<any>;
  /** Waits until what was answered is remembered, which happens behind the answers. */
  remembered(): Promise<void>;
  /** Uploads files into the dataset at a path, and polls the task until it has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  take(dataset: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<any>;
}

/** Opens the stage on a data directory, one of its own unless given, which goes away with it. */
export async function openRetrievalStage(given?: string): Promise<RetrievalStage> {
  const dataDir = given ?? mkdtempSync(join(tmpdir(), 'quern-retrieval-'));
  const store = await openStore(dataDir);
  const projects = new Projects({ dataDir });
  const outbound = new Outbound();
  const models = new Models({ dataDir });
  const provider = new ScriptedProvider();
  const generations = new Generations(projects);
  const events = new Events({ store, projects });
  const services = openSomeServices({ dataDir, models, store, outbound });
  const encoders = modelServices({ core: services.core, outbound });
  const {
    close: closeMemory,
    kinds,
    ...memory
  } = openMemory({
    store,
    projects,
    outbound,
    runtimePort: 11540,
    encoders,
    provider: () => provider,
    events,
    tasks: () => documents.tasks,
  });
  const pageImages = new PageImages();
  const { close, ...documents } = openLibrary({
    store,
    projects,
    outbound,
    runtimePort: 11540,
    datasetQuotaBytes: DATASET_BYTES,
    encoders,
    kinds,
    pageImages,
    vision: services.core.vision,
    provider: () => provider,
    events,
  });
  const toolServers = new ToolServers({ projects, outbound, events, version: '0', allowsAll: false, waits: { startMs: 60_000 } });
  const providers = { universal: provider, compat_api: provider, local_runner: provider, local_accel: provider };
  const remembering: Promise<unknown>[] = [];
  const chat = new Chat({
    projects,
    providers,
    providerOf: () => 'universal',
    store,
    retrieval: documents.retrieval,
    events,
    tools: toolServers,
    memory: {
      recall: (...asked) => memory.mind.recall(...asked),
      remember: (...turn) => {
        const done = memory.mind.remember(...turn);
        remembering.push(done);
        return done;
      },
    },
  });
  placeHelpProject(dataDir);
  const help = new Help({ ...documents, dataDir, projects, chat, events, places: models.places, toolServers });
  const runtime = {
    ...documents,
    ...memory,
    help,
    ...services,
    version: '0.0.0',
    stopping: new AbortController().signal,
    models,
    dataDir,
    projects,
    generations,
    chat,
    events,
    examples: new Examples({ dataDir, projects, datasets: documents.datasets }),
    toolServers,
    store,
    provider,
    close: async () => {
      await close();
      await pageImages.close();
      await closeMemory();
      await chat.close();
      await toolServers.close();
      await models.close();
      await outbound.close();
      await events.close();
      await store.close();
      if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  } as unknown as RetrievalStage;
  const application = dispatch({ endpoints: coreEndpoints, context: runtime, access: { bindHost: '127.0.0.1' } });
  const sent = async (asked: Parameters<typeof send>[1]): ReturnType<RetrievalStage['call']> => {
    const answer = await send(application, asked);
    assert.ok(answer.status < 300, `${asked.path}: ${answer.status} ${answer.text.slice(0, 500)}`);
    return JSON.parse(answer.text);
  };
  const call: RetrievalStage['call'] = (method, path, body) => sent({ method, path, body });
  const take: RetrievalStage['take'] = async (dataset, files) => {
    if (Object.keys(files).length > 0) await sent({ method: 'POST', path: `${dataset}/data/bulk`, ...(await formOf(files)) });
    const { task_id: id } = await call('POST', `${dataset}/actions`, { action_type: 'process' });
    const tasks = dataset.replace(/\/datasets\/[^/]+$/, '/tasks');
    for (;;) {
      const task = await call('GET', `${tasks}/${id}`);
      if (task.state === 'SUCCESS' || task.state === 'FAILURE') return task;
      await sleep(POLL_MS);
    }
  };
  const remembered = async (): Promise<void> => void (await Promise.allSettled(remembering.splice(0)));
  return Object.assign(runtime, { application, call, remembered, take });
}

async function formOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<{ headers: Record<string, string>; body: Buffer }> {
  const form = new FormData();
  for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content as Uint8Array<ArrayBuffer>]), name);
  const sent = new Response(form);
  return { headers: { 'content-type': sent.headers.get('content-type')! }, body: Buffer.from(await sent.arrayBuffer()) };
}
