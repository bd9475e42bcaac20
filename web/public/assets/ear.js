/** Runs in the sound thread of the browser: gathers what the microphone hears into pieces of 20 ms of 16-bit samples, and hands them to the page. */
const PIECE = 320;

registerProcessor(
  'ear',
  class extends AudioWorkletProcessor {
    #piece = new Int16Array(PIECE);
    #length = 0;

    process([input]) {
      for (const sample of input[0] ?? []) {
        this.#piece[this.#length++] = Math.max(-1, Math.min(1, sample)) * 32767;
        if (this.#length < PIECE) continue;
        this.port.postMessage(this.#piece.buffer, [this.#piece.buffer]);
        this.#piece = new Int16Array(PIECE);
        this.#length = 0;
      }
      return true;
    }
  },
);
