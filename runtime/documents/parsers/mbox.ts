import { Failure } from '../../../schemas/errors.js';
import { bytesOf } from './bytes.js';
import { damagedFile, type Parser } from './contract.js';
import { mailOf } from './eml.js';
import { MAIL_DEFAULTS, mailDocument, type ParseInner } from './mail.js';
import { DocumentWriter } from './writer.js';

const MESSAGE_LIMIT = 100_000;
// A line that separates stands at the start or behind a blank line, and a header follows it.
const SEPARATOR = /(?:^|(?<=\n\r?\n))From [^\n]{1,500}\n(?=>?[!-9;-~]{1,200}:)/g;
const QUOTED_SEPARATOR = /^>(?=>{0,100}From )/gm;

/** The messages of a mailbox, without the lines that separate them. */
function messagesOf(bytes: Uint8Array): Uint8Array[] {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const starts = [...source.matchAll(SEPARATOR)].map((match) => ({ line: match.index, message: match.index + match[0].length }));
  return starts.map(({ message }, at) =>
    Buffer.from(source.slice(message, starts[at + 1]?.line ?? source.length).replace(QUOTED_SEPARATOR, ''), 'latin1'),
  );
}

/** Mailboxes (MBOX): every message apart, with its headers as the metadata of its chunks. `inner` reads attachments. */
export const mboxParser = (inner: ParseInner): Parser => ({
  id: 'mbox',
  defaults: { MboxParser: MAIL_DEFAULTS },
  extensions: ['.mbox', '.mbx'],
  mimeTypes: ['application/mbox'],
  readsText: true,
  async parse(file, options, limits) {
    const messages = messagesOf(await bytesOf(file));
    if (messages.length === 0) throw damagedFile(file, 'it has no line that begins a message ("From " and an address, then the headers)');
    const writer = new DocumentWriter(file.name, limits);
    for (const [index, bytes] of messages.slice(0, MESSAGE_LIMIT).entries()) {
      const number = index + 1;
      try {
        const mail = await mailOf(file, bytes, options.encoding);
        const document = await mailDocument(file, mail, options, limits, inner);
        writer.append(document, { ...document.metadata, message_number: number });
      } catch (error) {
        if (!(error instanceof Failure) || error.code === 'too_much_text') throw error;
        writer.warnings.push(`Message ${number} was not read: ${error.message}`);
      }
    }
    if (messages.length > MESSAGE_LIMIT) writer.warnings.push(`Only the first ${MESSAGE_LIMIT} of ${messages.length} messages were read.`);
    return writer.finish(options.extract_metadata === false ? {} : { type: 'mailbox', message_count: messages.length });
  },
});
