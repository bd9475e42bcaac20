/** Files that go with a question: pictures and sounds as they are, texts as text, documents with the text that the daemon reads in them. */
import type { Attachment, DocumentText } from '$schemas/core/conversations';
import { upload } from '../../lib/api';
import { size } from '../../lib/format';

/** The most bytes of a file, which is what the daemon takes. */
const MOST_BYTES = 12 * 1024 * 1024;
export const MOST_FILES = 16;
/** The most bytes of a text that goes with a question; longer texts belong into a dataset. */
const MOST_TEXT_BYTES = 1024 * 1024;
const PICTURES = /^image\/(?:png|jpeg|webp|gif)$/;
/** Endings of documents that may be texts themselves, and say more to those who know their form. */
const DOCUMENTS = /^(?:pdf|rtf|eml|mbox|ipynb)$/;
const SOUNDS: Readonly<Record<string, string>> = { wav: 'audio/wav', mp3: 'audio/mpeg' };

/** What an attachment is to the reader. */
export const kindOf = ({ media_type: type }: Attachment): 'picture' | 'sound' | 'document' =>
  type.startsWith('image/') ? 'picture' : type.startsWith('audio/') ? 'sound' : 'document';

/** How a document is read by the daemon. */
export interface Reading {
  /** The path of the project that the question is for. */
  readonly place: string;
  readonly signal: AbortSignal;
  /** Told what part of the file the daemon has, 0 to 1. */
  progress(part: number): void;
}

/** The attachment of a file. Throws a sentence where such a file cannot go with a question. */
export async function attachmentOf(file: File, reading: Reading): Promise<Attachment> {
  const name = (file.name || 'pasted').slice(0, 255);
  if (file.size > MOST_BYTES)
    throw new Error(`"${name}" has ${size(file.size)}; a question takes files of ${size(MOST_BYTES)}. Add it to a dataset instead.`);
  if (file.size === 0) throw new Error(`"${name}" is empty.`);
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const sound = SOUNDS[ending] ?? (file.type === 'audio/wav' || file.type === 'audio/mpeg' ? file.type : undefined);
  const type = PICTURES.test(file.type) ? file.type : sound;
  if (type !== undefined) return { name, media_type: type, url: await addressOf(file, type) };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = DOCUMENTS.test(ending) ? undefined : textOf(bytes);
  if (text === undefined) return documentOf(file, name, reading);
  if (bytes.length > MOST_TEXT_BYTES)
    throw new Error(`"${name}" has ${size(bytes.length)} of text, too much for one question. Add it to a dataset instead.`);
  return { name, media_type: 'text/plain', url: await addressOf(new Blob([bytes]), 'text/plain'), text };
}

/** The attachment of a document, whose text the daemon reads. */
async function documentOf(file: File, name: string, { place, signal, progress }: Reading): Promise<Attachment> {
  progress(0);
  const form = new FormData();
  form.append('file', file, name);
  const read = await upload<DocumentText>(`${place}/conversations/documents`, form, progress, signal);
  return { name, media_type: read.media_type, url: await addressOf(file, read.media_type), text: read.text };
}

/** The text of bytes that are UTF-8; undefined for others. */
export function textOf(bytes: Uint8Array | ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The bytes of a `data:` address of base64; the page's policy lets nothing fetch one. */
export function blobOf(url: string): Blob {
  const [, type = '', base64 = ''] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  return new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type });
}

/** Bytes as a `data:` address of this media type. */
function addressOf(file: Blob, type: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(`data:${type};base64,${String(reader.result).replace(/^[^,]*,/, '')}`);
    reader.onerror = () => reject(new Error('The file could not be read. It may have been moved or changed.'));
    reader.readAsDataURL(file);
  });
}
