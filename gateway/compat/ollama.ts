import { refuseAdapters } from '../../runtime/completions/settings.js';
import { type DownloadEvent, downloadFailure } from '../../runtime/models/fetch/download.js';
import type { DownloadPlan } from '../../runtime/models/fetch/plan.js';
import { withSpaceNote } from '../../runtime/models/fetch/space.js';
import { digestKind } from '../../runtime/models/fetch/unfinished-file.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Reply, Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { EmbeddingsRequest, EmbedRequest, PullRequest } from '../../schemas/generated/universal/ollama.js';
import { vectorsBody } from '../universal/embeddings.js';
import { askOf, TEXTS_BYTES } from '../universal/encoders.js';
import { ollamaChat } from './ollama-chat.js';
import { modelIn, nanoseconds, ollamaEndpoint, stayOf, unload } from './ollama-endpoint.js';
import { ollamaModels } from './ollama-models.js';

/** What Ollama's clients ask for before they ask for anything else. */
const RUNNING = 'Ollama is running';

/** The version of Ollama whose API this one is: clients such as Visual Studio Code's refuse to talk with one that is too old for them. */
const OLLAMA_VERSION = '0.12.11';

/** Files by their paths in the repository, with the hashes by which the hub names them, written as Ollama's digests are. */
function digestsOf({ files, beside }: DownloadPlan): Map<string, string> {
  const algorithm = (etag: string): string => (digestKind(etag) === 'sha256' ? 'sha256' : 'sha1');
  return new Map([...files, ...beside].map(({ path, etag }) => [path, `${algorithm(etag)}:${etag}`]));
}

/** A step of a download in Ollama's words; null where it has none. */
function statusOf(event: DownloadEvent, digests: ReadonlyMap<string, string>): object | null {
  const pulling = (file: string, total: number, completed: number) => ({
    status: `pulling ${file}`,
    digest: digests.get(file),
    total,
    completed,
  });
  switch (event.event) {
    case 'start':
      return pulling(event.file, event.total, 0);
    case 'progress':
      return pulling(event.file, event.total, event.downloaded);
    case 'cached':
    case 'end':
      return pulling(event.file, event.size, event.size);
    case 'done':
      return { status: 'writing manifest' };
    case 'complete':
      return { status: 'success' };
    case 'error':
      return { error: event.message };
    case 'warning':
      return { status: event.message };
    default:
      return null;
  }
}

/** A download that has begun. */
interface Pull {
  readonly plan: DownloadPlan;
  readonly events: AsyncIterable<DownloadEvent>;
}

async function* pullLines({ plan, events }: Pull): AsyncGenerator<string, void, undefined> {
  yield `${JSON.stringify({ status: 'pulling manifest' })}\n`;
  const digests = digestsOf(plan);
  for await (const event of events) {
    const status = statusOf(event, digests);
    if (status) yield `${JSON.stringify(status)}\n`;
  }
}

async function* alreadyHere(): AsyncGenerator<string, void, undefined> {
  yield `${JSON.stringify({ status: 'success' })}\n`;
}

/** Fetches a model of the hub; one that comes with this program or was made here is there. */
async function pull(runtime: Runtime, request: Request): Promise<Reply> {
  const { stream } = request.body as PullRequest;
  const name = modelIn(request);
  const isHere = runtime.named.find(name) !== undefined || (!name.includes('/') && (await here(runtime, name)));
  const begun = isHere ? undefined : await begin(runtime, name, request.signal);
  if (stream !== false) return { lines: true, events: begun ? pullLines(begun) : alreadyHere() };
  for await (const event of begun?.events ?? []) if (event.event === 'error') throw downloadFailure(event);
  return { json: { status: 'success' } };
}

const here = (runtime: Runtime, name: string): Promise<boolean> =>
  runtime.models.require(name).then(
    () => true,
    () => false,
  );

async function begin({ hub }: Runtime, name: string, signal: AbortSignal): Promise<Pull> {
  const plan = await hub.plan(name, signal);
  const fit = await hub.fit(plan);
  if (!fit.canDownload) throw new Failure('disk_full', fit.message, { code: 'NotEnoughSpace' });
  return { plan, events: hub.download(withSpaceNote(plan, fit), signal) };
}

/** Vectors of texts, with what the work took. */
async function embeddingsOf(runtime: Runtime, body: EmbedRequest | EmbeddingsRequest, texts: readonly string[], request: Request) {
  refuseAdapters(body, body.options, { adapters: runtime.named.find(body.model)?.adapters });
  const model = runtime.named.baseOf(body.model);
  const dimensions = 'dimensions' in body ? (body.dimensions ?? undefined) : undefined;
  const whole = 'truncate' in body && body.truncate === false;
  const stayMs = stayOf(body.keep_alive);
  if (texts.length === 0 && stayMs === 0) await unload(runtime, body.model);
  const started = performance.now();
  const { vectors, tokens } = await runtime.here.encoders.embed(
    { ...askOf({ model }, request), whole, stayMs },
    texts,
    dimensions as number | undefined,
  );
  return { vectors, tokens, total_duration: nanoseconds(performance.now() - started) };
}

async function embed(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as EmbedRequest;
  const { vectors, tokens, total_duration } = await embeddingsOf(runtime, body, [body.input].flat(), request);
  const facts = JSON.stringify({ total_duration, load_duration: 0, prompt_eval_count: tokens });
  const frame = { head: `{"model":${JSON.stringify(body.model)},"embeddings":[`, row: () => '', rowEnd: '', end: `],${facts.slice(1)}` };
  return { bytes: await vectorsBody(vectors, frame, request.signal), contentType: 'application/json' };
}

async function embeddings(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as EmbeddingsRequest;
  const { vectors } = await embeddingsOf(runtime, body, [body.prompt], request);
  const frame = { head: '{"embedding":', row: () => '', rowEnd: '', end: '}' };
  return { bytes: await vectorsBody(vectors, frame, request.signal), contentType: 'application/json' };
}

/** Ollama's API on the port of the universal runtime. */
export const ollamaEndpoints: Endpoint<Runtime>[] = [
  ollamaEndpoint({
    method: 'GET',
    path: '/',
    id: 'ollama_running',
    access: 'anyone',
    summary: 'Tell that the runtime is there, as Ollama does',
    mediaTypes: ['text/plain'],
    handler: () => ({ bytes: RUNNING, contentType: 'text/plain; charset=utf-8' }),
  }),
  ollamaEndpoint({
    method: 'GET',
    path: '/api/version',
    id: 'ollama_version',
    access: 'anyone',
    summary: 'The version of Ollama whose API this is',
    response: 'universal/ollama#Version',
    handler: () => ({ json: { version: OLLAMA_VERSION } }),
  }),
  ...ollamaChat,
  ...ollamaModels,
  ollamaEndpoint({
    method: 'POST',
    path: '/api/pull',
    id: 'ollama_pull',
    access: 'admins',
    summary: 'Fetch a model of the hub, with its progress',
    body: 'universal/ollama#PullRequest',
    response: 'universal/ollama#Status',
    streams: 'lines',
    handler: pull,
  }),
  ollamaEndpoint({
    method: 'POST',
    path: '/api/push',
    id: 'ollama_push',
    access: 'admins',
    summary: 'Refused: models are not sent anywhere',
    handler: () => {
      throw new Failure('not_allowed', 'Models are not pushed from here: upload the files to the model hub with its own tools.', {
        code: 'PushUnsupported',
      });
    },
  }),
  ollamaEndpoint({
    method: 'POST',
    path: '/api/embed',
    id: 'ollama_embed',
    access: 'users',
    summary: 'Turn texts into vectors, as Ollama does',
    body: 'universal/ollama#EmbedRequest',
    response: 'universal/ollama#EmbedResponse',
    bodyLimitBytes: TEXTS_BYTES,
    handler: embed,
  }),
  ollamaEndpoint({
    method: 'POST',
    path: '/api/embeddings',
    id: 'ollama_embeddings',
    access: 'users',
    summary: 'Turn one text into a vector, as older clients of Ollama ask for it',
    body: 'universal/ollama#EmbeddingsRequest',
    response: 'universal/ollama#EmbeddingsResponse',
    handler: embeddings,
  }),
];
