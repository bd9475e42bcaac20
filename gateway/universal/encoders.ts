import { exportSettings, refuseAdapters } from '../../runtime/completions/settings.js';
import type { EncoderAsk, EncoderService, EncoderSettings, Scores, ZeroShot } from '../../runtime/encoders/contract.js';
import { sigmoid } from '../../runtime/encoders/scores.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type { TransformersConfig } from '../../schemas/generated/config/project.js';
import type { ExtraBody } from '../../schemas/generated/universal/chat.js';
import type {
  Classification,
  ClassifyRequest,
  ClassifyResponse,
  NerRequest,
  NerResponse,
  RerankRequest,
  RerankResponse,
} from '../../schemas/generated/universal/encoders.js';

/** What the endpoints of encoders work on. */
export interface EncodersContext {
  readonly encoders: EncoderService;
}

/** 10,000 texts of 3 KB each fit. */
export const TEXTS_BYTES = 32 * 1024 * 1024;

/** What a request to an encoder may say of the model and how it is read. */
interface Body {
  readonly model: string;
  readonly max_length?: number | null;
  readonly keep_loaded?: boolean | null;
  readonly transformers?: TransformersConfig | null;
  readonly extra_body?: ExtraBody | null;
}

/** What every request to an encoder says, as the runtime takes it; null counts as absent. */
export function askOf({ model, max_length: maxLength, extra_body: extra, ...body }: Body, { signal }: Request): EncoderAsk {
  refuseAdapters(body, extra);
  const ofGguf = { threads: extra?.n_threads, gpuLayers: extra?.n_gpu_layers, flashAttention: extra?.flash_attn };
  const said = {
    maxLength,
    ...ofGguf,
    ...exportSettings(body.transformers ?? undefined),
    batchSize: body.transformers?.batch_size,
    keepLoaded: body.keep_loaded,
  };
  const settings: EncoderSettings = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null && value !== undefined));
  return { model, settings, signal };
}

/** The texts of a request, which some clients call `input`; its schema lets one of the two through. */
export function textsOf({
  texts,
  input,
}: {
  readonly texts?: readonly string[];
  readonly input?: string | readonly string[];
}): readonly string[] {
  return texts ?? [input ?? []].flat();
}

/** Token counts as the wire has them. */
export function usageOf(tokens: number): { prompt_tokens: number; total_tokens: number } {
  return { prompt_tokens: tokens, total_tokens: tokens };
}

async function rerank({ encoders }: EncodersContext, request: Request): Promise<Reply> {
  const body = request.body as RerankRequest;
  const texts = body.documents.map((document) => (typeof document === 'string' ? document : document.text));
  const { scores, tokens } = await encoders.rerank(askOf(body, request), body.query, texts);
  const most = body.top_k ?? body.top_n ?? texts.length;
  const order = scores.map((_score, index) => index).sort((a, b) => scores[b]! - scores[a]! || a - b);
  const json: RerankResponse = {
    object: 'list',
    data: order.slice(0, most).map((index) => ({
      index,
      relevance_score: scores[index]!,
      normalized_score: sigmoid(scores[index]!),
      document: body.return_documents === false ? null : texts[index]!,
    })),
    model: body.model,
    usage: usageOf(tokens),
  };
  return { json };
}

/** The sentence of a label, as in Python's pipeline of transformers. */
const HYPOTHESIS = 'This example is {}.';

function zeroShotOf({ labels, hypothesis_template: hypothesis, multi_label: multiLabel }: ClassifyRequest): ZeroShot | undefined {
  return labels ? { labels, hypothesis: hypothesis ?? HYPOTHESIS, multiLabel: multiLabel === true } : undefined;
}

function classification(scores: Scores, index: number): Classification {
  const [label, score] = Object.entries(scores).reduce((best, one) => (one[1] > best[1] ? one : best));
  return { index, label, score, all_scores: { ...scores } };
}

async function classify({ encoders }: EncodersContext, request: Request): Promise<Reply> {
  const body = request.body as ClassifyRequest;
  const { scores, tokens } = await encoders.classify(askOf(body, request), textsOf(body), zeroShotOf(body));
  const json: ClassifyResponse = {
    object: 'list',
    data: scores.map(classification),
    total_count: scores.length,
    model: body.model,
    usage: usageOf(tokens),
  };
  return { json };
}

async function recognise({ encoders }: EncodersContext, request: Request): Promise<Reply> {
  const body = request.body as NerRequest;
  const { entities, tokens } = await encoders.entities(askOf(body, request), textsOf(body));
  const json: NerResponse = {
    object: 'list',
    data: entities.map((found, index) => ({ index, entities: found.map((entity) => ({ ...entity })) })),
    model: body.model,
    usage: usageOf(tokens),
  };
  return { json };
}

/** Documents in the order of their relevance, texts sorted into labels, and the named things of texts. Vectors are in `embeddings.ts`. */
export const encoderEndpoints: Endpoint<EncodersContext>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/rerank',
    id: 'rerank_documents',
    access: 'users',
    summary: 'Put documents in the order of their relevance to a query',
    tag: 'encoders',
    body: 'universal/encoders#RerankRequest',
    response: 'universal/encoders#RerankResponse',
    bodyLimitBytes: TEXTS_BYTES,
    handler: rerank,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/classify',
    id: 'classify_texts',
    access: 'users',
    summary: "Sort texts into a model's labels, or into your own by an NLI model",
    tag: 'encoders',
    body: 'universal/encoders#ClassifyRequest',
    response: 'universal/encoders#ClassifyResponse',
    bodyLimitBytes: TEXTS_BYTES,
    handler: classify,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/ner',
    id: 'find_entities',
    access: 'users',
    summary: 'Find the named things in texts',
    tag: 'encoders',
    body: 'universal/encoders#NerRequest',
    response: 'universal/encoders#NerResponse',
    bodyLimitBytes: TEXTS_BYTES,
    handler: recognise,
  }),
];
