import type { Address } from 'postal-mime';
import { bytesOf } from './bytes.js';
import type { Parser } from './contract.js';
import { MAIL_DEFAULTS, mailDocument, type ParseInner } from './mail.js';
import { damaged } from './refusals.js';

const NESTING_LIMIT = 64;

function shown(address: Address | undefined): string[] {
  if (!address) return [];
  return (address.group ?? [address]).map(({ name, address: mailbox = '' }) =>
    name && mailbox ? `${name} <${mailbox}>` : mailbox || name,
  );
}

/** Mails as the internet carries them (EML). `inner` reads attachments. */
export const emlParser = (inner: ParseInner): Parser => ({
  id: 'eml',
  defaults: { EMLParser: MAIL_DEFAULTS },
  extensions: ['.eml', '.mht', '.mhtml'],
  mimeTypes: ['message/rfc822'],
  readsText: true,
  async parse(file, options, limits) {
    const { default: PostalMime } = await import('postal-mime');
    const mail = await PostalMime.parse(await bytesOf(file), { maxNestingDepth: NESTING_LIMIT }).catch((error: unknown) => {
      throw damaged(file, 'it cannot be read as a mail', error);
    });
    if (mail.headers.length === 0) throw damaged(file, 'it has no mail headers');
    const attachments = mail.attachments.map((one, index) => ({
      name: one.filename ?? `attachment ${index + 1}`,
      mimeType: one.mimeType,
      bytes: typeof one.content === 'string' ? Buffer.from(one.content) : new Uint8Array(one.content as ArrayBuffer),
    }));
    const { subject = '', date = '', messageId = '', text = '', html = '' } = mail;
    const to = (mail.to ?? []).flatMap(shown);
    const cc = (mail.cc ?? []).flatMap(shown);
    return mailDocument(
      file,
      { subject, from: shown(mail.from)[0] ?? '', to, cc, date, messageId, text, html, attachments },
      options,
      limits,
      inner,
    );
  },
});
