import { setImmediate } from 'node:timers/promises';
import type { AnomalyFitted, AnomalyState, NativeAnomalyFit, NativeAnomalyModel } from './contract.js';
import { loadCore } from './loader.js';

/** Numbers handed over in one turn of the event loop: 2 MiB, about 0.5 ms. */
const PIECE = 2 ** 18;

/** Calls `hand` with consecutive views of `size` items, one per turn of the event loop. */
async function inPieces(items: Float64Array | Int32Array, size: number, hand: (piece: Float64Array | Int32Array) => void): Promise<void> {
  for (let from = 0; from < items.length; from += size) {
    if (from > 0) await setImmediate();
    hand(items.subarray(from, from + size));
  }
}

/** Fits to the rows that the fit has. Once `signal` is aborted it rejects with Failure('unavailable'). */
export async function runFit(fit: NativeAnomalyFit, signal?: AbortSignal): Promise<AnomalyFitted> {
  const cancel = (): void => fit.cancel();
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted) cancel();
  try {
    return await fit.run();
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** The model of a state, whose arrays the caller leaves unchanged meanwhile. Rejects with Failure('invalid') naming the entry that no model has. */
export async function restoreAnomaly(state: AnomalyState, threads = 1): Promise<NativeAnomalyModel> {
  const restore = loadCore().openAnomalyRestore(threads);
  for (const [name, value] of Object.entries(state)) {
    // What is no array, or an empty one, goes as it is.
    if (!ArrayBuffer.isView(value) || value.length === 0) restore.add(name, value);
    else await inPieces(value, PIECE, (piece) => restore.add(name, piece));
  }
  return restore.run();
}
