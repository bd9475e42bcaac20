import { Failure } from '../../../schemas/errors.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { Database } from '../../../schemas/generated/config/rag.js';
import type { Outbound } from '../../net/outbound.js';
import type { Embedder } from '../embedders/contract.js';
import type { RetrievalMeans } from '../retrievers/contract.js';
import { DENSE_TRUST } from '../retrievers/fusion/fuse.js';
import type { VectorStore } from '../stores/contract.js';
import type { RagScope } from './contract.js';
import { retrieverOf } from './plan.js';

/** Strategies inside strategies; each level multiplies the searches of one question. */
const DEEPEST = 4;

/** How a reranking model is asked. */
export interface RerankWork {
  readonly timeoutMs: number;
  /** True for scores from 0 to 1, false for those that the model itself gives. */
  readonly normalise: boolean;
  readonly signal: AbortSignal;
}

/** What the models of a project can do for retrieval; absent where the runtime cannot. */
export interface ModelMeans {
  /** Relevance of each text to the query. */
  rerank?(model: ModelConfig, query: string, texts: readonly string[], how: RerankWork): Promise<number[]>;
  /** The answer to one prompt. */
  complete?(model: ModelConfig, prompt: string, maxTokens: number, signal: AbortSignal): Promise<string>;
}

/** What the means of one question are made of. */
export interface MeansParts {
  readonly scope: RagScope;
  readonly database: Database;
  readonly store: VectorStore;
  /** Opened at the first use: not every strategy embeds. */
  readonly embedder: () => Embedder;
  readonly models: ModelMeans;
  readonly outbound: Outbound;
  readonly signal: AbortSignal;
}

function modelOf(scope: RagScope, name: string): ModelConfig {
  const found = scope.config.runtime?.models.find((one) => one.name === name);
  if (found) return found;
  throw unknownModel(scope, name);
}

/** `cause`: why it is no model of the runtime either. */
function unknownModel({ config }: RagScope, name: string, cause?: Failure): Failure {
  const known = config.runtime?.models.map((one) => one.name).join(', ') || 'none';
  const also = cause ? ` ${cause.message}` : '';
  return new Failure('not_found', `Model '${name}' of the retrieval strategy is not in runtime.models; known are: ${known}.${also}`, {
    code: 'ModelNotFound',
    cause,
  });
}

function lacking(name: string, what: string): Failure {
  return new Failure('unavailable', `Model '${name}' cannot be asked: this runtime has no ${what}.`, { code: 'ModelUnavailable' });
}

/** The means for one question. A question that is embedded twice is embedded once. */
export function meansOf(parts: MeansParts): RetrievalMeans {
  const { scope, store, models, outbound, signal } = parts;
  const embedded = new Map<string, Promise<Float32Array[]>>();
  const embedQuery = (text: string): Promise<Float32Array[]> => {
    const known = embedded.get(text) ?? parts.embedder().embed([text], 'query', 'interactive', signal);
    embedded.set(text, known);
    return known;
  };
  const at = (depth: number): RetrievalMeans => ({
    outbound,
    embed: async (texts, purpose = 'query') =>
      purpose === 'query' && texts.length === 1 ? embedQuery(texts[0]!) : parts.embedder().embed(texts, purpose, 'interactive', signal),
    search: (query) => store.query(query, signal),
    denseTrust: () => DENSE_TRUST[parts.embedder().type === 'LexicalEmbedder' ? 'words' : 'model'],
    rerank: async (name, query, texts, timeoutMs, normalise) => {
      if (!models.rerank) throw lacking(name, 'reranking');
      const how = { timeoutMs, normalise, signal };
      const own = scope.config.runtime?.models.find((one) => one.name === name);
      if (own) return models.rerank(own, query, texts, how);
      // Not one of the project's models: the id of one of our own runtime, as command lines give it.
      return models.rerank({ name, provider: 'universal', model: name }, query, texts, how).catch((error: unknown) => {
        throw error instanceof Failure && error.kind === 'not_found' ? unknownModel(scope, name, error) : error;
      });
    },
    complete: async (name, prompt, maxTokens) => {
      const model = modelOf(scope, name);
      if (!models.complete) throw lacking(name, 'chat for retrieval');
      return models.complete(model, prompt, maxTokens, signal);
    },
    retrieve: async (type, options, query) => {
      if (depth >= DEEPEST)
        throw new Failure('bad_request', `Retrieval strategies are nested deeper than ${DEEPEST} levels, down to '${type}'.`);
      return retrieverOf(type).retrieve(query, options, at(depth + 1));
    },
  });
  return at(0);
}
