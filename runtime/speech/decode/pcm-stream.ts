import { loadCore } from '../../../native/core.js';

/** Samples of 16 bits, one channel, little-endian, from bytes that are cut anywhere: a half sample waits for its other half. */
export class PcmStream {
  #half: Uint8Array = new Uint8Array(0);

  /** The samples that are whole now, -1 to 1. */
  push(bytes: Uint8Array): Float32Array {
    const all = this.#half.length > 0 ? Buffer.concat([this.#half, bytes]) : bytes;
    const whole = all.length - (all.length % 2);
    this.#half = all.slice(whole);
    return loadCore().decodeSamples(all.subarray(0, whole), 's16', 1);
  }
}
