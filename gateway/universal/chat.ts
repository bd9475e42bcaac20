import { log } from '../../runtime/base/log.js';
import { collectChoices } from '../../runtime/completions/collect.js';
import type { UniversalRequest } from '../../runtime/completions/request.js';
import {
  formFields,
  generationSettings,
  languageOptions,
  languageSettings,
  refuseOtherAdapters,
  refuseUnmade,
  wantsLogprobs,
} from '../../runtime/completions/settings.js';
import { thinkOf } from '../../runtime/completions/thinking.js';
import { chunkFrames, completionId, responseBody } from '../../runtime/completions/wire.js';
import type { CachedTurn } from '../../runtime/kv-cache/cached-turn.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type { Tool } from '../../schemas/generated/common.js';
import type { CompletionRequest } from '../../schemas/generated/universal/chat.js';
import { CHAT_BODY_BYTES } from '../http/body.js';

/** Temperature of a request that sends null; absence means what the model's file recommends, else 1 (4-runtime-wire 1.3). */
const TEMPERATURE_OF_NULL = 0.7;
/** Request members that go on as they are when they are neither absent nor null. */
const SAME = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'seed',
  'user',
  'logprobs',
  'top_logprobs',
  'response_format',
  'tools',
  'parallel_tool_calls',
] as const;

/** A checked body as the runtime takes it. */
export function universalRequest(body: CompletionRequest): UniversalRequest {
  const extra = body.extra_body ?? {};
  refuseOtherAdapters(body, extra);
  refuseUnmade(body);
  const out: UniversalRequest = {
    model: body.model,
    messages: body.messages,
    options: languageOptions(body, extra),
    autoTruncate: body.auto_truncate ?? extra.auto_truncate ?? true,
    truncationStrategy: body.truncation_strategy ?? extra.truncation_strategy ?? undefined,
    stream: body.stream === true,
    form: formFields(body, extra),
  };
  if (body.temperature === null) out.temperature = TEMPERATURE_OF_NULL;
  for (const name of SAME) if (body[name] !== undefined && body[name] !== null) Object.assign(out, { [name]: body[name] });
  Object.assign(out, generationSettings(body, extra));
  const think = out.think ?? thinkOf(body.reasoning_effort);
  if (think !== undefined) out.think = think;
  const most = body.max_completion_tokens ?? body.max_tokens;
  if (most !== undefined && most !== null) out.max_tokens = most;
  if (body.stop !== undefined && body.stop !== null) out.stop = [body.stop].flat();
  if (body.n && body.n > 1) out.n = body.n;
  if (body.keep_loaded === true) out.keepLoaded = true;
  const transformers = languageSettings(body.model, body.transformers);
  if (transformers) out.transformers = transformers;
  if (body.tool_choice !== undefined) out.tool_choice = body.tool_choice;
  return out;
}

/** The use of the KV cache that a request asks for. */
async function cachedTurn(runtime: Runtime, body: CompletionRequest): Promise<CachedTurn | undefined> {
  const key = body.cache_key ?? undefined;
  const save = body.return_cache_key === true;
  if (key === undefined && !save) return undefined;
  const [cache, { CachedTurn }] = await Promise.all([runtime.kvCache(), import('../../runtime/kv-cache/cached-turn.js')]);
  const { model, messages, tools } = body;
  return new CachedTurn(cache, { model, messages, tools: (tools as Tool[] | null | undefined) ?? undefined }, { key, save });
}

async function complete(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as CompletionRequest;
  const wanted = universalRequest(body);
  const cached = await cachedTurn(runtime, body);
  if (cached) wanted.states = cached;
  const completion = await runtime.completions.open(wanted, request.signal);
  const options = { id: completionId(), model: body.model, contextUsage: completion.contextUsage, logprobs: wantsLogprobs(wanted) };
  if (!wanted.stream) {
    const answer = responseBody(await collectChoices(completion.parts), options);
    return { json: cached ? { ...answer, x_cache: cached.report() } : answer };
  }
  const onFailure = (error: unknown) => {
    if (!request.signal.aborted) log('error', 'a streamed completion failed', { request: request.id, error });
  };
  const includeUsage = body.stream_options?.include_usage === true;
  const beforeDone = cached && (() => `event: x_cache\ndata: ${JSON.stringify(cached.report())}\n\n`);
  return { events: chunkFrames(completion.parts, { ...options, includeUsage, beforeDone, onFailure }) };
}

/** The runtime's chat endpoint. */
export const chatEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/chat/completions',
    id: 'create_chat_completion',
    access: 'users',
    summary: 'Complete a chat with a local model',
    tag: 'chat',
    body: 'universal/chat#CompletionRequest',
    response: 'universal/chat#CompletionResponse',
    streams: true,
    bodyLimitBytes: CHAT_BODY_BYTES,
    errorShape: 'universal',
    handler: complete,
  }),
];
