import { f32, type GgufMetadata, text } from '../../../models/writers/gguf-values.js';
import type { GgufFile, TensorSource } from '../../../models/writers/gguf-writer.js';
import { seededRandom } from '../../../models/writers/random.js';
import type { TensorType } from '../../../models/writers/tensor-types.js';
import { cachedModel, puppetPath } from './cache.js';
import { readGguf } from './read-gguf.js';

/** What an adapter adds to one tensor: the product of `b` (rows x rank) and `a` (rank x width), both row by row. */
export interface AdapterPair {
  /** With `.weight`. */
  readonly tensor: string;
  readonly width: number;
  readonly rows: number;
  readonly rank: number;
  readonly a: Float32Array;
  readonly b: Float32Array;
}

/** The metadata of an adapter; those given replace the usual ones of the same key. */
export function adapterMetadata(changed: GgufMetadata = []): GgufMetadata {
  const usual: GgufMetadata = [
    ['general.type', text('adapter')],
    ['general.architecture', text('llama')],
    ['adapter.type', text('lora')],
    ['adapter.lora.alpha', f32(0)],
  ];
  const keys = new Set(changed.map(([key]) => key));
  return [...usual.filter(([key]) => !keys.has(key)), ...changed];
}

/** The two tensors of a pair. */
export function pairTensors({ tensor, width, rows, rank, a, b }: AdapterPair, type: TensorType = 'F32'): TensorSource[] {
  return [
    { name: `${tensor}.lora_a`, type, shape: [width, rank], values: a },
    { name: `${tensor}.lora_b`, type, shape: [rank, rows], values: b },
  ];
}

/** A pair of seeded numbers that changes what comes out of a tensor by about `strength` times as much as went in. */
export function randomPair(tensor: string, width: number, rows: number, seed: number, strength: number): AdapterPair {
  const rank = 4;
  const random = seededRandom(seed);
  const a = new Float32Array(width * rank);
  const b = new Float32Array(rank * rows);
  random.fill(a, strength * Math.sqrt(3 / width));
  random.fill(b, Math.sqrt(3 / rank));
  return { tensor, width, rows, rank, a, b };
}

const adapter = (pairs: readonly AdapterPair[]): GgufFile => ({
  metadata: adapterMetadata(),
  tensors: pairs.flatMap((pair) => pairTensors(pair)),
});

/** An adapter for the puppet by which it says one small letter, again and again, whatever it is asked. */
export const sayingPath = (letter: string): string =>
  cachedModel(`says-${letter}`, () => {
    const { metadata, tensors } = readGguf(puppetPath());
    const [width = 0, rows = 0] = tensors.get('output.weight')!.shape;
    const a = new Float32Array(width);
    const b = new Float32Array(rows);
    // The first place of the puppet's residual stream is the same for every token.
    a[0] = 1;
    b[(metadata.get('tokenizer.ggml.tokens') as string[]).indexOf(letter)] = 20;
    return adapter([{ tensor: 'output.weight', width, rows, rank: 1, a, b }]);
  });

/** An adapter for `tinyPath` that changes its values and what it writes, so that keys and values of its texts are others. */
export const turningPath = (seed: number): string =>
  cachedModel(`turns-${seed}`, () =>
    adapter([randomPair('blk.0.attn_v.weight', 64, 32, seed, 2), randomPair('blk.1.ffn_down.weight', 128, 64, seed + 1, 2)]),
  );

/** The same for `packedPath`, whose matrices our own kernel takes. */
export const packedTurningPath = (): string =>
  cachedModel('turns-packed', () => adapter([randomPair('blk.1.ffn_down.weight', 1536, 512, 9, 2)]));

/** An adapter for `tinyPath` with numbers that are none, which would get into every text that looks past its own. */
export const poisonPath = (): string =>
  cachedModel('poison', () => {
    const pair = randomPair('blk.0.attn_v.weight', 64, 32, 7, 1);
    pair.a.fill(Number.NaN, 0, 8);
    return adapter([pair]);
  });
