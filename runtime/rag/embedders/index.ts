import { Failure } from '../../../schemas/errors.js';
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
   * is one database's own. Throws `invalid` and `bad_request` for its configuration.
   */
  of(owner: string, strategy: EmbeddingStrategy): Embedder;
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
    of(owner, strategy) {
      const { turns, embedders } = owned(owner);
      const key = JSON.stringify(strategy);
      const known = embedders.get(key);
      if (known) return known;
      const made = new CheckedEmbedder(strategy.type, kindOf(strategy.type).open(strategy, parts), turns);
      embedders.set(key, made);
      for (const oldest of embedders.keys()) if (embedders.size > MOST_OF_OWNER) embedders.delete(oldest);
      return made;
    },
  };
}

function kindOf(type: EmbedderType): EmbedderKind {
  if (Object.hasOwn(EMBEDDERS, type)) return EMBEDDERS[type];
  throw new Failure('bad_request', `The embedder type '${type}' is unknown; known are ${Object.keys(EMBEDDERS).join(', ')}.`);
}
