/**
 * The native face: every function of the addons, with shapes, units, ownership and whether it is synchronous.
 * `test/native/failures.test.ts` compares these files with what the binaries export.
 */
export * from './contract/anomaly.js';
export * from './contract/audio.js';
export * from './contract/classify.js';
export * from './contract/columns.js';
export * from './contract/core.js';
export * from './contract/encoder.js';
export * from './contract/inference.js';
export * from './contract/text.js';
export * from './contract/transcriber.js';
export * from './contract/vectors.js';
