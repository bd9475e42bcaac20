import { Failure } from '../../../schemas/errors.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import { askEmbeddings } from '../../net/ask/embeddings.js';
import type { EmbedderKind } from './contract.js';
import { DIMENSION, keyOf, nonEmpty, PREFIXES, prefixesOf, settingsOf, TIMEOUT } from './settings.js';

const PUBLIC_API = 'https://api.openai.com/v1';
/** Models that make vectors of any smaller size on demand. */
const SIZED = /text-embedding-3/;

const OPTIONS = {
  model: { type: 'string', default: 'text-embedding-3-small', description: 'Also model_name.' },
  api_key: {
    type: 'string',
    default: null,
    description: 'Write ${env:NAME}. Needed unless base_url names another host.',
    examples: ['${env:OPENAI_API_KEY}'],
  },
  base_url: {
    type: 'string',
    default: null,
    description: 'A host that speaks /v1/embeddings; none = the public API.',
    examples: ['http://127.0.0.1:8080/v1'],
  },
  organization: { type: 'string', default: null, description: 'Sent as OpenAI-Organization.', examples: ['org-lab'] },
  batch_size: { type: 'integer', default: 100, minimum: 1, maximum: 2048, description: 'Texts of one request.' },
  max_retries: {
    type: 'integer',
    default: 3,
    minimum: 0,
    maximum: 10,
    description: 'Further attempts after 429, 5xx or a failed connection.',
  },
  encoding_format: { type: 'string', default: 'base64', enum: ['base64', 'float'], description: 'How vectors are sent.' },
  dimension: DIMENSION,
  timeout: TIMEOUT,
  ...PREFIXES,
} as const satisfies OptionShapes;

/** A host that speaks OpenAI's `/v1/embeddings`. */
export const openAi: EmbedderKind = {
  type: 'OpenAIEmbedder',
  options: OPTIONS,
  open(strategy, { outbound, retryBaseMs }) {
    const settings = settingsOf(strategy, OPTIONS);
    const { model, dimension } = settings;
    const base = nonEmpty(settings.base_url) ?? PUBLIC_API;
    const apiKey = keyOf(strategy, settings.api_key);
    if (apiKey === undefined && base === PUBLIC_API)
      throw new Failure(
        'bad_request',
        `The embedding strategy '${strategy.name}' has no api_key: set it to \${env:NAME}, or set base_url to a host that needs none.`,
        { code: 'ProviderKeyMissing' },
      );
    const organization = nonEmpty(settings.organization);
    const prefixes = prefixesOf(model, settings);
    const sized = dimension !== null && SIZED.test(model) ? { dimensions: dimension } : {};
    const host = {
      base,
      model,
      apiKey,
      ...(organization === undefined ? {} : { headers: { 'openai-organization': organization } }),
      timeoutMs: settings.timeout * 1000,
      retries: settings.max_retries,
      retryBaseMs,
      body: { encoding_format: settings.encoding_format, ...sized },
    };
    return {
      model,
      settings: { base, prefixes },
      dimensions: dimension ?? undefined,
      batchSize: settings.batch_size,
      normalise: true,
      send: (texts, purpose, signal) =>
        askEmbeddings(
          outbound,
          host,
          texts.map((text) => prefixes[purpose] + text),
          signal,
        ),
    };
  },
};
