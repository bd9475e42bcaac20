import type { Metadata } from '../contract.js';
import { cleaned, encodingMetadata, textOf } from './bytes.js';
import type { Parser } from './contract.js';
import { languageOf } from './language.js';
import { DocumentWriter, present } from './writer.js';

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
    writeParagraphs(options.clean_text === false ? found.text : cleaned(found.text), writer);
    const described = options.extract_metadata === false ? {} : { encoding: found.encoding, ...encodingMetadata(found) };
    return writer.finish(present({ ...described, language: options.detect_language === true ? languageOf(found.text) : undefined }));
  },
};
