import type { Message } from '../../../schemas/generated/core/conversations.js';
import { breathe } from '../../base/loop.js';
import { type ConversationRecords, type Head, type Place, shownHead } from '../records.js';

/** What the files of ours say they are. */
export const FORMAT = 'quern-conversation';
const NAMES: Readonly<Record<Message['role'], string>> = { user: 'User', assistant: 'Assistant', tool: 'Tool', system: 'System' };

/** A conversation as one line of JSON, attachments included, piece by piece. */
export async function* exportedJson(records: ConversationRecords, head: Head): AsyncGenerator<Buffer, void, undefined> {
  const { id, title, created_at, updated_at, pinned, archived, current, settings } = shownHead(head);
  const about = { id, title, created_at, updated_at, pinned, archived, current, settings };
  yield Buffer.from(`{"format":"${FORMAT}","version":1,"conversation":${JSON.stringify(about)},"messages":[`);
  let isFirst = true;
  for await (const { message, between } of records.messages(id)) {
    const { attachments, ...rest } = message;
    const files = attachments?.map(({ id: file = '', ...one }) => {
      const kept = records.store.conversationFiles.get([id, file]);
      return kept
        ? { ...one, url: `data:${kept.mediaType};base64,${Buffer.from(kept.bytes).toString('base64')}` }
        : { ...one, url: 'data:,' };
    });
    const whole = { ...rest, ...(files ? { attachments: files } : {}), ...(between ? { between } : {}) };
    yield Buffer.from(`${isFirst ? '' : ','}${JSON.stringify(whole)}`);
    isFirst = false;
    await breathe();
  }
  yield Buffer.from(']}\n');
}

/** All conversations of a place, each on a line of its own; those that are archived come last. */
export async function* exportedAll(records: ConversationRecords, place: Place): AsyncGenerator<Buffer, void, undefined> {
  for (const archived of [false, true])
    for (let cursor: string | undefined; ; ) {
      const [next] = records.ids(place, archived, cursor, 1);
      if (!next) break;
      yield* exportedJson(records, records.head(place, next.id));
      cursor = next.cursor;
    }
}

/** The branch that is shown, for people. */
export async function* exportedMarkdown(records: ConversationRecords, head: Head): AsyncGenerator<Buffer, void, undefined> {
  yield Buffer.from(`# ${head.title.replaceAll(/\s+/g, ' ') || 'Conversation'}\n`);
  for (const { message } of await records.path(head.id, head.current)) {
    const { role, content, citations = [], attachments = [], model } = message;
    const files = attachments.map(({ name }) => `*File: ${name.replaceAll(/[\r\n*]+/g, ' ')}*\n\n`).join('');
    const sources = citations.map(({ n, document, page }) => `\n${n}. ${document ?? 'a document'}${page === null ? '' : `, page ${page}`}`);
    const notes = sources.length > 0 ? `\n\nSources:\n${sources.join('')}` : '';
    yield Buffer.from(`\n## ${NAMES[role]}${model && role === 'assistant' ? ` (${model})` : ''}\n\n${files}${content.trim()}${notes}\n`);
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
