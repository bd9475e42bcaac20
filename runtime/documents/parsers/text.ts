import type { Metadata } from '../contract.js';
import { cleanText, encodingMetadata, textOf } from './bytes.js';
import type { Parser } from './contract.js';
import { DocumentWriter, presentMembers } from './writer.js';

/** Frequent small words by ISO 639-1 code. */
const SMALL_WORDS: Readonly<Record<string, string>> = {
  en: 'the of and to in is that for it with as was on are this be by not from or',
  de: 'der die und das ist nicht von zu mit den ein eine auf für dem sich des auch werden wird',
  fr: 'le la les de et des est un une dans que pour qui pas sur plus par avec ce au',
  es: 'el la los de que y en un una es por con para no las del se su al como',
  it: 'il di che la e in un una per non sono del con della le si da al come nel',
  pt: 'o de que a e do da em um para não uma com os no se na por mais as',
  nl: 'de het een van en in is dat op te voor met niet zijn aan er ook als bij door',
};
const LISTS = Object.entries(SMALL_WORDS).map(([code, words]) => ({ code, words: new Set(words.split(' ')) }));
const LOOKED_AT = 10_000;
const LEAST_SHARE = 0.08;

/** The language of a text by its small words, or by its script; undefined where neither tells. */
function languageOf(text: string): string | undefined {
  const sample = text.slice(0, LOOKED_AT);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  const share = (script: RegExp): number => (sample.match(script)?.length ?? 0) / Math.max(1, letters);
  if (share(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu) > 0.1) return 'ja';
  if (share(/\p{Script=Hangul}/gu) > 0.3) return 'ko';
  if (share(/\p{Script=Han}/gu) > 0.3) return 'zh';
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counted = LISTS.map((list) => ({ code: list.code, hits: words.filter((word) => list.words.has(word)).length }));
  const best = counted.reduce((one, other) => (other.hits > one.hits ? other : one));
  return best.hits >= Math.max(2, words.length * LEAST_SHARE) ? best.code : undefined;
}

const PYTHON = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'sentences',
  encoding: 'utf-8',
  clean_text: true,
  extract_metadata: true,
};
const LLAMA_INDEX = {
  ...PYTHON,
  chunk_strategy: 'semantic',
  semantic_buffer_size: 1,
  semantic_breakpoint_percentile_threshold: 95,
  token_model: 'gpt-3.5-turbo',
  preserve_code_structure: true,
  detect_language: true,
  include_prev_next_rel: true,
};

/** Adds the paragraphs of a plain text: stretches between blank lines. */
export function writeParagraphs(text: string, writer: DocumentWriter, metadata?: Metadata): void {
  const extras = metadata === undefined ? {} : { metadata };
  for (const paragraph of text.split(/\r?\n(?:[ \t]{0,1000}\r?\n)+/)) writer.add('paragraph', paragraph, extras);
}

/** Plain text. */
export const text: Parser = {
  id: 'text',
  defaults: { TextParser_Python: PYTHON, TextParser_LlamaIndex: LLAMA_INDEX, TextParser: PYTHON, PlainTextParser: PYTHON },
  extensions: [
    '.txt',
    '.text',
    '.log',
    '.rst',
    '.adoc',
    '.asciidoc',
    '.tex',
    '.srt',
    '.vtt',
    '.ini',
    '.conf',
    '.cfg',
    '.properties',
    '.org',
  ],
  mimeTypes: ['text/plain', 'text/*'],
  readsText: true,
  async parse(file, options, limits) {
    const found = await textOf(file, options, limits);
    const writer = new DocumentWriter(file.name, limits);
    if (found.warning) writer.warnings.push(found.warning);
    writeParagraphs(options.clean_text === false ? found.text : cleanText(found.text), writer);
    const described = options.extract_metadata === false ? {} : { encoding: found.encoding, ...encodingMetadata(found) };
    return writer.finish(presentMembers({ ...described, language: options.detect_language === true ? languageOf(found.text) : undefined }));
  },
};
