import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../../models/writers/random.js';

const WIDTH = 64;
const HEADS = 1;
const MELS = 80;
const AUDIO_CONTEXT = 1500;
const TEXT_CONTEXT = 448;
/** Of the words of a vocabulary the first 256 are the bytes; these come behind them. */
const FIRST_WORD = 1000;
const WORD_COUNT = 50_257;
/** What makes the wanted token far likelier than chance does. */
const SURE = 6;

/** What a puppet says, whatever it hears. */
export interface WhisperPuppet {
  /** Each word with the space before it. */
  readonly words: readonly string[];
  /** Of a model for many languages: the one that it hears. Absent: English only. */
  readonly language?: 'en' | 'de';
  /** Seconds, by which the segment ends. */
  readonly seconds?: number;
}

const LANGUAGES = ['en', 'zh', 'de'];

/** The token that is said after each position, of a model whose prompt is the task alone. */
function script({ words, language, seconds = 1 }: WhisperPuppet, vocabulary: number): number[] {
  const many = language === undefined ? 0 : 1;
  const start = 50_257 + many;
  const firstTime = vocabulary - 1501;
  const times = [firstTime, ...words.map((_word, at) => FIRST_WORD + at), firstTime + Math.round(seconds * 50), 50_256 + many];
  return language === undefined ? times : [start + 1 + LANGUAGES.indexOf(language), start, ...times];
}

/** Bytes as byte-level vocabularies write them. */
function byteCharacters(): string[] {
  const own = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_none, byte) => String.fromCharCode(own(byte) ? byte : next++));
}

function vocabularyText({ words }: WhisperPuppet): string {
  const characters = byteCharacters();
  const written = (text: string): string => Array.from(Buffer.from(text), (byte) => characters[byte]).join('');
  const lines = Array.from({ length: WORD_COUNT }, (_none, at) => characters[at] ?? `unused${at}`);
  // The engine looks these up.
  for (const [at, word] of [' -', " '"].entries()) lines[characters.length + at] = written(word);
  for (const [at, word] of words.entries()) lines[FIRST_WORD + at] = written(word);
  return lines.join('\n');
}

type Tensor = readonly [name: string, shape: readonly number[], values: (at: number) => number];

function tensors(puppet: WhisperPuppet, vocabulary: number): Tensor[] {
  const random = seededRandom(7);
  const embeddings = Float32Array.from({ length: vocabulary * WIDTH }, () => (random.next() - 0.5) * 0.4);
  const said = script(puppet, vocabulary);
  // Where nothing else is added, what stands at a position decides what is said after it.
  const places = (at: number): number => {
    const token = said[Math.floor(at / WIDTH)];
    return token === undefined ? 0 : 20 * embeddings[token * WIDTH + (at % WIDTH)]!;
  };
  const zero = (): number => 0;
  const norm = (name: string, gain = 1): Tensor[] => [
    [`${name}/gamma`, [WIDTH], () => gain],
    [`${name}/beta`, [WIDTH], zero],
  ];
  const dense = (name: string, out: number, into: number): Tensor[] => [
    [`${name}/weight`, [out, into], zero],
    [`${name}/bias`, [out], zero],
  ];
  const layer = (side: string): Tensor[] => [
    ...norm(`${side}/layer_0/self_attention/layer_norm`),
    ...dense(`${side}/layer_0/self_attention/linear_0`, 3 * WIDTH, WIDTH),
    ...dense(`${side}/layer_0/self_attention/linear_1`, WIDTH, WIDTH),
    ...norm(`${side}/layer_0/ffn/layer_norm`),
    ...dense(`${side}/layer_0/ffn/linear_0`, 4 * WIDTH, WIDTH),
    ...dense(`${side}/layer_0/ffn/linear_1`, WIDTH, 4 * WIDTH),
  ];
  return [
    ['encoder/conv1/weight', [WIDTH, MELS, 3], zero],
    ['encoder/conv1/bias', [WIDTH], zero],
    ['encoder/conv2/weight', [WIDTH, WIDTH, 3], zero],
    ['encoder/conv2/bias', [WIDTH], zero],
    ['encoder/position_encodings/encodings', [AUDIO_CONTEXT, WIDTH], (at) => Math.sin(at)],
    ...norm('encoder/layer_norm'),
    ...layer('encoder'),
    ['decoder/embeddings/weight', [vocabulary, WIDTH], (at) => embeddings[at]!],
    ['decoder/position_encodings/encodings', [TEXT_CONTEXT, WIDTH], places],
    ...norm('decoder/layer_norm', SURE),
    ...layer('decoder'),
    ...norm('decoder/layer_0/attention/layer_norm'),
    ...dense('decoder/layer_0/attention/linear_0', WIDTH, WIDTH),
    ...dense('decoder/layer_0/attention/linear_1', 2 * WIDTH, WIDTH),
    ...dense('decoder/layer_0/attention/linear_2', WIDTH, WIDTH),
  ];
}

const u32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const text = (value: string): Buffer => {
  const bytes = Buffer.from(`${value}\0`);
  return Buffer.concat([Buffer.from(Uint16Array.of(bytes.length).buffer), bytes]);
};

/** Writes a Whisper model in CTranslate2 form into a folder: its weights are set by hand, so that it says the same of all audio. 14 MB. */
export function writePuppetWhisper(folder: string, puppet: WhisperPuppet): void {
  const vocabulary = puppet.language === undefined ? 51_864 : 51_865;
  const scalars = ['encoder/num_heads', 'decoder/num_heads'].map((name) =>
    Buffer.concat([text(name), Buffer.from([0, 2]), u32(2), Buffer.from(Int16Array.of(HEADS).buffer)]),
  );
  const all = tensors(puppet, vocabulary);
  const parts = all.map(([name, shape, values]) => {
    const count = shape.reduce((product, length) => product * length, 1);
    const floats = Buffer.from(Float32Array.from({ length: count }, (_none, at) => values(at)).buffer);
    return Buffer.concat([text(name), Buffer.from([shape.length]), ...shape.map(u32), Buffer.from([0]), u32(floats.length), floats]);
  });
  mkdirSync(folder, { recursive: true });
  const head = [u32(6), text('WhisperSpec'), u32(3), u32(all.length + scalars.length)];
  writeFileSync(join(folder, 'model.bin'), Buffer.concat([...head, ...scalars, ...parts, u32(0)]));
  writeFileSync(join(folder, 'vocabulary.txt'), vocabularyText(puppet));
}
