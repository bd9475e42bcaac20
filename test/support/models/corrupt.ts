import {
  encodeString,
  encodeU32,
  encodeU64,
  type GgufMetadata,
  list,
  text,
  u32,
  VALUE_TYPES,
} from '../../../models/writers/gguf-values.js';
import { encodeHeader, type GgufFile } from '../../../models/writers/gguf-writer.js';
import { RANDOM_MODELS, randomLlama } from './random-llama.js';

/** A damaged GGUF file. */
export interface CorruptFile {
  /** What is wrong, as words for a test's name. */
  readonly name: string;
  /** What a good message must name: a metadata key, a tensor, or a word of the header. */
  readonly names: string;
  readonly bytes: Buffer;
}

const SOUND: GgufFile = randomLlama(RANDOM_MODELS.tiny);
const TENSOR_BYTES = 4096;

/** A header whose counts, metadata and tensor table are given as bytes, followed by some zeros as tensor bytes. */
function assemble(parts: {
  readonly magic?: string;
  readonly version?: number;
  readonly tensorCount?: bigint;
  readonly keyCount?: bigint;
  readonly keys?: readonly Buffer[];
  readonly tensors?: readonly Buffer[];
}): Buffer {
  const keys = parts.keys ?? [];
  const tensors = parts.tensors ?? [];
  return Buffer.concat([
    Buffer.from(parts.magic ?? 'GGUF', 'latin1'),
    encodeU32(parts.version ?? 3),
    encodeU64(parts.tensorCount ?? BigInt(tensors.length)),
    encodeU64(parts.keyCount ?? BigInt(keys.length)),
    ...keys,
    ...tensors,
    Buffer.alloc(TENSOR_BYTES),
  ]);
}

const raw = (key: string, type: number, ...value: Buffer[]): Buffer => Buffer.concat([encodeString(key), encodeU32(type), ...value]);
const architecture = raw('general.architecture', VALUE_TYPES.string, encodeString('llama'));

function tensorEntry(
  name: string,
  shape: readonly (number | bigint)[],
  type: number,
  offset: number | bigint,
  dimensions = shape.length,
): Buffer {
  return Buffer.concat([encodeString(name), encodeU32(dimensions), ...shape.map(encodeU64), encodeU32(type >>> 0), encodeU64(offset)]);
}

/** An array of arrays, `depth` deep, around one byte. */
function nested(depth: number): Buffer {
  const level = Buffer.concat([encodeU32(VALUE_TYPES.array), encodeU64(1)]);
  return Buffer.concat([...Array.from({ length: depth }, () => level), encodeU32(VALUE_TYPES.u8), encodeU64(1), Buffer.from([1])]);
}

const HUGE = 2n ** 63n - 1n;

/** Headers that are wrong by themselves, whatever model they belong to. */
const HEADERS: readonly CorruptFile[] = [
  { name: 'empty file', names: 'empty', bytes: Buffer.alloc(0) },
  { name: 'wrong magic', names: 'magic', bytes: assemble({ magic: 'GGML' }) },
  { name: 'version 0', names: 'version', bytes: assemble({ version: 0 }) },
  { name: 'version 1', names: 'version', bytes: assemble({ version: 1 }) },
  { name: 'version 99', names: 'version', bytes: assemble({ version: 99 }) },
  { name: 'version in the other byte order', names: 'version', bytes: assemble({ version: 0x03000000 }) },
  { name: '2^40 tensors', names: 'tensor', bytes: assemble({ tensorCount: 2n ** 40n, keys: [architecture] }) },
  { name: '2^64 - 1 tensors', names: 'tensor', bytes: assemble({ tensorCount: 2n ** 64n - 1n, keys: [architecture] }) },
  { name: '2^62 metadata keys', names: 'metadata', bytes: assemble({ keyCount: 2n ** 62n, keys: [architecture] }) },
  { name: 'key longer than the file', names: 'key', bytes: assemble({ keys: [Buffer.concat([encodeU64(HUGE), Buffer.from('abc')])] }) },
  {
    name: 'string longer than the file',
    names: 'general.name',
    bytes: assemble({ keys: [architecture, raw('general.name', VALUE_TYPES.string, encodeU64(2n ** 40n), Buffer.from('abc'))] }),
  },
  { name: 'unknown value type', names: 'general.name', bytes: assemble({ keys: [architecture, raw('general.name', 77, encodeU32(1))] }) },
  {
    name: 'array longer than the file',
    names: 'tokenizer.ggml.tokens',
    bytes: assemble({
      keys: [architecture, raw('tokenizer.ggml.tokens', VALUE_TYPES.array, encodeU32(VALUE_TYPES.string), encodeU64(2n ** 61n))],
    }),
  },
  {
    name: 'array of an unknown type',
    names: 'general.tags',
    bytes: assemble({ keys: [architecture, raw('general.tags', VALUE_TYPES.array, encodeU32(200), encodeU64(1), encodeU64(1))] }),
  },
  {
    name: 'arrays 2000 deep',
    names: 'general.tags',
    bytes: assemble({ keys: [architecture, raw('general.tags', VALUE_TYPES.array, nested(2000))] }),
  },
  { name: 'duplicate key', names: 'general.architecture', bytes: assemble({ keys: [architecture, architecture] }) },
  ...[0, 3, 2 ** 31].map((alignment) => ({
    name: `alignment ${alignment}`,
    names: 'general.alignment',
    bytes: assemble({ keys: [architecture, raw('general.alignment', VALUE_TYPES.u32, encodeU32(alignment))] }),
  })),
  {
    name: 'alignment of a wrong type',
    names: 'general.alignment',
    bytes: assemble({ keys: [architecture, raw('general.alignment', VALUE_TYPES.string, encodeString('32'))] }),
  },
];

/** Tensor tables that are wrong by themselves. */
const TENSORS: readonly CorruptFile[] = (
  [
    ['offset beyond the file', [tensorEntry('a.weight', [32], 0, 2 ** 40)]],
    ['offset off the alignment', [tensorEntry('a.weight', [32], 0, 7)]],
    ['size beyond the file', [tensorEntry('a.weight', [2 ** 20, 2 ** 10], 0, 0)]],
    ['overflowing product of sizes', [tensorEntry('a.weight', [2n ** 32n, 2n ** 32n], 0, 0)]],
    ['negative size', [tensorEntry('a.weight', [2n ** 64n - 1n], 0, 0)]],
    ['size 0', [tensorEntry('a.weight', [0], 0, 0)]],
    ['negative type', [tensorEntry('a.weight', [32], -1, 0)]],
    ['unknown type', [tensorEntry('a.weight', [32], 999, 0)]],
    ['removed type', [tensorEntry('a.weight', [32], 4, 0)]],
    ['row that is no whole block', [tensorEntry('a.weight', [33], 8, 0)]],
    ['9 dimensions', [tensorEntry('a.weight', Array(9).fill(1), 0, 0)]],
    ['2^32 - 1 dimensions', [tensorEntry('a.weight', [1], 0, 0, 2 ** 32 - 1)]],
    ['name of 300 bytes', [tensorEntry('a'.repeat(300), [32], 0, 0)]],
    ['duplicate tensor', [tensorEntry('a.weight', [32], 0, 0), tensorEntry('a.weight', [32], 0, 128)]],
  ] as const
).map(([name, tensors]) => ({ name: `tensor: ${name}`, names: 'a', bytes: assemble({ keys: [architecture], tensors }) }));

/** The sound model with some metadata values replaced, or removed where undefined. */
function changed(changes: Readonly<Record<string, GgufMetadata[number][1] | undefined>>): Buffer {
  const metadata = SOUND.metadata.flatMap(([key, value]) => {
    const next = key in changes ? changes[key] : value;
    return next === undefined ? [] : [[key, next] as const];
  });
  return wholeFile({ ...SOUND, metadata });
}

/** A file in memory; the tensor bytes are zeros, which every check of a header takes. */
function wholeFile(file: GgufFile): Buffer {
  const tensorBytes = file.tensors.reduce((sum, { shape, type }) => {
    const count = shape.reduce((product, size) => product * size, 1);
    return sum + Math.ceil((count * (type === 'F32' ? 4 : 2)) / 32) * 32;
  }, 0);
  return Buffer.concat([encodeHeader(file), Buffer.alloc(tensorBytes)]);
}

const soundTokens = (): string[] => {
  const tokens = SOUND.metadata.find(([key]) => key === 'tokenizer.ggml.tokens')?.[1];
  return tokens?.type === 'array' ? tokens.values.map(String) : [];
};

/** Models whose header is well formed and whose values cannot work; several of them end the process inside llama.cpp. */
const MODELS: readonly CorruptFile[] = [
  ...['block_count', 'attention.head_count', 'attention.head_count_kv', 'embedding_length', 'feed_forward_length', 'context_length'].map(
    (key) => ({
      name: `${key} 0`,
      names: `llama.${key}`,
      bytes: changed({ [`llama.${key}`]: u32(0) }),
    }),
  ),
  { name: 'no architecture', names: 'general.architecture', bytes: changed({ 'general.architecture': undefined }) },
  { name: 'unknown architecture', names: 'general.architecture', bytes: changed({ 'general.architecture': text('abacus') }) },
  { name: 'architecture of a wrong type', names: 'general.architecture', bytes: changed({ 'general.architecture': u32(1) }) },
  { name: 'no vocabulary', names: 'tokenizer.ggml.tokens', bytes: changed({ 'tokenizer.ggml.tokens': undefined }) },
  {
    name: 'duplicate token texts',
    names: 'tokenizer.ggml.tokens',
    bytes: changed({ 'tokenizer.ggml.tokens': list('string', soundTokens().with(300, '!')) }),
  },
  {
    name: 'fewer token types than tokens',
    names: 'tokenizer.ggml.token_type',
    bytes: changed({ 'tokenizer.ggml.token_type': list('i32', [1]) }),
  },
  {
    name: 'end token outside the vocabulary',
    names: 'tokenizer.ggml.eos_token_id',
    bytes: changed({ 'tokenizer.ggml.eos_token_id': u32(99_999) }),
  },
  {
    name: 'heads that do not divide the width',
    names: 'heads',
    bytes: changed({
      'llama.attention.head_count': u32(7),
      'llama.attention.key_length': undefined,
      'llama.attention.value_length': undefined,
    }),
  },
  { name: '2^31 blocks', names: 'llama.block_count', bytes: changed({ 'llama.block_count': u32(2 ** 31) }) },
];

/** The sound model cut off at many places: every byte of the first 64, then each 1/40 of the header and of the whole. */
function truncations(): CorruptFile[] {
  const whole = wholeFile(SOUND);
  const header = encodeHeader(SOUND).length;
  const lengths = [
    ...Array.from({ length: 63 }, (_, index) => index + 1),
    ...Array.from({ length: 40 }, (_, index) => Math.floor((header * (index + 1)) / 41)),
    ...Array.from({ length: 39 }, (_, index) => header + Math.floor(((whole.length - header) * (index + 1)) / 40)),
    whole.length - 1,
  ];
  return [...new Set(lengths)].map((length) => ({ name: `cut off after ${length} bytes`, names: '', bytes: whole.subarray(0, length) }));
}

/** All damaged files: a check of headers must refuse every one of them with a message, and never end the process. */
export function corruptFiles(): CorruptFile[] {
  return [...HEADERS, ...TENSORS, ...MODELS, ...truncations()];
}

/** The file that the damaged models are made of, which must be accepted. */
export const soundFile = (more: GgufMetadata = []): Buffer => wholeFile({ ...SOUND, metadata: [...SOUND.metadata, ...more] });
