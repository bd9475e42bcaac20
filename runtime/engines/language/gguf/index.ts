// The daemon's side of the GGUF engine, as one module that is loaded with the first model.

export { ggufHeader } from '../../../formats/gguf/header.js';
export { GgufClient } from '../client.js';
export { templateHash } from '../templates/template-facts.js';
export { planLoad } from './plan.js';
