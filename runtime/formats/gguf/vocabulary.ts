import { setImmediate as turn } from 'node:timers/promises';
import { fileFault } from './cursor.js';
import type { MetaArray, Metadata } from './metadata.js';

/** ggml's number of the kind of tokens that steer the model, such as the end of a turn. */
const CONTROL = 3;
/** Tokens looked at before other work gets its turn. */
const BATCH = 2048;
const CONTROL_LIMIT = 8192;
const CONTROL_BYTES_LIMIT = 256;
const SPECIAL_IDS = ['bos', 'eos', 'eot', 'eom', 'unknown', 'padding', 'seperator', 'separator', 'mask', 'cls'];

/** What is needed of a vocabulary outside the engine. */
export interface VocabularyFacts {
  readonly size: number;
  /** Texts that the tokenizer turns into control tokens. */
  readonly controlTexts: string[];
  readonly bosText: string;
  readonly eosText: string;
  /** As in `LanguageInfo`. */
  readonly longestToken?: number;
}

/** Tokenizers that spell every text out: byte pairs and SentencePiece's, both of which keep blanks and fall back to bytes. */
const SPELLING: ReadonlySet<string> = new Set(['gpt2', 'llama']);

const decoded = (text: unknown): string => Buffer.from(String(text ?? ''), 'latin1').toString('utf8');

/** Checks what llama.cpp ends the process for (no tokens, the same text twice, ids beyond the end), and gives what rendering needs. */
export async function readVocabulary(file: string, metadata: Metadata): Promise<VocabularyFacts> {
  const model = metadata.get('tokenizer.ggml.model');
  if (typeof model !== 'string') throw fileFault(file, 'tokenizer.ggml.model', model ?? 'missing', 'the name of a tokenizer is needed');
  const tokens = metadata.get('tokenizer.ggml.tokens') as MetaArray | undefined;
  if (typeof tokens !== 'object' || tokens.of !== 'string' || tokens.length === 0) {
    throw fileFault(file, 'tokenizer.ggml.tokens', tokens === undefined ? 'missing' : 'not a list of texts', 'a list of texts is needed');
  }
  const types = metadata.get('tokenizer.ggml.token_type') as MetaArray | undefined;
  for (const name of ['token_type', 'scores']) {
    const list = metadata.get(`tokenizer.ggml.${name}`);
    if (list !== undefined && (typeof list !== 'object' || list.length !== tokens.length)) {
      throw fileFault(
        file,
        `length of tokenizer.ggml.${name}`,
        typeof list === 'object' ? list.length : list,
        `there are ${tokens.length} tokens`,
      );
    }
  }
  const texts = tokens.values ?? [];
  const { control, longest } = await uniqueTokens(file, texts, types?.values ?? []);
  const special = new Map<string, number>();
  for (const name of SPECIAL_IDS) {
    const key = `tokenizer.ggml.${name}_token_id`;
    const id = metadata.get(key);
    // 2^32 - 1 and -1 stand for "none" in files of several converters.
    if (id === undefined || id === 0xffffffff || id === -1) continue;
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= tokens.length) {
      throw fileFault(file, key, typeof id === 'object' ? 'an array' : id, `token ids go from 0 to ${tokens.length - 1}`);
    }
    special.set(name, id);
  }
  const textOf = (name: string): string => (special.has(name) ? decoded(texts[special.get(name)!]) : '');
  const marks = ['bos', 'eos', 'eot', 'eom'].map(textOf);
  const controlTexts = [...new Set([...control, ...marks])].filter((text) => text !== '' && text.length <= CONTROL_BYTES_LIMIT);
  return {
    size: tokens.length,
    controlTexts: controlTexts.slice(0, CONTROL_LIMIT),
    bosText: textOf('bos'),
    eosText: textOf('eos'),
    ...(SPELLING.has(model) ? { longestToken: longest } : {}),
  };
}

async function uniqueTokens(
  file: string,
  texts: readonly unknown[],
  types: readonly unknown[],
): Promise<{ control: string[]; longest: number }> {
  const seen = new Set<unknown>();
  const control: string[] = [];
  let longest = 1;
  for (let index = 0; index < texts.length; index += 1) {
    if (seen.has(texts[index]))
      throw fileFault(file, `token ${index} of tokenizer.ggml.tokens`, decoded(texts[index]), 'that text is a token already');
    seen.add(texts[index]);
    // Of bytes there are at least as many as of UTF-16 units.
    if (String(texts[index]).length > longest) longest = Math.max(longest, decoded(texts[index]).length);
    if (types[index] === CONTROL && control.length < CONTROL_LIMIT) control.push(decoded(texts[index]));
    if (index % BATCH === BATCH - 1) await turn();
  }
  return { control, longest };
}
