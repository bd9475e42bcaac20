import { createRequire } from 'node:module';
import type Package from '@kenjiuno/msgreader';
import type { FieldsData } from '@kenjiuno/msgreader';
import { bytesOf, decoded } from './bytes.js';
import type { Parser, SourceFile } from './contract.js';
import { MAIL_DEFAULTS, type Mail, mailDocument, type ParseInner } from './mail.js';
import { damaged } from './refusals.js';

type Reader = InstanceType<typeof Package.default>;

async function open(file: SourceFile): Promise<{ reader: Reader; fields: FieldsData }> {
  const bytes = await bytesOf(file);
  // The package is CommonJS of a kind whose default export ESM does not see.
  const { default: Msg } = createRequire(import.meta.url)('@kenjiuno/msgreader') as typeof Package;
  try {
    const reader = new Msg(new Uint8Array(bytes).buffer);
    const fields = reader.getFileData();
    if (fields.error) throw new Error(fields.error);
    return { reader, fields };
  } catch (error) {
    throw damaged(file, 'it cannot be read as an Outlook message', error);
  }
}

function recipients(fields: FieldsData, kind: string): string[] {
  return (fields.recipients ?? [])
    .filter((one) => (one.recipType ?? 'to') === kind)
    .map((one) => (one.name && one.smtpAddress ? `${one.name} <${one.smtpAddress}>` : (one.smtpAddress ?? one.email ?? one.name ?? '')));
}

function mailOf(reader: Reader, fields: FieldsData, encoding: unknown): Mail {
  const attachments = (fields.attachments ?? []).map((one, index) => {
    const { fileName, content } = reader.getAttachment(one);
    return { name: fileName || `attachment ${index + 1}`, mimeType: one.attachMimeTag ?? 'application/octet-stream', bytes: content };
  });
  const address = fields.senderSmtpAddress ?? fields.creatorSMTPAddress ?? fields.senderEmail ?? '';
  const html = fields.bodyHtml ?? (fields.html ? decoded(fields.html, typeof encoding === 'string' ? encoding : undefined).text : '');
  return {
    subject: fields.subject ?? '',
    from: fields.senderName && address ? `${fields.senderName} <${address}>` : (fields.senderName ?? address),
    to: recipients(fields, 'to'),
    cc: recipients(fields, 'cc'),
    date: fields.messageDeliveryTime ?? fields.clientSubmitTime ?? '',
    messageId: fields.messageId ?? '',
    text: fields.body ?? '',
    html,
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
    const { reader, fields } = await open(file);
    return mailDocument(file, mailOf(reader, fields, options.encoding), options, limits, inner);
  },
});
