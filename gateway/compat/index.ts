import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { anthropicEndpoints } from './anthropic.js';
import { completionEndpoints } from './completions.js';
import { ollamaEndpoints } from './ollama.js';
import { responseEndpoints } from './responses.js';
import { tokenEndpoints } from './tokens.js';

/** The APIs of other programs that the universal runtime answers to: each turns its requests into the same completions, and those into its own words. */
export const compatEndpoints: readonly Endpoint<Runtime>[] = [
  ...ollamaEndpoints,
  ...anthropicEndpoints,
  ...responseEndpoints,
  ...completionEndpoints,
  ...tokenEndpoints,
];
