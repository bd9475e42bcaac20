import { Failure } from '../../schemas/errors.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { expandEnv } from '../config/variables.js';

/**
 * The key of a model with `${env:NAME}` expanded, or `undefined` where there is none. Throws `bad_request` when it cannot stand in a
 * header; the message does not show it.
 */
export function apiKeyOf(model: ModelConfig): string | undefined {
  const key = expandEnv({ api_key: model.api_key ?? '' }).api_key.trim();
  if (key === '') return undefined;
  if (/[^\x21-\x7e]/.test(key))
    throw new Failure(
      'bad_request',
      `Model '${model.name}': api_key holds a blank or a character outside ASCII. Check the variable it comes from.`,
      {
        code: 'ProviderKeyRefused',
      },
    );
  return key;
}

/** The base URL of a model with `${env:NAME}` expanded, or `undefined` where there is none. */
export function baseUrlOf(model: ModelConfig): string | undefined {
  const base = expandEnv(model.base_url ?? '').trim();
  return base === '' ? undefined : base;
}
