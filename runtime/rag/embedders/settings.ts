import { Failure } from '../../../schemas/errors.js';
import type { EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import { type OptionShapes, type OptionValues, readOptions } from '../../config/plugin-options.js';
import { expandEnv } from '../../config/variables.js';
import type { Metadata } from '../../documents/contract.js';
import type { Purpose } from './contract.js';

/** `dimension` where the model decides: only a configured one is checked. */
export const DIMENSION = {
  type: 'integer',
  default: null,
  minimum: 1,
  maximum: 65_536,
  description: 'Dimensions of the vectors; none = what the model answers first. Another answer is refused.',
  examples: [768],
} as const;

/** Seconds that one request may take. */
export const TIMEOUT = { type: 'number', default: 60, minimum: 0.1, maximum: 3600, description: 'Seconds for one request.' } as const;

/** Texts put before documents and questions, which some models are trained on. */
export const PREFIXES = {
  document_prefix: {
    type: 'string',
    default: null,
    description: 'Put before a document; none = what the model is trained on.',
    examples: ['passage: '],
  },
  query_prefix: {
    type: 'string',
    default: null,
    description: 'Put before a question; none = what the model is trained on.',
    examples: ['query: '],
  },
} as const satisfies OptionShapes;

/** What the makers of models trained with prefixes say in their model cards. */
const TRAINED: readonly (readonly [models: RegExp, document: string, query: string])[] = [
  [/nomic-embed-text/i, 'search_document: ', 'search_query: '],
  [/(^|[/_-])(multilingual-)?e5-(small|base|large)/i, 'passage: ', 'query: '],
  [/mxbai-embed-large|snowflake-arctic-embed/i, '', 'Represent this sentence for searching relevant passages: '],
];

/** The configured options with `${env:NAME}` expanded, over their defaults; `model` and `model_name` are the same option. */
export function settingsOf<const S extends OptionShapes>(strategy: EmbeddingStrategy, shapes: S): OptionValues<S> {
  const given: Metadata = expandEnv({ ...strategy.config });
  const model = given.model ?? given.model_name;
  const config = model === undefined ? given : { ...given, model, model_name: model };
  const settings: Metadata = readOptions(`${strategy.type}`, shapes, config);
  for (const name of ['model', 'model_name']) {
    const value = settings[name];
    if (typeof value === 'string' && value.trim() === '')
      throw new Failure('invalid', `${strategy.type}.${name} of the embedding strategy '${strategy.name}' is empty; name a model.`);
  }
  return settings as OptionValues<S>;
}

/** The prefixes of a model, the configured ones first. */
export function prefixesOf(model: string, settings: OptionValues<typeof PREFIXES>): Record<Purpose, string> {
  const [, document, query] = TRAINED.find(([models]) => models.test(model)) ?? ['', '', ''];
  return { document: settings.document_prefix ?? document, query: settings.query_prefix ?? query };
}

/** A text setting, undefined where it is empty. */
export function nonEmpty(text: string | null): string | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
}

/** The key of a host, undefined where there is none. Throws `bad_request`, without showing it, for one that cannot stand in a header. */
export function keyOf(strategy: EmbeddingStrategy, key: string | null): string | undefined {
  const text = nonEmpty(key);
  if (text === undefined || !/[^\x21-\x7e]/.test(text)) return text;
  throw new Failure('bad_request', `The api_key of the embedding strategy '${strategy.name}' holds a blank or a character outside ASCII.`, {
    code: 'ProviderKeyRefused',
  });
}
