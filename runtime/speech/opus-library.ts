import { isMainThread } from 'node:worker_threads';

/** What libopus offers. */
export type OpusLibrary = typeof import('@evan/opus');

const WASM = '@evan/opus/wasm/index.mjs';

/**
 * libopus: the native one in the main thread, the one in WebAssembly (half as fast) in worker threads. The native one leaves a destructor behind in each
 * thread that has used it, which is called when its code is unloaded already: the process would end with the thread.
 */
export function opusLibrary(): Promise<OpusLibrary> {
  return isMainThread ? import('@evan/opus') : import(WASM);
}
