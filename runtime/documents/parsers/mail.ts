import type { Metadata } from '../contract.js';
import { cleanText } from './bytes.js';
import type { ParsedDocument, ParseLimits, SourceFile } from './contract.js';
import { writeHtml } from './html-blocks.js';
import { writeParagraphs } from './text.js';
import { DocumentWriter, presentMembers } from './writer.js';

/** Options of mail, with their defaults. */
export const MAIL_DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'email_sections',
  extract_metadata: true,
  extract_attachments: true,
  extract_headers: true,
  include_attachment_content: true,
  clean_text: true,
  preserve_formatting: false,
  encoding: 'utf-8',
};
const ATTACHMENT_LIMIT = 100;

/** Reads a file inside another one, by its name and content. */
export type ParseInner = (file: SourceFile, limits: ParseLimits) => Promise<ParsedDocument>;

/** A mail, whatever file it came in. */
export interface Mail {
  readonly subject: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly date: string;
  readonly messageId: string;
  readonly text: string;
  readonly html: string;
  readonly attachments: readonly { readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array }[];
  /** Of texts whose encoding is not sure. */
  readonly warnings: readonly string[];
  /** What metadata says of the encoding where it was guessed. */
  readonly encoding: Metadata;
}

function headerLines(mail: Mail): string {
  const named = { Subject: mail.subject, From: mail.from, To: mail.to.join(', '), Cc: mail.cc.join(', '), Date: mail.date };
  return Object.entries(named)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

async function writeAttachments(
  mail: Mail,
  options: Metadata,
  limits: ParseLimits,
  writer: DocumentWriter,
  inner: ParseInner,
): Promise<void> {
  for (const { name, mimeType, bytes } of mail.attachments.slice(0, ATTACHMENT_LIMIT)) {
    const metadata = { section: 'attachment', attachment: name };
    if (options.include_attachment_content === false) {
      writer.add('paragraph', `Attachment: ${name} (${bytes.length} bytes)`, { apart: true, metadata });
      continue;
    }
    try {
      writer.append(await inner({ path: '', name, mimeType, sizeBytes: bytes.length, bytes }, limits), metadata);
    } catch (error) {
      writer.warnings.push(`The attachment ${name} was not read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (mail.attachments.length > ATTACHMENT_LIMIT)
    writer.warnings.push(`Only the first ${ATTACHMENT_LIMIT} of ${mail.attachments.length} attachments were read.`);
}

/** The document of a mail: its headers, its body and its attachments, each a section. */
export async function mailDocument(
  file: SourceFile,
  mail: Mail,
  options: Metadata,
  limits: ParseLimits,
  inner: ParseInner,
): Promise<ParsedDocument> {
  const writer = new DocumentWriter(file.name, limits);
  writer.warnings.push(...mail.warnings);
  if (options.extract_headers !== false) writer.add('header', headerLines(mail), { apart: true, metadata: { section: 'headers' } });
  const body = new DocumentWriter(file.name, limits);
  if (mail.text.trim() !== '') writeParagraphs(options.clean_text === false ? mail.text : cleanText(mail.text), body);
  else writeHtml(mail.html, body, { tables: true, images: false, formatting: options.preserve_formatting === true });
  writer.append(body.finish({}), { section: 'body' });
  if (options.extract_attachments !== false) await writeAttachments(mail, options, limits, writer, inner);
  if (options.extract_metadata === false) return writer.finish({});
  return writer.finish(
    presentMembers({
      type: 'email',
      title: mail.subject,
      author: mail.from,
      sender: mail.from,
      recipients: [...mail.to, ...mail.cc],
      date: mail.date,
      message_id: mail.messageId,
      attachments: mail.attachments.map((one) => one.name),
      ...mail.encoding,
    }),
  );
}
