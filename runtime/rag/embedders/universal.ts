import { Failure } from '../../../schemas/errors.js';
import type { EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import { checkUrl, hostOf } from '../../net/address.js';
import { kindOfAddress } from '../../net/ip.js';
import { UNIVERSAL_PORT } from '../../providers/index.js';
import type { OptionShapes, OptionValues } from '../options.js';
import type { EmbedderKind, EmbedderParts, Source } from './contract.js';
import { hostedSend } from './hosted.js';
import { DIMENSION, given, keyOf, PREFIXES, prefixesOf, settingsOf, TIMEOUT } from './settings.js';

const RETRIES = 2;

/** What every embedder of our own runtime can be told besides its model. */
const SHARED = {
  base_url: { type: 'string', default: null, description: 'A host that speaks /v1/embeddings; none = this runtime.' },
  api_key: { type: 'string', default: null, description: 'For that host. Write ${env:NAME}.' },
  dimension: DIMENSION,
  timeout: TIMEOUT,
  ...PREFIXES,
} as const satisfies OptionShapes;

const UNIVERSAL = {
  model: { type: 'string', default: 'nomic-ai/nomic-embed-text-v2-moe', description: 'Also model_name.' },
  batch_size: { type: 'integer', default: 16, minimum: 1, maximum: 128, description: 'Texts of one batch.' },
  ...SHARED,
} as const satisfies OptionShapes;

const SENTENCE_MODEL = {
  type: 'string',
  default: 'sentence-transformers/all-MiniLM-L6-v2',
  description: 'Also model.',
} as const;
const SENTENCE_BATCH = { type: 'integer', default: 32, minimum: 1, maximum: 256, description: 'Texts of one batch.' } as const;
const DEVICES = ['auto', 'cpu', 'cuda', 'mps'] as const;

const HUGGING_FACE = {
  model_name: SENTENCE_MODEL,
  device: { type: 'string', default: 'auto', enum: DEVICES, description: 'Accepted; the engine takes the best device there is.' },
  batch_size: SENTENCE_BATCH,
  normalize_embeddings: { type: 'boolean', default: true, description: 'Brings vectors to length 1.' },
  show_progress_bar: { type: 'boolean', default: false, description: 'Accepted; tasks show the progress.' },
  cache_folder: { type: 'string', default: null, description: 'Accepted; models lie in the model cache.' },
  ...SHARED,
} as const satisfies OptionShapes;

const SENTENCE_TRANSFORMER = {
  model_name: SENTENCE_MODEL,
  device: { type: 'string', default: 'cpu', enum: DEVICES, description: 'Accepted; the engine takes the best device there is.' },
  batch_size: SENTENCE_BATCH,
  ...SHARED,
} as const satisfies OptionShapes;

/** Whether an address is this runtime's own, which needs no HTTP. */
function isOurs(base: string, port: number | undefined): boolean {
  const url = checkUrl(base, 'operator');
  const here = hostOf(url) === 'localhost' || kindOfAddress(hostOf(url)) === 'loopback';
  return here && (Number(url.port || '80') === UNIVERSAL_PORT || Number(url.port || '80') === port);
}

/** The source of a model: this runtime, or the host that the project file names. */
function source(
  strategy: EmbeddingStrategy,
  model: string,
  settings: OptionValues<typeof SHARED> & { batch_size: number },
  parts: EmbedderParts,
  normalise: boolean,
): Source {
  const prefixes = prefixesOf(model, settings);
  const base = given(settings.base_url);
  const { runtime } = parts;
  const inside = base === undefined || (runtime !== undefined && isOurs(base, parts.runtimePort));
  const send: Source['send'] = inside
    ? async (texts, purpose, signal) => {
        if (!runtime) throw missing(strategy, model);
        const input = texts.map((text) => prefixes[purpose] + text);
        return within(model, settings.timeout, signal, (limited) => runtime(model, input, limited));
      }
    : hostedSend(parts, {
        base,
        model,
        apiKey: keyOf(strategy, settings.api_key),
        timeoutMs: settings.timeout * 1000,
        retries: RETRIES,
        prefixes,
      });
  return { model, settings: { prefixes }, dimensions: settings.dimension ?? undefined, batchSize: settings.batch_size, normalise, send };
}

/** Work that ends with a failure after so many seconds, whoever else may abort it. */
async function within<T>(model: string, seconds: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const late = new Failure('timed_out', `The embedding model '${model}' took longer than ${seconds} s; raise 'timeout' of its strategy.`);
  const timer = setTimeout(() => limit.abort(late), seconds * 1000);
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}

function missing(strategy: EmbeddingStrategy, model: string): Failure {
  const message =
    `The embedding strategy '${strategy.name}' needs the model '${model}', and this runtime has no embedding model. ` +
    "Set base_url of the strategy to a host that speaks /v1/embeddings, or use the type 'LexicalEmbedder', which works without a download.";
  return new Failure('unavailable', message, { code: 'EmbeddingModelMissing' });
}

/** Any embedding model of our own runtime. */
export const universal: EmbedderKind = {
  type: 'UniversalEmbedder',
  options: UNIVERSAL,
  open(strategy, parts) {
    const settings = settingsOf(strategy, UNIVERSAL);
    return source(strategy, settings.model, settings, parts, true);
  },
};

/** A sentence model by its name on the model hub, run by our own runtime. */
export const huggingFace: EmbedderKind = {
  type: 'HuggingFaceEmbedder',
  options: HUGGING_FACE,
  open(strategy, parts) {
    const settings = settingsOf(strategy, HUGGING_FACE);
    return source(strategy, settings.model_name, settings, parts, settings.normalize_embeddings);
  },
};

/** The same under its library's name. */
export const sentenceTransformer: EmbedderKind = {
  type: 'SentenceTransformerEmbedder',
  options: SENTENCE_TRANSFORMER,
  open(strategy, parts) {
    const settings = settingsOf(strategy, SENTENCE_TRANSFORMER);
    return source(strategy, settings.model_name, settings, parts, true);
  },
};
