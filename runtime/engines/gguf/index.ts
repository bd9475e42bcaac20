// The daemon's side of the GGUF engine, as one module that is loaded with the first model.
export { GgufClient, templateHash } from './client.js';
export { ggufHeader } from './header.js';
export { planLoad } from './plan.js';
