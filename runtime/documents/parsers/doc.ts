import type { Metadata } from '../contract.js';
import { openCompound } from './compound.js';
import { type Block, damagedFile, lockedFile, type SourceFile, unreadFormat } from './contract.js';
import type { DocumentWriter } from './writer.js';

/** `wIdent`, `nFib` and the flags of the block that begins the stream of a document ([MS-DOC] 2.5). */
const IDENT_WORD_97 = 0xa5ec;
const FLAGS_AT = 0x0a;
const ENCRYPTED = 0x0100;
/** Letters as they are written: quotation marks and dashes stay. */
const AS_WRITTEN = { filterUnicode: false };

interface WordText {
  getBody(options: object): string;
  getHeaders(options: object): string;
  getFooters(options: object): string;
  getFootnotes(options: object): string;
  getEndnotes(options: object): string;
  getAnnotations(options: object): string;
  getTextboxes(options: object): string;
}

/** Reads a Word 97 document into blocks, by the options of Word documents. Throws `Failure('invalid')` with the reason. */
export async function writeWord97(file: SourceFile, bytes: Uint8Array, options: Metadata, writer: DocumentWriter): Promise<Metadata> {
  const stream = (await openCompound(file, bytes)).stream('WordDocument');
  if (!stream || stream.length < 32) throw damagedFile(file, 'it has no document part');
  const view = new DataView(stream.buffer, stream.byteOffset, stream.length);
  if (view.getUint16(0, true) !== IDENT_WORD_97) throw unreadFormat(file, 'a document of Word 95 or before', 'save it as DOCX');
  if (view.getUint16(FLAGS_AT, true) & ENCRYPTED) throw lockedFile(file);
  const text = await wordText(file, bytes);
  const both = options.include_header_footer === true;
  const part = (kind: Block['kind'], content: string, section: string): void => {
    for (const line of new Set(linesOf(content))) writer.add(kind, line, { metadata: { section } });
  };
  if (both || options.extract_headers === true) part('header', text.getHeaders({ ...AS_WRITTEN, includeFooters: false }), 'header');
  const paragraphs = writeBody(text.getBody(AS_WRITTEN), options, writer);
  part('paragraph', text.getTextboxes(AS_WRITTEN), 'text boxes');
  part('paragraph', `${text.getFootnotes(AS_WRITTEN)}\n${text.getEndnotes(AS_WRITTEN)}`, 'notes');
  if (both || options.extract_footers === true) part('footer', text.getFooters(AS_WRITTEN), 'footer');
  if (options.extract_comments === true) part('paragraph', text.getAnnotations(AS_WRITTEN), 'comments');
  return { type: 'doc_document', paragraph_count: paragraphs };
}

async function wordText(file: SourceFile, bytes: Uint8Array): Promise<WordText> {
  // @ts-expect-error the package comes without types
  const { default: Extractor } = (await import('word-extractor')) as { default: new () => { extract(from: Buffer): Promise<WordText> } };
  try {
    return await new Extractor().extract(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch (error) {
    throw damagedFile(file, 'its document part cannot be read', error);
  }
}

const linesOf = (content: string): string[] => content.split(/[\n\v]/).filter((line) => line.trim() !== '');

/** Adds paragraphs, and rows of tables, which end with the mark of their last cell; returns the number of paragraphs. */
function writeBody(body: string, options: Metadata, writer: DocumentWriter): number {
  let rows: string[] = [];
  let paragraphs = 0;
  const endTable = (): void => {
    if (options.extract_tables !== false) writer.add('table', rows.join('\n'));
    rows = [];
  };
  for (const line of linesOf(body)) {
    if (line.endsWith('\t'))
      rows.push(
        line
          .slice(0, -1)
          .split('\t')
          .map((cell) => cell.trim())
          .join(' | '),
      );
    else {
      endTable();
      writer.add('paragraph', line);
      paragraphs += 1;
    }
  }
  endTable();
  return paragraphs;
}
