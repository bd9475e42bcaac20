// The daemon's side of the GGUF engine, as one module that is loaded with the first model.
export { GgufClient } from './client.js';
export { ggufHeader } from './header.js';
export { planLoad } from './plan.js';
export { templateHash } from './template-facts.js';
