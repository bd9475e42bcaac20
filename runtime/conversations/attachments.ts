import { Failure } from '../../schemas/errors.js';
import type { Attachment, DocumentText } from '../../schemas/generated/core/conversations.js';
import { readDataUrl } from '../base/base64.js';
import { quote } from '../base/names.js';
import type { SourceFile } from '../documents/parsers/contract.js';
import type { Parsing } from '../documents/parsing/parsing.js';
import type { ConversationFile } from '../store/records.js';
import type { Batch } from '../store/store.js';
import { attachmentId } from './ids.js';

/** Of one attachment. */
export const FILE_BYTES = 12 * 1024 * 1024;
/** Of a document's text that goes with a message; what is longer belongs into a dataset. */
const TEXT_CHARACTERS = 1_000_000;
/** Passages overlap, so that those of a text are longer than it is. */
const MOST = { passages: 100_000, characters: 2 * TEXT_CHARACTERS };
const ID = /(?:^|\/)(att_[A-Za-z0-9_-]{22})(?:\?|$)/;

/** A file of a request, taken out of its address. */
export interface NewFile {
  readonly id: string;
  readonly file: ConversationFile;
}

/** The id of an attachment in the address that this server gave it. */
function attachmentIdOf(url: string): string | undefined {
  return url.length < 2_000 ? ID.exec(url)?.[1] : undefined;
}

/** The files that come with a message, and the attachments as its record has them. Throws `bad_request` and `too_large`. */
export function takeFiles(
  given: readonly Attachment[],
  addressOf: (id: string) => string,
  known: (id: string) => boolean,
): { attachments: Attachment[]; files: NewFile[] } {
  const files: NewFile[] = [];
  const attachments = given.map((one): Attachment => {
    const { name, media_type, url, text } = one;
    const words = text === undefined ? {} : { text };
    const id = attachmentIdOf(url);
    if (id !== undefined && known(id)) return { id, name, media_type, url: addressOf(id), ...words };
    const taken = { id: attachmentId(), file: { name, mediaType: media_type.toLowerCase(), bytes: bytesOf(one) } };
    files.push(taken);
    return { id: taken.id, name, media_type: taken.file.mediaType, url: addressOf(taken.id), ...words };
  });
  return { attachments, files };
}

/** Writes files down; returns their bytes. */
export function putFiles(batch: Batch, conversation: string, files: readonly NewFile[]): number {
  for (const { id, file } of files) batch.put('conversationFiles', [conversation, id], file);
  return files.reduce((sum, { file }) => sum + file.bytes.length, 0);
}

/**
 * Reads the text of a document that a message is to come with. Throws `invalid` for one that is damaged, protected, without text or in a format that no
 * parser reads, and `too_large` where its text is too long for a message.
 */
export async function readDocument(parsing: Pick<Parsing, 'parse'>, file: SourceFile, signal: AbortSignal): Promise<DocumentText> {
  const { name, mimeType } = file;
  const { text, passages, totals, warnings } = await parsing.parse({ file, strategy: { name, parsers: [{ type: 'auto' }] } }, signal, MOST);
  if (passages.length < totals.passages || text.length > TEXT_CHARACTERS) {
    const message = `${quote(name)} has more than ${TEXT_CHARACTERS} characters of text, which is too much for one message. Add it to a dataset instead.`;
    throw new Failure('too_large', message, { code: 'TooMuchText' });
  }
  return { name, media_type: mimeType, text, warnings: [...warnings] };
}

function bytesOf({ name, url }: Attachment): Uint8Array {
  const content = readDataUrl(url);
  if (content === undefined) {
    const message = `The attachment ${quote(name)} has the address ${quote(url)}: give a data: address, or that of an attachment of this conversation.`;
    throw new Failure('bad_request', message, { code: 'InvalidAttachment' });
  }
  const bytes = content.isBase64 ? Buffer.from(content.data, 'base64') : Buffer.from(withoutPercentCodes(content.data, name));
  if (bytes.length <= FILE_BYTES) return bytes;
  throw new Failure('too_large', `The attachment ${quote(name)} has ${bytes.length} bytes; the limit is ${FILE_BYTES} (12 MiB).`);
}

function withoutPercentCodes(text: string, name: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Failure('bad_request', `The data: address of the attachment ${quote(name)} has a broken percent code.`, {
      code: 'InvalidAttachment',
    });
  }
}
