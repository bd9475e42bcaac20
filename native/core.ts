import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Failure } from '../schemas/errors.js';
import { AnomalyFit, AnomalyRestore } from './anomaly-objects.js';
import { audioFunctions } from './audio.js';
import { Classifier, ClassifierFit } from './classifier.js';
import { Columns } from './columns.js';
import type { CoreAddon, IndexLoad, NativeVectorIndex, VectorAnswer, VectorIndexStats, VectorSearchOptions } from './contract.js';
import { Encoder } from './encoder.js';
import { raised, settled } from './raised.js';
import { TextIndex } from './text-index.js';

const BINARY = join(import.meta.dirname, '../../build/native/Release/quern_core.node');

/** The C++ object with our failures. */
class VectorIndex implements NativeVectorIndex {
  readonly #native: NativeVectorIndex;

  constructor(native: NativeVectorIndex) {
    this.#native = native;
  }

  add(ids: Uint32Array, vectors: Float32Array): Promise<void> {
    return settled(() => this.#native.add(ids, vectors));
  }

  remove(ids: Uint32Array): Promise<number> {
    return settled(() => this.#native.remove(ids));
  }

  search(query: Float32Array, k: number, options?: VectorSearchOptions): Promise<VectorAnswer> {
    return settled(() => this.#native.search(query, k, options));
  }

  searchMany(queries: Float32Array, k: number, options?: VectorSearchOptions): Promise<VectorAnswer[]> {
    return settled(() => this.#native.searchMany(queries, k, options));
  }

  save(path: string, generation: bigint): Promise<void> {
    return settled(() => this.#native.save(path, generation));
  }

  load(path: string, generation: bigint): Promise<IndexLoad> {
    return settled(() => this.#native.load(path, generation));
  }

  stats(): VectorIndexStats {
    return raised(() => this.#native.stats());
  }

  async close(): Promise<void> {
    await this.#native.close();
  }
}

let loaded: CoreAddon | undefined;

/** Loads `quern_core.node`, once per thread. Throws Failure('unavailable') with the remedy when it is not built or does not load. */
export function loadCore(): CoreAddon {
  if (loaded) return loaded;
  let native: CoreAddon;
  try {
    native = createRequire(import.meta.url)(BINARY) as CoreAddon;
  } catch (error) {
    const reason = existsSync(BINARY) ? 'does not load: delete build/native and' : 'is not built:';
    throw new Failure('unavailable', `The native core ${reason} run npm start, which builds it.`, { cause: error });
  }
  loaded = {
    instructionSet: () => native.instructionSet(),
    takeShortTurns: () => native.takeShortTurns(),
    limitReceiveBuffers: (port, bytes) => raised(() => native.limitReceiveBuffers(port, bytes)),
    holdSilentConnections: (port, seconds) => raised(() => native.holdSilentConnections(port, seconds)),
    peekConnection: (socket, into) => raised(() => native.peekConnection(socket, into)),
    duplicateConnection: (socket) => raised(() => native.duplicateConnection(socket)),
    sendDatagram: (address, text) => raised(() => native.sendDatagram(address, text)),
    anomalyBackends: () => native.anomalyBackends(),
    ...audioFunctions(native),
    writeFloats: (values, into, at) => raised(() => native.writeFloats(values, into, at)),
    openAnomalyFit: (options) => new AnomalyFit(raised(() => native.openAnomalyFit(options))),
    openAnomalyRestore: (threads) => new AnomalyRestore(raised(() => native.openAnomalyRestore(threads))),
    openClassifierFit: (options) => new ClassifierFit(raised(() => native.openClassifierFit(options))),
    loadClassifier: async (path, generation) => new Classifier(await settled(() => native.loadClassifier(path, generation))),
    openColumns: (options) => new Columns(raised(() => native.openColumns(options))),
    openEncoder: (shape, weights, options) => new Encoder(raised(() => native.openEncoder(shape, weights, options))),
    openTextIndex: (options) => new TextIndex(raised(() => native.openTextIndex(options))),
    openVectorIndex: (options) => new VectorIndex(raised(() => native.openVectorIndex(options))),
  };
  return loaded;
}
