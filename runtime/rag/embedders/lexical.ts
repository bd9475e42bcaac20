import { breathe } from '../../base/loop.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import type { EmbedderKind } from './contract.js';
import { lexicalVector } from './lexical/vector.js';
import { settingsOf } from './settings.js';

/** Changes whenever the vectors of a text do, so that cached ones are not mixed with new ones. */
const VERSION = 2;

const OPTIONS = {
  dimension: { type: 'integer', default: 384, minimum: 64, maximum: 4096, description: 'Dimensions of the vectors.' },
  batch_size: { type: 'integer', default: 64, minimum: 1, maximum: 1024, description: 'Texts of one turn.' },
} as const satisfies OptionShapes;

/** The embedder that needs no model: texts are alike when their words, and parts of words, are. */
export const lexical: EmbedderKind = {
  type: 'LexicalEmbedder',
  options: OPTIONS,
  open(strategy) {
    const settings = settingsOf(strategy, OPTIONS);
    return {
      model: 'lexical',
      settings: { version: VERSION },
      dimensions: settings.dimension,
      batchSize: settings.batch_size,
      normalise: true,
      async send(texts, _purpose, signal) {
        const vectors: Float32Array[] = [];
        for (const text of texts) {
          vectors.push(await lexicalVector(text, settings.dimension, signal));
          await breathe();
          signal.throwIfAborted();
        }
        return vectors;
      },
    };
  },
};
