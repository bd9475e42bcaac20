import type { Address } from 'postal-mime';
import { bytesOf } from './bytes.js';
import { damagedFile, type Parser, type SourceFile } from './contract.js';
import { MAIL_DEFAULTS, type Mail, mailDocument, type ParseInner } from './mail.js';
import { mailInUtf8 } from './mail-in-utf8.js';

const NESTING_LIMIT = 64;

/** Mails as the internet carries them (EML). `inner` reads attachments. */
export const emlParser = (inner: ParseInner): Parser => ({
  id: 'eml',
  defaults: { EMLParser: MAIL_DEFAULTS },
  extensions: ['.eml', '.mht', '.mhtml'],
  mimeTypes: ['message/rfc822'],
  readsText: true,
  async parse(file, options, limits) {
    return mailDocument(file, await mailOf(file, await bytesOf(file), options.encoding), options, limits, inner);
  },
});

/** Reads a mail from its bytes. Throws `Failure('invalid')` for what is none. */
export async function mailOf(file: SourceFile, bytes: Uint8Array, setting: unknown): Promise<Mail> {
  const { default: PostalMime } = await import('postal-mime');
  const { bytes: source, warnings, encoding } = mailInUtf8(bytes, setting);
  const mail = await PostalMime.parse(source, { maxNestingDepth: NESTING_LIMIT }).catch((error: unknown) => {
    throw damagedFile(file, 'it cannot be read as a mail', error);
  });
  if (mail.headers.length === 0) throw damagedFile(file, 'it has no mail headers');
  const attachments = mail.attachments.map((one, index) => ({
    name: one.filename ?? `attachment ${index + 1}`,
    mimeType: one.mimeType,
    bytes: typeof one.content === 'string' ? Buffer.from(one.content) : new Uint8Array(one.content as ArrayBuffer),
  }));
  const { subject = '', date = '', messageId = '', text = '', html = '' } = mail;
  const to = (mail.to ?? []).flatMap(renderAddresses);
  const cc = (mail.cc ?? []).flatMap(renderAddresses);
  return { subject, from: renderAddresses(mail.from)[0] ?? '', to, cc, date, messageId, text, html, attachments, warnings, encoding };
}

function renderAddresses(address: Address | undefined): string[] {
  if (!address) return [];
  return (address.group ?? [address]).map(({ name, address: mailbox = '' }) =>
    name && mailbox ? `${name} <${mailbox}>` : mailbox || name,
  );
}
