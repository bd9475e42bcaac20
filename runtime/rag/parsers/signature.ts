import { entriesOf } from './archive.js';
import type { SourceFile } from './contract.js';
import { markedEncoding, unmarkedUtf16 } from './encodings/wide.js';
import { locked } from './refusals.js';

/** What the first bytes of a file say it is: a parser's id, any text, or a known format that no parser reads. */
export type Signature =
  | { readonly kind: 'format'; readonly parser: string; readonly label: string }
  | { readonly kind: 'text' }
  | { readonly kind: 'unread'; readonly label: string };

const format = (parser: string, label: string): Signature => ({ kind: 'format', parser, label });
const unread = (label: string): Signature => ({ kind: 'unread', label });

/** Signatures of formats that are not documents; from the formats' own specifications. */
const UNREAD: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'a PNG image'],
  ['ffd8ff', 'a JPEG image'],
  ['47494638', 'a GIF image'],
  ['49492a00', 'a TIFF image'],
  ['4d4d002a', 'a TIFF image'],
  ['1f8b', 'a gzip archive'],
  ['377abcaf271c', 'a 7z archive'],
  ['526172211a07', 'a RAR archive'],
  ['425a68', 'a bzip2 archive'],
  ['fd377a585a00', 'an xz archive'],
  ['28b52ffd', 'a Zstandard archive'],
  ['7f454c46', 'a program'],
  ['4d5a9000', 'a program'],
  ['cafebabe', 'a Java class'],
  ['53514c69746520666f726d6174203300', 'an SQLite database'],
  ['4f676753', 'an Ogg recording'],
  ['494433', 'an MP3 recording'],
  ['664c6143', 'a FLAC recording'],
  ['47475546', 'a GGUF model'],
];
const LOOKED_AT = 8192;
/** The line with address and time that begins the first message of a mailbox, and a header below it. */
const MAILBOX = /^From \S[^\n]{0,200}\d\d:\d\d[^\n]{0,100}\n[!-9;-~]{1,100}:/;
/** Control characters beyond this share make it no text. */
const CONTROL_SHARE = 0.1;

function archiveSignature(file: SourceFile, bytes: Uint8Array): Signature {
  const paths = new Set(entriesOf(file.name, bytes).map((entry) => entry.path));
  if (paths.has('word/document.xml')) return format('docx', 'a Word document');
  if (paths.has('xl/workbook.xml') || paths.has('xl/workbook.bin')) return format('xlsx', 'an Excel workbook');
  if (paths.has('ppt/presentation.xml')) return format('pptx', 'a PowerPoint presentation');
  if (paths.has('META-INF/container.xml')) return format('epub', 'an EPUB book');
  if (paths.has('content.xml')) return format('odf', 'an OpenDocument');
  return unread('a ZIP archive; unpack it and add the files');
}

/** Names in a compound file stand in UTF-16 in its directory, which may be anywhere in it. */
function compoundSignature(file: SourceFile, bytes: Uint8Array): Signature {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const has = (name: string): boolean => buffer.includes(Buffer.from(name, 'utf16le'));
  if (has('EncryptedPackage')) throw locked(file);
  if (has('__properties_version1.0')) return format('msg', 'an Outlook message');
  if (has('WordDocument')) return unread('a Word 97 document; save it as DOCX');
  if (has('PowerPoint Document')) return unread('a PowerPoint 97 presentation; save it as PPTX');
  if (has('Workbook') || has('Book')) return format('xlsx', 'an Excel workbook');
  return unread('a compound file of an unknown kind');
}

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

/** Looks at the content, never at the name. Throws `Failure('invalid')` for archives that are damaged or locked. */
export function signatureOf(file: SourceFile, bytes: Uint8Array): Signature {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024));
  const hex = head.subarray(0, 16).toString('hex');
  if (head.includes('%PDF-')) return format('pdf', 'a PDF');
  if (hex.startsWith('504b0304') || hex.startsWith('504b0506')) return archiveSignature(file, bytes);
  if (hex.startsWith('d0cf11e0a1b11ae1')) return compoundSignature(file, bytes);
  if (head.subarray(0, 5).toString('latin1') === '{\\rtf') return format('rtf', 'an RTF document');
  if (MAILBOX.test(head.toString('latin1'))) return format('mbox', 'a mailbox');
  const known = UNREAD.find(([start]) => hex.startsWith(start));
  if (known) return unread(known[1]);
  if (hex.startsWith('52494646')) return unread('a RIFF file, such as a WAV recording or a WebP image');
  if (head.subarray(4, 8).toString('latin1') === 'ftyp') return unread('a video or HEIF image');
  return isText(bytes) ? { kind: 'text' } : unread('binary content of an unknown kind');
}
