import { entriesOf } from './archive.js';
import { isCompound, openCompound } from './compound.js';
import { lockedFile, type SourceFile } from './contract.js';
import { markedEncoding, unmarkedUtf16 } from './encodings/declared.js';

/** What the content of a file says it is: a parser's id, any text, or a known format that no parser reads. */
export type Signature =
  | { readonly kind: 'format'; readonly parser: string; readonly label: string }
  | { readonly kind: 'text' }
  | {
      readonly kind: 'unread';
      readonly label: string;
      /** What to do instead; may be empty. */
      readonly remedy: string;
    };

/** The first records of Excel 2, 3 and 4, which kept sheets without a container. */
const EARLY_WORKBOOK = /^(?:09000400|09020600|09040600)/;
const HEAD_BYTES = 4096;
const LOOKED_AT = 8192;
/** The line with address and time that begins the first message of a mailbox, and a header below it. */
const MAILBOX = /^From \S[^\n]{0,200}\d\d:\d\d[^\n]{0,100}\n[!-9;-~]{1,100}:/;

/** Texts that begin so are workbooks, in Excel's first XML and in Multiplan's exchange format. */
const WORKBOOK_TEXT =
  /^(?:\ufeff|\u00ef\u00bb\u00bf)?(?:ID;P|\s*<\?xml\b[\s\S]{0,2000}?<(?:\w+:)?Workbook\b[^>]*urn:schemas-microsoft-com:office:spreadsheet)/;

const EXPORT_TEXT = 'export it as PDF or DOCX';
const EXPORT_TABLE = 'export it as XLSX or CSV';
const EXPORT_PAGES = 'export it as PDF';
const UNPACK = 'unpack it and add the files';

/** Signatures of formats that are not documents, or not read; from the formats' own specifications. */
const UNREAD: readonly (readonly [start: string, label: string, remedy?: string])[] = [
  ['89504e470d0a1a0a', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['47494638', 'a GIF image'],
  ['49492a00', 'a TIFF image'],
  ['4d4d002a', 'a TIFF image'],
  ['1f8b', 'a gzip archive', UNPACK],
  ['377abcaf271c', 'a 7z archive', UNPACK],
  ['526172211a07', 'a RAR archive', UNPACK],
  ['425a68', 'a bzip2 archive', UNPACK],
  ['fd377a585a00', 'an xz archive', UNPACK],
  ['28b52ffd', 'a Zstandard archive', UNPACK],
  ['7f454c46', 'a program'],
  ['4d5a9000', 'a program'],
  ['cafebabe', 'a Java class'],
  ['53514c69746520666f726d6174203300', 'an SQLite database', EXPORT_TABLE],
  ['000100005374616e64617264204a6574', 'an Access database', EXPORT_TABLE],
  ['47475546', 'a GGUF model'],
  ['49545346', 'a compiled HTML help file (CHM)', 'extract its HTML pages and add those'],
  ['ff575043', 'a WordPerfect document', EXPORT_TEXT],
  ['41542654464f524d', 'a DjVu document', EXPORT_PAGES],
  ['e4525c7b8cd8a74d', 'a OneNote section', EXPORT_TEXT],
  ['48575020446f63756d656e742046696c65', 'a Hangul document (HWP)', EXPORT_TEXT],
];

/** Beginnings of recordings: Ogg, MP3 with and without a tag, FLAC, WebM. */
const RECORDINGS = /^(?:4f676753|494433|fff[23ab]|664c6143|1a45dfa3|52494646.{8}57415645)/;

const format = (parser: string, label: string): Signature => ({ kind: 'format', parser, label });

const RECORDING = format('audio', 'a recording');

/** The kinds of MP4 files that are pictures. */
const PICTURES = /^(?:heic|heix|hevc|heim|heis|mif1|msf1|avif|avis)/;

/** Looks at the content; a name only says which of a family a file is. Throws `Failure('invalid')` for archives that are damaged or locked. */
export async function signatureOf(file: SourceFile, bytes: Uint8Array): Promise<Signature> {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES));
  const hex = head.subarray(0, 32).toString('hex');
  const start = head.toString('latin1');
  if (start.slice(0, 1024).includes('%PDF-')) return format('pdf', 'a PDF');
  if (hex.startsWith('504b0304') || hex.startsWith('504b0506')) return archiveSignature(file, bytes);
  if (isCompound(bytes)) return compoundSignature(file, bytes);
  if (start.startsWith('{\\rtf')) return format('rtf', 'an RTF document');
  if (MAILBOX.test(start)) return format('mbox', 'a mailbox');
  if (EARLY_WORKBOOK.test(hex) || WORKBOOK_TEXT.test(start)) return format('xlsx', 'an Excel workbook');
  const known = UNREAD.find(([beginning]) => hex.startsWith(beginning));
  if (known) return unread(known[1], known[2]);
  if (RECORDINGS.test(hex)) return RECORDING;
  if (hex.startsWith('52494646')) return unread('a RIFF file, such as a WebP image');
  if (start.slice(4, 8) === 'ftyp') return PICTURES.test(start.slice(8, 12)) ? unread('a HEIF image') : RECORDING;
  if (start.slice(60, 68) === 'BOOKMOBI') return unread('a Kindle book', 'convert it to EPUB');
  return isText(bytes) ? { kind: 'text' } : unread('binary content of an unknown kind');
}

const unread = (label: string, remedy = ''): Signature => ({ kind: 'unread', label, remedy });

/** Paths of entries that tell what an archive is, the telling ones first. */
const ARCHIVES: readonly (readonly [path: string, signature: Signature])[] = [
  ['word/document.xml', format('docx', 'a Word document')],
  ['xl/workbook.xml', format('xlsx', 'an Excel workbook')],
  ['xl/workbook.bin', format('xlsx', 'an Excel workbook')],
  ['ppt/presentation.xml', format('pptx', 'a PowerPoint presentation')],
  ['Contents/section0.xml', unread('a Hangul document (HWPX)', EXPORT_TEXT)],
  ['META-INF/container.xml', format('epub', 'an EPUB book')],
  ['content.xml', format('odf', 'an OpenDocument')],
  ['FixedDocumentSequence.fdseq', unread('an XPS document', EXPORT_PAGES)],
  ['visio/document.xml', unread('a Visio drawing', EXPORT_PAGES)],
];

function archiveSignature(file: SourceFile, bytes: Uint8Array): Signature {
  const paths = entriesOf(file.name, bytes).map((entry) => entry.path);
  const known = new Set(paths);
  const found = ARCHIVES.find(([path]) => known.has(path));
  if (found) return found[1];
  // Apple's programs keep their objects in such parts, whatever the document.
  if (paths.some((path) => /\.iwa$|^Index\.zip$|^index\.apxl$/.test(path))) return appleSignature(file, paths);
  return unread('a ZIP archive', UNPACK);
}

function appleSignature(file: SourceFile, paths: readonly string[]): Signature {
  if (/\.key$/i.test(file.name) || paths.some((path) => /^Index\/(?:Slide|MasterSlide)/.test(path)))
    return unread('a Keynote presentation', 'export it as PDF or PPTX');
  if (/\.numbers$/i.test(file.name)) return unread('a Numbers spreadsheet', EXPORT_TABLE);
  return unread(/\.pages$/i.test(file.name) ? 'a Pages document' : 'a document of Pages, Numbers or Keynote', EXPORT_TEXT);
}

/** Names of the outermost parts of compound files that tell what they are. */
const COMPOUNDS: readonly (readonly [name: string, signature: Signature])[] = [
  ['__PROPERTIES_VERSION1.0', format('msg', 'an Outlook message')],
  ['WORDDOCUMENT', format('docx', 'a Word 97 document')],
  ['POWERPOINT DOCUMENT', format('pptx', 'a PowerPoint 97 presentation')],
  ['WORKBOOK', format('xlsx', 'an Excel workbook')],
  ['BOOK', format('xlsx', 'an Excel workbook')],
  ['HWPSUMMARYINFORMATION', unread('a Hangul document (HWP)', EXPORT_TEXT)],
  ['BODYTEXT', unread('a Hangul document (HWP)', EXPORT_TEXT)],
  ['VISIODOCUMENT', unread('a Visio drawing', EXPORT_PAGES)],
  ['QUILL', unread('a Publisher document', EXPORT_PAGES)],
  ['MATOST', unread('a Works document', EXPORT_TEXT)],
  ['PERFECTOFFICE_MAIN', unread('a WordPerfect Office document', EXPORT_TEXT)],
];

async function compoundSignature(file: SourceFile, bytes: Uint8Array): Promise<Signature> {
  const { names } = await openCompound(file, bytes);
  if (names.has('ENCRYPTEDPACKAGE')) throw lockedFile(file);
  return COMPOUNDS.find(([name]) => names.has(name))?.[1] ?? unread('a compound file of an unknown kind');
}

/** Control characters beyond this share make it no text. */
const CONTROL_SHARE = 0.1;

function isText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, LOOKED_AT);
  if (markedEncoding(head) || unmarkedUtf16(head)) return true;
  let controls = 0;
  for (const byte of head) {
    if (byte === 0) return false;
    // The shifts of ISO 2022 belong to a text.
    if (byte < 9 || (byte > 15 && byte < 27)) controls += 1;
  }
  return controls <= head.length * CONTROL_SHARE;
}
