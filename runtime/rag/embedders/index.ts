import { Failure } from '../../../schemas/errors.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { EmbedderType, EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import { CheckedEmbedder } from './checked.js';
import type { Embedder, EmbedderKind, EmbedderParts } from './contract.js';
import { lexical } from './lexical.js';
import { ollama } from './ollama.js';
import { openAi } from './openai.js';
import { Turns } from './turns.js';
import { huggingFace, sentenceTransformer, universal } from './universal.js';

/** Every type of embedder: the list that a new one is added to. */
export const EMBEDDERS = {
  UniversalEmbedder: universal,
  OllamaEmbedder: ollama,
  HuggingFaceEmbedder: huggingFace,
  SentenceTransformerEmbedder: sentenceTransformer,
  OpenAIEmbedder: openAi,
  LexicalEmbedder: lexical,
} as const satisfies Record<EmbedderType, EmbedderKind>;

/** Databases whose embedders are kept open, each with what it has learned of its model. */
const MOST_OWNERS = 256;
/** Embedders of one database; a changed configuration is another one. */
const MOST_OF_OWNER = 64;

/** The embedders of one daemon. */
export interface Embedders {
  /**
   * The embedder of a strategy for one database. Those of the same `owner` take turns, whatever their strategy. `owner` is any text that
   * is one database's own; `models` are those of its project, whose settings hold where the strategy names one. Throws `invalid` and
   * `bad_request` for its configuration.
   */
  of(owner: string, strategy: EmbeddingStrategy, models?: readonly ModelConfig[]): Embedder;
}

interface Owned {
  readonly turns: Turns;
  readonly embedders: Map<string, Embedder>;
}

/** Opens embedders at their first use; those used longest ago are closed when there are too many. */
export function createEmbedders(parts: EmbedderParts): Embedders {
  const owners = new Map<string, Owned>();
  const owned = (owner: string): Owned => {
    const found = owners.get(owner) ?? { turns: new Turns(), embedders: new Map() };
    // The latest used stands last.
    owners.delete(owner);
    owners.set(owner, found);
    for (const [name, old] of owners) if (owners.size > MOST_OWNERS && old.turns.idle && name !== owner) owners.delete(name);
    return found;
  };
  return {
    of(owner, strategy, models = []) {
      const { turns, embedders } = owned(owner);
      const projectModel = modelOf(strategy, models);
      const key = JSON.stringify([strategy, projectModel]);
      const known = embedders.get(key);
      if (known) return known;
      const made = new CheckedEmbedder(
        strategy.type,
        kindOf(strategy.type).open(strategy, { ...parts, ...(projectModel ? { projectModel } : {}) }),
        turns,
      );
      embedders.set(key, made);
      for (const oldest of embedders.keys()) if (embedders.size > MOST_OF_OWNER) embedders.delete(oldest);
      return made;
    },
  };
}

/** The model of the project that a strategy names, by its name there or by what its provider calls it. */
function modelOf({ config }: EmbeddingStrategy, models: readonly ModelConfig[]): ModelConfig | undefined {
  const name = config?.model ?? config?.model_name;
  const ours = models.filter((model) => model.provider === 'universal');
  return ours.find((model) => model.name === name) ?? ours.find((model) => model.model === name);
}

function kindOf(type: EmbedderType): EmbedderKind {
  if (Object.hasOwn(EMBEDDERS, type)) return EMBEDDERS[type];
  throw new Failure('bad_request', `The embedder type '${type}' is unknown; known are ${Object.keys(EMBEDDERS).join(', ')}.`);
}
