import { createHash } from 'node:crypto';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LISTEN_RATE } from '../contracts/transcribing.js';
import { BLOCK, badModel, fromFloats, toFloats, type Variable, withVariables } from './ctranslate2.js';

/** What was made. */
export interface Converted {
  readonly sizeBytes: number;
  /** Hex. */
  readonly sha256: string;
}

/**
 * Writes a Whisper model in CTranslate2 form (a folder with `model.bin` and its vocabulary, such as one of faster-whisper) as one file in ggml
 * form: its large tensors as Q8_0, where their width allows. Less than 10 MB are in memory at a time. Throws `invalid` that names what is wrong.
 */
export function convertModel(folder: string, to: string, signal: AbortSignal): Promise<Converted> {
  return withVariables(join(folder, 'model.bin'), async (file, variables) => {
    const plan = new Plan(variables);
    const out = await open(to, 'w');
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const write = async (bytes: Buffer): Promise<void> => {
      signal.throwIfAborted();
      hash.update(bytes);
      sizeBytes += bytes.length;
      await out.writeFile(bytes);
    };
    try {
      for await (const bytes of head(file, variables, plan, folder)) await write(bytes);
      for (const copy of plan.copies) for await (const bytes of tensor(file, variables, copy)) await write(bytes);
      await out.sync();
    } finally {
      await out.close();
    }
    return { sizeBytes, sha256: hash.digest('hex') };
  });
}

type Form = 'f32' | 'f16' | 'q8_0';

/** A tensor of the new file: rows of a variable of the old one. */
interface Copy {
  readonly name: string;
  readonly variable: Variable;
  readonly form: Form;
  /** Fastest first, as ggml counts. */
  readonly shape: readonly number[];
  readonly firstRow: number;
  readonly rows: number;
}

/** The token that ends a text, and with it the words that a file lists, for English only and for many languages. */
const ENGLISH_VOCABULARY = 51_864;
const ENGLISH_WORDS = 50_256;
const MULTILINGUAL_WORDS = 50_257;
const LAYER_LIMIT = 64;
const HEAD_WIDTH = 64;
const VOCABULARY_BYTES = 32 * 1024 * 1024;

/** What the old file's variables become in the new one. */
class Plan {
  readonly copies: Copy[] = [];
  readonly #variables: ReadonlyMap<string, Variable>;
  readonly width: number;
  readonly vocabulary: number;
  readonly mels: number;
  readonly audioContext: number;
  readonly textContext: number;
  readonly audioLayers: number;
  readonly textLayers: number;
  readonly form: 'f16' | 'q8_0';

  constructor(variables: ReadonlyMap<string, Variable>) {
    this.#variables = variables;
    const [vocabulary, width] = this.#shape('decoder/embeddings/weight', 2);
    this.vocabulary = vocabulary!;
    this.width = width!;
    this.mels = this.#shape('encoder/conv1/weight', 3)[1]!;
    this.audioContext = this.#shape('encoder/position_encodings/encodings', 2)[0]!;
    this.textContext = this.#shape('decoder/position_encodings/encodings', 2)[0]!;
    this.audioLayers = this.#layers('encoder');
    this.textLayers = this.#layers('decoder');
    this.form = this.width % BLOCK === 0 ? 'q8_0' : 'f16';
    this.#add();
  }

  get(name: string): Variable {
    const variable = this.#variables.get(name);
    if (!variable) throw badModel(`it has no ${name}`);
    return variable;
  }

  #shape(name: string, rank: number): readonly number[] {
    const { shape } = this.get(name);
    if (shape.length !== rank) throw badModel(`the shape of ${name} is [${shape}]; ${rank} lengths are needed`);
    return shape;
  }

  #layers(side: string): number {
    let count = 0;
    while (count <= LAYER_LIMIT && this.#variables.has(`${side}/layer_${count}/ffn/layer_norm/gamma`)) count += 1;
    if (count === 0 || count > LAYER_LIMIT) throw badModel(`its ${side} has ${count} layers; allowed are 1 to ${LAYER_LIMIT}`);
    return count;
  }

  /** Adds one tensor: part `part` of `parts` equal ones of a variable of this shape, slowest first. */
  #copy(name: string, from: string, shape: readonly number[], { part = 0, parts = 1, form = 'f32' as Form, flat = false } = {}): void {
    const variable = this.get(from);
    const [rows, ...rest] = shape;
    const whole = [rows! * parts, ...rest];
    if (variable.shape.join() !== whole.join()) throw badModel(`the shape of ${from} is [${variable.shape}]; [${whole}] is needed`);
    if (variable.type === 'i16' || variable.type === 'i32') throw badModel(`${from} holds integers of type ${variable.type}`);
    if (variable.type === 'i8' && !this.#variables.has(`${from}_scale`)) throw badModel(`it has no ${from}_scale`);
    // A bias of a convolution is written as a column.
    const written = flat ? [1, rows!] : [...shape].reverse();
    this.copies.push({ name, variable, form, shape: written, firstRow: part * rows!, rows: rows! });
  }

  #pair(name: string, from: string, out: number, into: number, of?: { part: number; parts: number }, hasBias = true): void {
    this.#copy(`${name}.weight`, `${from}/weight`, [out, into], { ...of, form: this.form });
    if (hasBias) this.#copy(`${name}.bias`, `${from}/bias`, [out], of);
  }

  #norm(name: string, from: string): void {
    this.#copy(`${name}.weight`, `${from}/gamma`, [this.width]);
    this.#copy(`${name}.bias`, `${from}/beta`, [this.width]);
  }

  #layer(side: 'encoder' | 'decoder', index: number): void {
    const { width } = this;
    const [to, from] = [`${side}.blocks.${index}`, `${side}/layer_${index}`];
    this.#norm(`${to}.attn_ln`, `${from}/self_attention/layer_norm`);
    for (const [part, name] of ['query', 'key', 'value'].entries())
      this.#pair(`${to}.attn.${name}`, `${from}/self_attention/linear_0`, width, width, { part, parts: 3 }, name !== 'key');
    this.#pair(`${to}.attn.out`, `${from}/self_attention/linear_1`, width, width);
    if (side === 'decoder') {
      this.#norm(`${to}.cross_attn_ln`, `${from}/attention/layer_norm`);
      this.#pair(`${to}.cross_attn.query`, `${from}/attention/linear_0`, width, width);
      for (const [part, name] of ['key', 'value'].entries())
        this.#pair(`${to}.cross_attn.${name}`, `${from}/attention/linear_1`, width, width, { part, parts: 2 }, name !== 'key');
      this.#pair(`${to}.cross_attn.out`, `${from}/attention/linear_2`, width, width);
    }
    this.#norm(`${to}.mlp_ln`, `${from}/ffn/layer_norm`);
    this.#pair(`${to}.mlp.0`, `${from}/ffn/linear_0`, 4 * width, width);
    this.#pair(`${to}.mlp.2`, `${from}/ffn/linear_1`, width, 4 * width);
  }

  #add(): void {
    const { width } = this;
    this.#copy('encoder.positional_embedding', 'encoder/position_encodings/encodings', [this.audioContext, width]);
    for (const [at, into] of [this.mels, width].entries()) {
      this.#copy(`encoder.conv${at + 1}.weight`, `encoder/conv${at + 1}/weight`, [width, into, 3], { form: 'f16' });
      this.#copy(`encoder.conv${at + 1}.bias`, `encoder/conv${at + 1}/bias`, [width], { flat: true });
    }
    this.#norm('encoder.ln_post', 'encoder/layer_norm');
    this.#norm('decoder.ln', 'decoder/layer_norm');
    this.#copy('decoder.positional_embedding', 'decoder/position_encodings/encodings', [this.textContext, width]);
    this.#copy('decoder.token_embedding.weight', 'decoder/embeddings/weight', [this.vocabulary, width], { form: this.form });
    for (let i = 0; i < this.audioLayers; i += 1) this.#layer('encoder', i);
    for (let i = 0; i < this.textLayers; i += 1) this.#layer('decoder', i);
  }
}

const MAGIC = 0x67676d6c;
/** In the head of a file: the large tensors are 16-bit floats, or Q8_0 in its second version. */
const FILE_TYPES = { f16: 1, q8_0: 2007 } as const;

async function* head(file: FileHandle, variables: ReadonlyMap<string, Variable>, plan: Plan, folder: string): AsyncGenerator<Buffer> {
  const { vocabulary, width, mels, form } = plan;
  const audioHeads = (await scalar(file, variables, 'encoder/num_heads')) ?? width / HEAD_WIDTH;
  const textHeads = (await scalar(file, variables, 'decoder/num_heads')) ?? width / HEAD_WIDTH;
  const words = await readWords(folder, vocabulary === ENGLISH_VOCABULARY ? ENGLISH_WORDS : MULTILINGUAL_WORDS);
  const audio = [plan.audioContext, width, audioHeads, plan.audioLayers];
  const text = [plan.textContext, width, textHeads, plan.textLayers];
  yield Buffer.from(Int32Array.of(MAGIC, vocabulary, ...audio, ...text, mels, FILE_TYPES[form]).buffer);
  const filters = melFilters(mels);
  yield Buffer.from(Int32Array.of(mels, filters.length / mels).buffer);
  yield fromFloats(filters, 'f32');
  yield Buffer.from(Int32Array.of(words.length).buffer);
  yield Buffer.concat(words.flatMap((word) => [Buffer.from(Int32Array.of(word.length).buffer), word]));
}

/** A number that CTranslate2 keeps as a variable without a shape. */
async function scalar(file: FileHandle, variables: ReadonlyMap<string, Variable>, name: string): Promise<number | undefined> {
  const variable = variables.get(name);
  if (!variable || variable.shape.length > 0 || !['i8', 'i16', 'i32'].includes(variable.type)) return undefined;
  return (await bytesOf(file, variable.offset, variable.valueBytes)).readIntLE(0, variable.valueBytes);
}

async function bytesOf(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const { bytesRead } = await file.read(bytes, at, length - at, offset + at);
    if (bytesRead === 0) throw badModel('it became shorter while it was read');
    at += bytesRead;
  }
  return bytes;
}

/** The words of a model's vocabulary in the order of their numbers, as bytes. */
async function readWords(folder: string, count: number): Promise<Buffer[]> {
  const found = ['vocabulary.txt', 'vocabulary.json'].map(async (name) => {
    const path = join(folder, name);
    const size = await stat(path).then(
      (facts) => facts.size,
      () => 0,
    );
    if (size === 0) return undefined;
    if (size > VOCABULARY_BYTES) throw badModel(`${name} beside it has ${size} bytes; at most ${VOCABULARY_BYTES} are read`);
    const text = await readFile(path, 'utf8');
    return name.endsWith('.txt') ? text.replace(/\n$/, '').split('\n') : (JSON.parse(text) as unknown);
  });
  const words = (await Promise.all(found)).find((one) => one !== undefined);
  if (!Array.isArray(words) || words.length < count || !words.every((word) => typeof word === 'string'))
    throw badModel(`beside it a vocabulary.txt or vocabulary.json with at least ${count} words is needed`);
  const bytes = byteOfCharacter();
  return words.slice(0, count).map((word: string, at) => {
    const codes = [...word].map((character) => bytes.get(character));
    if (codes.some((code) => code === undefined))
      throw badModel(`word ${at} of its vocabulary, ${JSON.stringify(word)}, is not byte-level`);
    return Buffer.from(codes as number[]);
  });
}

/** The bytes behind the characters in which byte-level vocabularies are written: printable ones stand for themselves, the others follow from U+0100 on. */
function byteOfCharacter(): Map<string, number> {
  const own = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return new Map(Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(own(byte) ? byte : next++), byte] as const));
}

/** Frequencies of its spectrum: half of 400 samples, and the constant. */
const FREQUENCIES = 201;

/** Triangular filters from 0 to 8 kHz, each of area 1: `count` rows of 201 weights. */
export function melFilters(count: number): Float32Array {
  const top = melOf(LISTEN_RATE / 2);
  const edges = Array.from({ length: count + 2 }, (_, i) => hzOf((top * i) / (count + 1)));
  const filters = new Float32Array(count * FREQUENCIES);
  for (let i = 0; i < count; i += 1) {
    const [low, middle, high] = [edges[i]!, edges[i + 1]!, edges[i + 2]!];
    for (let k = 0; k < FREQUENCIES; k += 1) {
      const hz = (k * LISTEN_RATE) / 2 / (FREQUENCIES - 1);
      const rising = (hz - low) / (middle - low);
      const falling = (high - hz) / (high - middle);
      filters[i * FREQUENCIES + k] = (Math.max(0, Math.min(rising, falling)) * 2) / (high - low);
    }
  }
  return filters;
}

const BREAK_HZ = 1000;

/** The mel scale of Slaney's Auditory Toolbox (1998): linear to 1 kHz, logarithmic above. */
const LINEAR_HZ = 200 / 3;

const BREAK_MEL = BREAK_HZ / LINEAR_HZ;
const STEP = Math.log(6.4) / 27;

const melOf = (hz: number): number => (hz < BREAK_HZ ? hz / LINEAR_HZ : BREAK_MEL + Math.log(hz / BREAK_HZ) / STEP);
const hzOf = (mel: number): number => (mel < BREAK_MEL ? mel * LINEAR_HZ : BREAK_HZ * Math.exp(STEP * (mel - BREAK_MEL)));

/** ggml's numbers of types. */
const TENSOR_TYPES = { f32: 0, f16: 1, q8_0: 8 } as const;

/** Values that are converted at a time. */
const STRETCH = 256 * 1024;

async function* tensor(file: FileHandle, variables: ReadonlyMap<string, Variable>, copy: Copy): AsyncGenerator<Buffer> {
  const { name, variable, form, shape, firstRow, rows } = copy;
  yield Buffer.from(Int32Array.of(shape.length, Buffer.byteLength(name), TENSOR_TYPES[form], ...shape).buffer);
  yield Buffer.from(name);
  const width = variable.shape.slice(1).reduce((product, length) => product * length, 1);
  const type = variable.type as 'f32' | 'f16' | 'bf16' | 'i8';
  const scale = type === 'i8' ? variables.get(`${variable.name}_scale`)! : undefined;
  const atOnce = Math.max(1, Math.floor(STRETCH / width));
  for (let row = 0; row < rows; row += atOnce) {
    const count = Math.min(atOnce, rows - row);
    const from = firstRow + row;
    const rowBytes = width * variable.valueBytes;
    const bytes = await bytesOf(file, variable.offset + from * rowBytes, count * rowBytes);
    const scales = scale && toFloats(await bytesOf(file, scale.offset + from * 4, count * 4), 'f32', 1);
    yield fromFloats(toFloats(bytes, type, width, scales), form);
  }
}
