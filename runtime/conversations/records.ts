import type { Conversation, Message, Settings } from '../../schemas/generated/core/conversations.js';
import { breathe } from '../base/loop.js';
import type { ConversationKey, ConversationMessage, ConversationRecord } from '../store/records.js';
import { Batch, type Store } from '../store/store.js';
import { conversationId, isConversationId, noConversation, noMessage, seqOf } from './ids.js';

/** Conversations of one owner in a project. */
export const CONVERSATIONS_LIMIT = 10_000;
/** Messages of a conversation, those of all branches. */
export const MESSAGES_LIMIT = 20_000;
/** Messages and attachments of one conversation. */
export const CONVERSATION_BYTES = 128 * 1024 * 1024;
/** A page of messages ends behind so many characters. */
export const PAGE_CHARACTERS = 4 * 1024 * 1024;
/** Of a title. */
export const TITLE_CHARACTERS = 200;
/** Of the last question, in a list. */
export const PREVIEW_CHARACTERS = 120;
/** Turns whose names a conversation remembers. */
export const NAMED_TURNS = 32;

/** Records read or removed before other work gets its turn. */
const PAGE = 64;
const KEYS = 256;

/** Whose conversations of which project. */
export interface Place {
  readonly namespace: string;
  readonly project: string;
  /** The id of the user; empty where there are no accounts. */
  readonly owner: string;
}

/** A conversation as it is stored, with its id. */
export interface Head extends ConversationRecord {
  readonly id: string;
}

const keyOf = ({ namespace, project, owner }: Place, id: string): ConversationKey => [namespace, project, owner, id];

/** A conversation that begins now. */
export function newHead(title: string, settings: Settings): Head {
  const nowMs = Date.now();
  return {
    id: conversationId(),
    title,
    createdMs: nowMs,
    updatedMs: nowMs,
    pinned: false,
    archived: false,
    settings,
    preview: '',
    current: null,
    messages: 0,
    nextSeq: 0,
    bytes: 0,
    turns: [],
  };
}

/** A conversation as clients see it. */
export function shownHead({ id, ...head }: Head): Conversation {
  return {
    id,
    title: head.title,
    created_at: new Date(head.createdMs).toISOString(),
    updated_at: new Date(head.updatedMs).toISOString(),
    pinned: head.pinned,
    archived: head.archived,
    messages: head.messages,
    preview: head.preview,
    current: head.current,
    settings: head.settings,
  };
}

/** The conversations of the store: heads in the order of their lists, and trees of messages. Changes are made in batches of the caller's. */
export class ConversationRecords {
  readonly store: Store;
  /** Conversations whose messages come before themselves. */
  readonly #growing = new Set<string>();
  #sweeping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(store: Store) {
    this.store = store;
  }

  /** Throws `not_found`. */
  head(place: Place, id: string): Head {
    const found = isConversationId(id) ? this.store.conversations.get(keyOf(place, id)) : undefined;
    if (!found) throw noConversation(id);
    return { ...found, id };
  }

  /** Puts a conversation in place of `before`, which is undefined for a new one. */
  putHead(batch: Batch, place: Place, before: Head | undefined, { id, ...after }: Head): void {
    if (before) batch.remove('conversationOrder', this.#orderKey(place, before));
    batch.put('conversations', keyOf(place, id), after);
    batch.put('conversationOrder', this.#orderKey(place, { ...after, id }), true);
  }

  /** Removes a conversation; its messages go behind it, in the background. */
  removeHead(batch: Batch, place: Place, head: Head): void {
    batch.remove('conversations', keyOf(place, head.id));
    batch.remove('conversationOrder', this.#orderKey(place, head));
    batch.put('conversationTrash', head.id, Date.now());
  }

  /** Ids in the order of the list behind the place that a cursor tells, with the cursor behind each. */
  ids(place: Place, archived: boolean, after: string | undefined, limit: number): { id: string; cursor: string }[] {
    const { namespace, project, owner } = place;
    const top = [namespace, project, owner, archived ? 1 : 0];
    const [pinned, updatedMs, id] = after === undefined ? [] : positionOf(after);
    const start = pinned === undefined ? [...top, 2] : [...top, pinned, updatedMs!, id!];
    const keys = this.store.conversationOrder.keys({ start, end: top, limit: limit + 1, reverse: true });
    // A range begins with its first key, which was the last of the page before.
    return keys
      .filter((key) => id === undefined || key[6] !== id)
      .slice(0, limit)
      .map((key) => ({ id: key[6], cursor: cursorOf(key[4], key[5], key[6]) }));
  }

  /** How many conversations are archived, or are not. */
  async count(place: Place, archived: boolean): Promise<number> {
    let count = 0;
    for (let after: string | undefined; ; ) {
      const page = this.ids(place, archived, after, KEYS);
      count += page.length;
      if (page.length < KEYS) return count;
      after = page.at(-1)!.cursor;
      await breathe();
    }
  }

  /** A message with what stands beside it. Throws `not_found`. */
  message(conversation: string, id: string): ConversationMessage {
    const seq = seqOf(id);
    const found = seq === undefined ? undefined : this.store.conversationMessages.get([conversation, seq]);
    if (found?.message.id !== id) throw noMessage(id);
    return found;
  }

  /** Puts a message, new or changed; returns how many bytes it takes, about. */
  putMessage(batch: Batch, conversation: string, one: ConversationMessage): number {
    batch.put('conversationMessages', [conversation, seqOf(one.message.id)!], one);
    return batch.changes.at(-1)!.value!.length;
  }

  /** All messages in their order from number `from` on, page by page. */
  async *messages(conversation: string, from = 0): AsyncGenerator<ConversationMessage & { seq: number }, void, undefined> {
    for (let start = from; ; ) {
      const page = this.store.conversationMessages.page({
        start: [conversation, start],
        end: [conversation, Number.POSITIVE_INFINITY],
        limit: PAGE,
      });
      for (const { key, value } of page) yield { ...value, seq: key[1] };
      if (page.length < PAGE) return;
      start = page.at(-1)!.key[1] + 1;
      await breathe();
    }
  }

  /** The messages from where the branch begins to the message `id`. Throws `not_found`. */
  async path(conversation: string, id: string | null): Promise<ConversationMessage[]> {
    const path: ConversationMessage[] = [];
    for (let next = id; next !== null; next = path.at(-1)!.message.parent) {
      path.push(this.message(conversation, next));
      await breathe();
    }
    return path.reverse();
  }

  /** A message and all that hangs below it. Parents come before their children. */
  async below(conversation: string, id: string): Promise<Message[]> {
    const found: Message[] = [this.message(conversation, id).message];
    const ids = new Set([id]);
    for await (const { message } of this.messages(conversation, seqOf(id)! + 1)) {
      if (message.parent === null || !ids.has(message.parent)) continue;
      ids.add(message.id);
      found.push(message);
    }
    return found;
  }

  /**
   * Puts a new conversation whose messages are many: they come first, a few in each write, and the conversation is there when all of them are. What a crash
   * or a failure leaves of it is swept. `fill` puts messages and returns the conversation as it is then.
   */
  async grow(place: Place, id: string, fill: (put: (change: (batch: Batch) => void) => Promise<void>) => Promise<Head>): Promise<Head> {
    this.#growing.add(id);
    /** What is not written yet: of most conversations all, which then takes one write. */
    let held = new Batch();
    let isMarked = false;
    try {
      const head = await fill(async (change) => {
        const before = held.changes;
        if (before.length > 0)
          await this.store.write((batch) => {
            batch.changes.push(...before);
            if (!isMarked) batch.put('conversationTrash', id, Date.now());
          });
        isMarked ||= before.length > 0;
        held = new Batch();
        change(held);
      });
      await this.store.write((batch) => {
        batch.changes.push(...held.changes);
        this.putHead(batch, place, undefined, head);
        if (isMarked) batch.remove('conversationTrash', id);
      });
      return head;
    } finally {
      this.#growing.delete(id);
      this.sweepSoon();
    }
  }

  /** Removes all conversations of a project, those of every owner. */
  async erase(namespace: string, project: string): Promise<void> {
    await this.#removeAll([namespace, project], [namespace, project, '\uffff']);
  }

  /** Removes what deleted conversations left, in the background. */
  sweepSoon(): void {
    this.#sweeping = this.#sweeping.then(() => this.#sweep()).catch(() => undefined);
  }

  /** Resolves when the sweeping has ended. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#sweeping;
  }

  async #removeAll(start: readonly string[], end: readonly string[]): Promise<void> {
    for (;;) {
      const keys = this.store.conversations.keys({ start, end, limit: KEYS });
      if (keys.length === 0) return this.sweepSoon();
      await this.store.write((batch) => {
        for (const [namespace, project, owner, id] of keys) {
          const place = { namespace, project, owner };
          this.removeHead(batch, place, this.head(place, id));
        }
      });
    }
  }

  async #sweep(): Promise<void> {
    for (;;) {
      const id = this.store.conversationTrash.keys({ limit: KEYS }).find((one) => !this.#growing.has(one));
      if (id === undefined || this.#isClosed) return;
      for (const table of ['conversationMessages', 'conversationFiles'] as const)
        for (;;) {
          const range = { start: [id], end: [id, '\uffff'], limit: PAGE };
          const keys = this.store[table].keys(range);
          if (keys.length === 0) break;
          await this.store.write((batch) => {
            for (const key of keys) batch.remove(table, key as never);
          });
          if (this.#isClosed) return;
        }
      await this.store.write((batch) => batch.remove('conversationTrash', id));
    }
  }

  #orderKey({ namespace, project, owner }: Place, { id, archived, pinned, updatedMs }: Head) {
    return [namespace, project, owner, archived ? 1 : 0, pinned ? 1 : 0, updatedMs, id] as const;
  }
}

function cursorOf(pinned: number, updatedMs: number, id: string): string {
  return `${pinned}.${updatedMs}.${id}`;
}

/** What a cursor was made of; the schema says that it has this form. */
function positionOf(cursor: string): [pinned: number, updatedMs: number, id: string] {
  const [pinned, updatedMs, id] = cursor.split('.');
  return [Number(pinned), Number(updatedMs), id!];
}
