import type { Attachment, Message } from '../../../schemas/generated/core/conversations.js';
import { breathe } from '../../base/loop.js';
import type { ConversationFile } from '../../store/records.js';
import { type ConversationRecords, type Head, type Place, shownHead } from '../records.js';

/** What the files of ours say they are. */
export const FORMAT = 'quern-conversation';
/** A piece has at least so many. */
const PIECE_CHARACTERS = 64 * 1024;
/** Bytes of a file at a time; a multiple of three, which Base64 takes. */
const FILE_STRETCH = 96 * 1024;
const NAMES: Readonly<Record<Message['role'], string>> = { user: 'User', assistant: 'Assistant', tool: 'Tool', system: 'System' };

/** A conversation as one line of JSON, attachments included, piece by piece. */
export function exportedJson(records: ConversationRecords, head: Head): AsyncIterable<Buffer> {
  return inPieces(jsonTexts(records, head));
}

/** Texts as pieces that are worth a write each. */
async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<Buffer, void, undefined> {
  let waiting: string[] = [];
  let characters = 0;
  for await (const text of texts) {
    waiting.push(text);
    characters += text.length;
    if (characters < PIECE_CHARACTERS) continue;
    yield Buffer.from(waiting.join(''));
    waiting = [];
    characters = 0;
  }
  if (characters > 0) yield Buffer.from(waiting.join(''));
}

async function* jsonTexts(records: ConversationRecords, head: Head): AsyncGenerator<string, void, undefined> {
  const { id, title, created_at, updated_at, pinned, archived, current, settings } = shownHead(head);
  const about = { id, title, created_at, updated_at, pinned, archived, current, settings };
  yield `{"format":"${FORMAT}","version":1,"conversation":${JSON.stringify(about)},"messages":[`;
  let isFirst = true;
  for await (const { message, between } of records.messages(id)) {
    const { attachments = [], ...rest } = message;
    const whole = JSON.stringify({ ...rest, ...(between ? { between } : {}) });
    yield `${isFirst ? '' : ','}${whole.slice(0, -1)}`;
    for (const [at, one] of attachments.entries()) {
      yield at === 0 ? ',"attachments":[' : ',';
      yield* fileTexts(one, records.store.conversationFiles.get([id, one.id ?? '']));
    }
    yield attachments.length > 0 ? ']}' : '}';
    isFirst = false;
    await breathe();
  }
  yield ']}\n';
}

/** An attachment with its bytes, some of them at a time. */
async function* fileTexts(
  { name, media_type, text }: Attachment,
  file: ConversationFile | undefined,
): AsyncGenerator<string, void, undefined> {
  const about = JSON.stringify({ name, media_type, ...(text === undefined ? {} : { text }) });
  yield `${about.slice(0, -1)},"url":"data:${file?.mediaType ?? ''};base64,`;
  const bytes = Buffer.from(file?.bytes ?? []);
  for (let from = 0; from < bytes.length; from += FILE_STRETCH) {
    yield bytes.toString('base64', from, from + FILE_STRETCH);
    await breathe();
  }
  yield '"}';
}

/** All conversations of a place, each on a line of its own; those that are archived come last. */
export function exportedAll(records: ConversationRecords, place: Place): AsyncIterable<Buffer> {
  return inPieces(allTexts(records, place));
}

async function* allTexts(records: ConversationRecords, place: Place): AsyncGenerator<string, void, undefined> {
  for (const archived of [false, true])
    for (let cursor: string | undefined; ; ) {
      const [next] = records.ids(place, archived, cursor, 1);
      if (!next) break;
      yield* jsonTexts(records, records.head(place, next.id));
      cursor = next.cursor;
    }
}

/** The branch that is shown, for people. */
export function exportedMarkdown(records: ConversationRecords, head: Head): AsyncIterable<Buffer> {
  return inPieces(markdownTexts(records, head));
}

async function* markdownTexts(records: ConversationRecords, head: Head): AsyncGenerator<string, void, undefined> {
  yield `# ${head.title.replaceAll(/\s+/g, ' ') || 'Conversation'}\n`;
  for (const { message } of await records.path(head.id, head.current)) {
    const { role, content, citations = [], attachments = [], model } = message;
    const files = attachments.map(({ name }) => `*File: ${name.replaceAll(/[\r\n*]+/g, ' ')}*\n\n`).join('');
    const sources = citations.map(({ n, document, page }) => `\n${n}. ${document ?? 'a document'}${page === null ? '' : `, page ${page}`}`);
    const notes = sources.length > 0 ? `\n\nSources:\n${sources.join('')}` : '';
    yield `\n## ${NAMES[role]}${model && role === 'assistant' ? ` (${model})` : ''}\n\n${files}${content.trim()}${notes}\n`;
    await breathe();
  }
}

/** A name for the file of a conversation, by its title. */
export function fileNameOf({ title }: Head, ending: string): string {
  const words = title
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 80);
  return `${words || 'conversation'}.${ending}`;
}
