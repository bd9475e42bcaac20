import { Failure } from '../../../schemas/errors.js';
import type { EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import type { OptionShapes, OptionValues } from '../../config/plugin-options.js';
import { apiKeyOf, baseUrlOf } from '../../config/variables.js';
import { type EncoderSettings, settingsOfModel } from '../../encoders/contract.js';
import { needNothing } from '../../models/fetch/on-use.js';
import { isOwnAddress } from '../../net/address.js';
import { askEmbeddings } from '../../net/ask/embeddings.js';
import { UNIVERSAL_PORT } from '../../providers/index.js';
import type { EmbedderKind, EmbedderParts, Source } from './contract.js';
import { DIMENSION, keyOf, nonEmpty, PREFIXES, prefixesOf, settingsOf, TIMEOUT } from './settings.js';

/** What every embedder of our own runtime can be told besides its model. */
const SHARED = {
  base_url: {
    type: 'string',
    default: null,
    description: 'A host that speaks /v1/embeddings; none = this runtime.',
    examples: ['http://127.0.0.1:8080/v1'],
  },
  api_key: { type: 'string', default: null, description: 'For that host. Write ${env:NAME}.', examples: ['${env:EMBEDDINGS_KEY}'] },
  dimension: DIMENSION,
  timeout: TIMEOUT,
  ...PREFIXES,
} as const satisfies OptionShapes;

const UNIVERSAL = {
  model: { type: 'string', default: 'nomic-ai/nomic-embed-text-v2-moe', description: 'Also model_name.' },
  batch_size: { type: 'integer', default: 16, minimum: 1, maximum: 128, description: 'Texts of one batch.' },
  ...SHARED,
} as const satisfies OptionShapes;

/** Any embedding model of our own runtime. */
export const universal: EmbedderKind = {
  type: 'UniversalEmbedder',
  runsHere: true,
  options: UNIVERSAL,
  open(strategy, parts) {
    const settings = settingsOf(strategy, UNIVERSAL);
    return sourceOf(strategy, settings.model, settings, parts, true);
  },
};

const RETRIES = 2;

/** The source of a model: this runtime, or the host that the strategy or the project's model names. */
function sourceOf(
  strategy: EmbeddingStrategy,
  named: string,
  settings: OptionValues<typeof SHARED> & { batch_size: number },
  parts: EmbedderParts,
  normalise: boolean,
): Source {
  const { runtime, projectModel, need = needNothing } = parts;
  const model = projectModel?.model ?? named;
  const encoder = projectModel ? settingsOfModel(projectModel, 'embedding') : {};
  const prefixes = prefixesOf(model, settings);
  const base = nonEmpty(settings.base_url) ?? (projectModel && baseUrlOf(projectModel));
  const inside = base === undefined || (runtime !== undefined && isOwnAddress(base, [UNIVERSAL_PORT, parts.runtimePort]));
  const host = inside
    ? undefined
    : {
        base,
        model,
        apiKey: keyOf(strategy, settings.api_key) ?? (projectModel && apiKeyOf(projectModel)),
        timeoutMs: settings.timeout * 1000,
        retries: RETRIES,
        retryBaseMs: parts.retryBaseMs,
        ...(encoder.maxLength === undefined ? {} : { body: { max_length: encoder.maxLength } }),
      };
  const send: Source['send'] = async (texts, purpose, signal, urgency) => {
    const input = texts.map((text) => prefixes[purpose] + text);
    if (host) return askEmbeddings(parts.outbound, host, input, signal);
    if (!runtime) throw noEmbeddingModel(strategy, model);
    const asked = (limited: AbortSignal) => runtime(model, input, limited, { urgency, settings: encoder });
    // Nobody waits for ingestion. The time limit is that of an answer, not that of a fetch.
    const wish = { signal, waitMs: urgency === 'bulk' ? Number.POSITIVE_INFINITY : undefined };
    return need(model, wish, () => withinTime(model, settings.timeout, signal, asked)).catch((error: unknown) => {
      throw withRemedy(error, strategy);
    });
  };
  return {
    model,
    settings: { prefixes, ...vectorSettings(encoder) },
    dimensions: settings.dimension ?? undefined,
    batchSize: settings.batch_size,
    normalise,
    send,
  };
}

function noEmbeddingModel(strategy: EmbeddingStrategy, model: string): Failure {
  const message =
    `The embedding strategy '${strategy.name}' needs the model '${model}', and this runtime has no embedding model. ` +
    "Set base_url of the strategy to a host that speaks /v1/embeddings, or use the type 'LexicalEmbedder', which works without a download.";
  return new Failure('unavailable', message, { code: 'EmbeddingModelMissing' });
}

/** Work that ends with a failure after so many seconds, whoever else may abort it. */
async function withinTime<T>(model: string, seconds: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const late = new Failure('timed_out', `The embedding model '${model}' took longer than ${seconds} s; raise 'timeout' of its strategy.`);
  const timer = setTimeout(() => limit.abort(late), seconds * 1000);
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** The failure of a model that is not here, with what can be done about it in the project file. */
function withRemedy(error: unknown, strategy: EmbeddingStrategy): unknown {
  if (!(error instanceof Failure) || error.code !== 'ModelNotFound') return error;
  const { kind, message, code, fields } = error;
  const others = `or set base_url of the embedding strategy '${strategy.name}' to a host that has it, or use the type 'LexicalEmbedder'`;
  return new Failure(kind, `${message.replace(/\.$/, '')}; ${others}, which needs no download.`, { code, ...(fields ? { fields } : {}) });
}

/** The settings of an encoder on which its vectors depend. */
function vectorSettings({ maxLength, dtype }: EncoderSettings): { max_length?: number; dtype?: string } {
  return { ...(maxLength === undefined ? {} : { max_length: maxLength }), ...(dtype === undefined ? {} : { dtype }) };
}

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

/** A sentence model by its name on the model hub, run by our own runtime. */
export const huggingFace: EmbedderKind = {
  type: 'HuggingFaceEmbedder',
  runsHere: true,
  options: HUGGING_FACE,
  open(strategy, parts) {
    const settings = settingsOf(strategy, HUGGING_FACE);
    return sourceOf(strategy, settings.model_name, settings, parts, settings.normalize_embeddings);
  },
};

const SENTENCE_TRANSFORMER = {
  model_name: SENTENCE_MODEL,
  device: { type: 'string', default: 'cpu', enum: DEVICES, description: 'Accepted; the engine takes the best device there is.' },
  batch_size: SENTENCE_BATCH,
  ...SHARED,
} as const satisfies OptionShapes;

/** The same under its library's name. */
export const sentenceTransformer: EmbedderKind = {
  type: 'SentenceTransformerEmbedder',
  runsHere: true,
  options: SENTENCE_TRANSFORMER,
  open(strategy, parts) {
    const settings = settingsOf(strategy, SENTENCE_TRANSFORMER);
    return sourceOf(strategy, settings.model_name, settings, parts, true);
  },
};
