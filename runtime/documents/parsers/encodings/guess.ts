import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { once } from '../../../base/once.js';
import { encodingOf } from './names.js';

/** The part of the WebAssembly interface that is used; Node's types leave it to those of browsers. */
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object, imports: object) => { readonly exports: object };
  };
};

/** What the compiled detector exports; texts and bytes go through its memory. */
interface Detector {
  readonly memory: { readonly buffer: ArrayBuffer };
  encodingdetector_new(): number;
  encodingdetector_feed(detector: number, bytes: number, length: number, isLast: number): number;
  encodingdetector_guess(answer: number, detector: number, domain: number, length: number, allowUtf8: number): void;
  __wbg_encodingdetector_free(detector: number): void;
  __wbindgen_add_to_stack_pointer(bytes: number): number;
  __wbindgen_malloc(bytes: number): number;
  __wbindgen_free(at: number, bytes: number): void;
}

/**
 * Top-level domains, the neutral one first. The detector leans towards what the region of a domain writes in: a guess that many regions share is
 * one that the bytes themselves bear out.
 */
const REGIONS = 'com ru ua cz pl gr tr il sa lt vn th jp cn tw kr de fr hu ro'.split(' ');
/** What is shown to the detector, from the first byte beyond ASCII on. */
const LOOKED_AT = 128 * 1024;
const BEFORE = 1024;
const ANSWER_BYTES = 16;

const detector = once((): Detector => {
  const path = fileURLToPath(import.meta.resolve('chardetng-wasm/dist/chardetng_wasm_bg.wasm'));
  const fail = (): never => {
    throw new Error('The detector of encodings stopped.');
  };
  // The package's own loader needs a flag of Node; its one import reports a panic.
  const imports = { './chardetng_wasm_bg.js': { __wbindgen_throw: fail } };
  return new WebAssembly.Instance(new WebAssembly.Module(readFileSync(path)), imports).exports as Detector;
});

function guessOf(wasm: Detector, handle: number, region: string): string {
  const domain = wasm.__wbindgen_malloc(region.length);
  new Uint8Array(wasm.memory.buffer).set(Buffer.from(region), domain);
  const answer = wasm.__wbindgen_add_to_stack_pointer(-ANSWER_BYTES);
  // The detector takes over the domain's memory.
  wasm.encodingdetector_guess(answer, handle, domain, region.length, 0);
  const [at, length] = new Int32Array(wasm.memory.buffer, answer, 2) as unknown as [number, number];
  const name = Buffer.from(wasm.memory.buffer, at, length).toString();
  wasm.__wbindgen_add_to_stack_pointer(ANSWER_BYTES);
  wasm.__wbindgen_free(at, length);
  return encodingOf(name) ?? 'windows-1252';
}

/** A guess at an encoding of eight bits, and how sure it is: the share of regions, 0 to 1, whose leaning does not change it. */
export interface Guess {
  readonly encoding: string;
  readonly confidence: number;
}

function firstBeyondAscii(bytes: Uint8Array): number {
  const found = bytes.findIndex((byte) => byte > 0x7f);
  return Math.max(0, found - BEFORE);
}

/** Guesses the encoding of bytes that are not UTF-8 from up to 128 KiB of them. */
export function guessedEncoding(bytes: Uint8Array): Guess {
  const wasm = detector();
  const start = firstBeyondAscii(bytes);
  const sample = bytes.subarray(start, start + LOOKED_AT);
  const handle = wasm.encodingdetector_new();
  const place = wasm.__wbindgen_malloc(sample.length);
  new Uint8Array(wasm.memory.buffer).set(sample, place);
  wasm.encodingdetector_feed(handle, place, sample.length, start + sample.length === bytes.length ? 1 : 0);
  const guesses = REGIONS.map((region) => guessOf(wasm, handle, region));
  wasm.__wbg_encodingdetector_free(handle);
  const [encoding] = guesses as [string];
  return { encoding, confidence: guesses.filter((one) => one === encoding).length / guesses.length };
}
