import { setImmediate } from 'node:timers/promises';
import type { OptionShapes } from '../options.js';
import type { EmbedderKind } from './contract.js';
import { lexicalVector } from './lexical/vector.js';
import { settingsOf } from './settings.js';

/** So long the event loop is held at most before others get their turn. */
const SLICE_MS = 4;
/** Changes whenever the vectors of a text do, so that cached ones are not mixed with new ones. */
const VERSION = 1;

const OPTIONS = {
  dimension: { type: 'integer', default: 384, minimum: 64, maximum: 4096, description: 'Dimensions of the vectors.' },
  batch_size: { type: 'integer', default: 64, minimum: 1, maximum: 1024, description: 'Texts of one turn.' },
} as const satisfies OptionShapes;

/** Gives the event loop back when a slice of time is used up. */
function breather(signal: AbortSignal): () => Promise<void> {
  let untilMs = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < untilMs) return;
    await setImmediate();
    signal.throwIfAborted();
    untilMs = performance.now() + SLICE_MS;
  };
}

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
        const breathe = breather(signal);
        const vectors: Float32Array[] = [];
        for (const text of texts) {
          vectors.push(await lexicalVector(text, settings.dimension, breathe));
          await breathe();
        }
        return vectors;
      },
    };
  },
};
