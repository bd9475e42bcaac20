import type { Failure } from '../../schemas/errors.js';
import type { AnomalyFitOptions, NativeAnomalyFit, NativeAnomalyRestore } from './anomaly.js';
import type { AudioFunctions } from './audio.js';
import type { ClassifierFitOptions, NativeClassifier, NativeClassifierFit } from './classify.js';
import type { ColumnsOptions, NativeColumns } from './columns.js';
import type { EncoderOptions, EncoderShape, EncoderWeights, NativeEncoder } from './encoder.js';
import type { NativeTextIndex, TextIndexOptions } from './text.js';
import type { NativeVectorIndex, VectorIndexOptions } from './vectors.js';

/** What both addons have. Synchronous functions throw a `Failure`, those that give a promise reject it, for wrong arguments too. */
export interface NativeAddon {
  /** Sync. Takes the class that failures of this thread are made of; `native/loader.ts` calls it before anything else. */
  install(failure: typeof Failure): void;
}

/**
 * The addon `quern_core.node`: nothing in it may end the process, so it runs inside the daemon. Foreign bytes are read by its audio readers
 * alone, which check every size.
 */
export interface CoreAddon extends AudioFunctions, NativeAddon {
  /** Sync. The widest instruction set that the kernels use on this processor; `avx512` includes the byte products of VNNI. */
  instructionSet(): 'avx512' | 'avx2' | 'portable';
  /**
   * Sync, some microseconds. Asks the system to let the calling thread run soon after it wakes, in turns of 0.5 ms, without a larger share of a
   * core. False where there is no such thing: it needs Linux 6.12.
   */
  takeShortTurns(): boolean;
  /**
   * Sync, some microseconds for each open file. Lets each connection that this process accepts on a TCP port from now on hold `bytes` unread (Linux
   * counts what holds them too, and takes twice as many). False where the process has no listener there, and on Windows. Throws Failure('invalid') for
   * what is no port.
   */
  limitReceiveBuffers(port: number, bytes: number): boolean;
  /**
   * Sync, as `limitReceiveBuffers`. Lets connections to a TCP port wait in the system until their first byte has come, or about `seconds` have passed. False
   * where the process has no listener there, and on systems other than Linux.
   */
  holdSilentConnections(port: number, seconds: number): boolean;
  /** Sync. Copies what waits to be read on a connection, given by its descriptor, and leaves it there; returns how many bytes, 0 for none. */
  peekConnection(socket: number, into: Uint8Array): number;
  /** Sync. A second descriptor of a connection, which outlives the first and belongs to the caller; -1 where the system gives none. */
  duplicateConnection(socket: number): number;
  /** Sync. Sends one datagram to a Unix socket, given by its path or, behind an `@`, its abstract name. False where it cannot be sent. */
  sendDatagram(address: string, text: string): boolean;
  /** Sync. The names of the anomaly detectors, in alphabetical order. */
  anomalyBackends(): string[];
  /**
   * Sync, copies `values`, borrows `into`, about 0.08 us a number. Writes numbers into `into` from `at` on as the inside of a JSON array and returns where it ended: each
   * with the fewest digits that give the same 32-bit float again, `null` for what is no number. Throws Failure('invalid') where there
   * are less than 16 bytes for each.
   */
  writeFloats(values: Float32Array, into: Uint8Array, at: number): number;
  /** Sync. A fit without rows. Throws Failure('invalid') with the setting that is wrong. */
  openAnomalyFit(options: AnomalyFitOptions): NativeAnomalyFit;
  /** Sync. Entries come by `add`; `restoreAnomaly` of native/anomaly.ts does all of it. `threads` are those of the model's scoring, 1 when missing. */
  openAnomalyRestore(threads?: number): NativeAnomalyRestore;
  /** Sync. A fit without samples. Throws Failure('invalid') with the setting that is wrong. */
  openClassifierFit(options: ClassifierFitOptions): NativeClassifierFit;
  /**
   * A file of `NativeClassifier.save` with the same generation, after every byte was verified, on the thread pool. Rejects with
   * Failure('not_found') where there is none, ('model_failed') for one that is damaged or of another generation.
   */
  loadClassifier(path: string, generation: bigint): Promise<NativeClassifier>;
  /** Sync. A table without rows. Throws Failure('invalid') with the setting that is wrong. */
  openColumns(options: ColumnsOptions): NativeColumns;
  /**
   * Sync, copies the weights, 3 to 8 ms per MiB: for hosts, not for a thread that serves others. Throws Failure('invalid') with the size or setting
   * that is wrong, ('too_large') for a shape beyond the limits.
   */
  openEncoder(shape: EncoderShape, weights: EncoderWeights, options?: EncoderOptions): NativeEncoder;
  /** Sync. An empty index. Throws Failure('invalid') with the setting that is wrong. */
  openTextIndex(options: TextIndexOptions): NativeTextIndex;
  /** Sync. An empty index. Throws Failure('invalid') with the setting that is wrong. */
  openVectorIndex(options: VectorIndexOptions): NativeVectorIndex;
}
