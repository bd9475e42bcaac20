import { createRequire } from 'node:module';
import type Package from '@kenjiuno/msgreader';
import type { FieldsData } from '@kenjiuno/msgreader';
import type { Metadata } from '../contract.js';
import { bytesOf, type DecodedText, decodeText, encodingMetadata } from './bytes.js';
import { damagedFile, type Parser, type SourceFile } from './contract.js';
import { htmlEncoding } from './encodings/declared.js';
import { encodingOfCodePage } from './encodings/names.js';
import { MAIL_DEFAULTS, type Mail, mailDocument, type ParseInner } from './mail.js';

type Reader = InstanceType<typeof Package.default>;

/** Type of a property whose text is in the message's code page. */
const NARROW_TEXT = 0x001e;
const UNKNOWN_TO_LIBRARY = /^(?:iso-2022-|hz-|x-mac-)/;

/** The texts of a message that are not Unicode. */
function narrowTexts(reader: Reader): { fields: FieldsData; bytes: Uint8Array } {
  const texts: Uint8Array[] = [];
  reader.parserConfig = {
    propertyObserver: (_fields, tag, raw) => {
      if ((tag & 0xffff) === NARROW_TEXT && raw) texts.push(raw);
    },
  };
  return { fields: reader.getFileData(), bytes: Buffer.concat(texts) };
}

/** The encoding of texts that are not Unicode: as set, as the code page of the message says, else guessed. */
function narrowEncoding(fields: FieldsData, bytes: Uint8Array, setting: unknown): DecodedText {
  const page = fields.messageCodepage ?? fields.internetCodepage;
  return decodeText(bytes, { setting, declared: page === undefined ? undefined : encodingOfCodePage(page) });
}

async function open(
  file: SourceFile,
  setting: unknown,
): Promise<{ reader: Reader; fields: FieldsData; warnings: string[]; encoding: Metadata }> {
  const bytes = await bytesOf(file);
  // The package is CommonJS of a kind whose default export ESM does not see.
  const { default: Msg } = createRequire(import.meta.url)('@kenjiuno/msgreader') as typeof Package;
  try {
    const buffer = new Uint8Array(bytes).buffer;
    const first = new Msg(buffer);
    const narrow = narrowTexts(first);
    if (narrow.fields.error) throw new Error(narrow.fields.error);
    if (narrow.bytes.length === 0) return { reader: first, fields: narrow.fields, warnings: [], encoding: {} };
    const found = narrowEncoding(narrow.fields, narrow.bytes, setting);
    const reader = new Msg(buffer);
    reader.parserConfig = { ansiEncoding: UNKNOWN_TO_LIBRARY.test(found.encoding) ? 'windows-1252' : found.encoding };
    const { confidence, warning } = found;
    return {
      reader,
      fields: reader.getFileData(),
      warnings: warning === undefined ? [] : [warning],
      encoding: confidence === undefined ? {} : encodingMetadata(found),
    };
  } catch (error) {
    throw damagedFile(file, 'it cannot be read as an Outlook message', error);
  }
}

/** A body of bytes is in the code page for the internet, unless the page names another. */
function htmlOf(fields: FieldsData, setting: unknown): string {
  if (fields.bodyHtml !== undefined || !fields.html) return fields.bodyHtml ?? '';
  const page = fields.internetCodepage ?? fields.messageCodepage;
  const declared = htmlEncoding(fields.html) ?? (page === undefined ? undefined : encodingOfCodePage(page));
  return decodeText(fields.html, { setting, declared }).text;
}

function recipients(fields: FieldsData, kind: string): string[] {
  return (fields.recipients ?? [])
    .filter((one) => (one.recipType ?? 'to') === kind)
    .map((one) => (one.name && one.smtpAddress ? `${one.name} <${one.smtpAddress}>` : (one.smtpAddress ?? one.email ?? one.name ?? '')));
}

function mailOf(reader: Reader, fields: FieldsData, setting: unknown): Omit<Mail, 'warnings' | 'encoding'> {
  const attachments = (fields.attachments ?? []).map((one, index) => {
    const { fileName, content } = reader.getAttachment(one);
    return { name: fileName || `attachment ${index + 1}`, mimeType: one.attachMimeTag ?? 'application/octet-stream', bytes: content };
  });
  const address = fields.senderSmtpAddress ?? fields.creatorSMTPAddress ?? fields.senderEmail ?? '';
  return {
    subject: fields.subject ?? '',
    from: fields.senderName && address ? `${fields.senderName} <${address}>` : (fields.senderName ?? address),
    to: recipients(fields, 'to'),
    cc: recipients(fields, 'cc'),
    date: fields.messageDeliveryTime ?? fields.clientSubmitTime ?? '',
    messageId: fields.messageId ?? '',
    text: fields.body ?? '',
    html: htmlOf(fields, setting),
    attachments,
  };
}

/** Outlook messages (MSG). `inner` reads attachments. */
export const msgParser = (inner: ParseInner): Parser => ({
  id: 'msg',
  defaults: { MsgParser_ExtractMsg: MAIL_DEFAULTS, MsgParser: MAIL_DEFAULTS },
  extensions: ['.msg'],
  mimeTypes: ['application/vnd.ms-outlook'],
  async parse(file, options, limits) {
    const { reader, fields, warnings, encoding } = await open(file, options.encoding);
    return mailDocument(file, { ...mailOf(reader, fields, options.encoding), warnings, encoding }, options, limits, inner);
  },
});
