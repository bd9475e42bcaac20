import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import { vectorsOf } from '../../net/ask/embeddings.js';
import { type JsonCall, postJson } from '../../net/ask/json.js';
import type { EmbedderKind } from './contract.js';
import { DIMENSION, nonEmpty, PREFIXES, prefixesOf, settingsOf, TIMEOUT } from './settings.js';

const LOCAL = 'http://localhost:11434';
/** A pull downloads a whole model. */
const PULL_MS = 1_800_000;
const RETRIES = 2;

const OPTIONS = {
  model: { type: 'string', default: 'nomic-embed-text', description: 'Also model_name.' },
  base_url: { type: 'string', default: LOCAL, description: 'Where Ollama listens.' },
  dimension: DIMENSION,
  batch_size: { type: 'integer', default: 16, minimum: 1, maximum: 128, description: 'Texts of one request.' },
  timeout: TIMEOUT,
  auto_pull: { type: 'boolean', default: true, description: 'Tells Ollama to pull a model that it lacks.' },
  ...PREFIXES,
} as const satisfies OptionShapes;

/** Ollama, by its own `/api/embed`. */
export const ollama: EmbedderKind = {
  type: 'OllamaEmbedder',
  options: OPTIONS,
  open(strategy, { outbound, retryBaseMs }) {
    const settings = settingsOf(strategy, OPTIONS);
    const { model } = settings;
    const base = (nonEmpty(settings.base_url) ?? LOCAL).replace(/\/(v1|api)?\/*$/, '');
    const prefixes = prefixesOf(model, settings);
    const post = (path: string, body: unknown, timeoutMs: number, signal: AbortSignal): Promise<unknown> => {
      const call: JsonCall = { base, path, body, model, timeoutMs, retries: RETRIES, retryBaseMs };
      return postJson(outbound, call, signal);
    };
    const ask = async (input: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
      const answer = await post('/api/embed', { model, input, truncate: true }, settings.timeout * 1000, signal);
      return vectorsOf(isObject(answer) ? answer.embeddings : undefined, input.length, base);
    };
    return {
      model,
      settings: { prefixes },
      dimensions: settings.dimension ?? undefined,
      batchSize: settings.batch_size,
      normalise: true,
      async send(texts, purpose, signal) {
        const input = texts.map((text) => prefixes[purpose] + text);
        try {
          return await ask(input, signal);
        } catch (error) {
          if (!settings.auto_pull || !(error instanceof Failure) || error.code !== 'model_not_found') throw error;
          await post('/api/pull', { model, stream: false }, PULL_MS, signal);
          return ask(input, signal);
        }
      },
    };
  },
};
