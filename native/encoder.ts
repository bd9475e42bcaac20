import type { NativeEncoder } from './contract.js';
import { raised, settled } from './raised.js';

/** The C++ object with our failures. */
export class Encoder implements NativeEncoder {
  readonly #native: NativeEncoder;
  readonly bytes: number;
  readonly outputs: number;

  constructor(native: NativeEncoder) {
    this.#native = native;
    this.bytes = native.bytes;
    this.outputs = native.outputs;
  }

  run(ids: Int32Array, lengths: Int32Array, types?: Int32Array): Promise<Float32Array> {
    return settled(() => this.#native.run(ids, lengths, types));
  }

  runNow(ids: Int32Array, lengths: Int32Array, types?: Int32Array): Float32Array {
    return raised(() => this.#native.runNow(ids, lengths, types));
  }

  close(): void {
    this.#native.close();
  }
}
