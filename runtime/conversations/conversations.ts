import { Failure } from '../../schemas/errors.js';
import type {
  Conversation,
  ConversationList,
  ConversationPage,
  CreateRequest,
  ListQuery,
  Message,
  PatchRequest,
  ReadQuery,
  Settings,
} from '../../schemas/generated/core/conversations.js';
import { Locks } from '../base/gate.js';
import { breathe } from '../base/loop.js';
import { sizeOf } from '../chat/session.js';
import type { ConversationFile, ConversationMessage } from '../store/records.js';
import type { Store } from '../store/store.js';
import { copyBranch } from './branch.js';
import { seqOf } from './ids.js';
import { CONVERSATIONS_LIMIT, ConversationRecords, type Head, newHead, PAGE_CHARACTERS, type Place, shownHead } from './records.js';
import { searchConversations } from './search.js';
import type { RunningTurn } from './turn.js';

/** Projects as conversations need them; `Projects` is one. */
interface ConversationProjects {
  load(namespace: string, project: string): unknown;
  onErase?(listener: (namespace: string, project: string) => Promise<void>): void;
}

/** What the conversations of all owners share. */
export interface ConversationsShared {
  readonly records: ConversationRecords;
  readonly projects: ConversationProjects;
  /** Changes of one conversation come one after the other. */
  readonly locks: Locks;
  /** Turns under way, by conversation. */
  readonly running: Map<string, RunningTurn>;
}

/** Opens the conversations of a store. */
export function openConversations(store: Store, projects: ConversationProjects): Conversations {
  const records = new ConversationRecords(store);
  const shared: ConversationsShared = { records, projects, locks: new Locks(), running: new Map() };
  projects.onErase?.((namespace, project) => records.erase(namespace, project));
  records.sweepSoon();
  return new Conversations(shared, '');
}

/**
 * Conversations that are kept until somebody deletes them, those of one owner. What is acknowledged is on disk. All calls throw `not_found` for a project, a
 * conversation and a message that is not there, and what the store throws.
 */
export class Conversations {
  readonly shared: ConversationsShared;
  readonly #owner: string;

  /** `owner` is the id of a user; empty where there are no accounts. */
  constructor(shared: ConversationsShared, owner: string) {
    this.shared = shared;
    this.#owner = owner;
  }

  /** Those of another owner. */
  of(owner: string): Conversations {
    return new Conversations(this.shared, owner);
  }

  /** Where the conversations of a project lie. */
  place(namespace: string, project: string): Place {
    this.shared.projects.load(namespace, project);
    return { namespace, project, owner: this.#owner };
  }

  /** A page of the list, or of what a search finds in it: pinned ones first, then the newest. */
  async list(place: Place, { archived = false, limit = 50, cursor, search }: ListQuery): Promise<ConversationList> {
    const { records } = this.shared;
    const total = await records.count(place, archived);
    if (search?.trim()) return { ...(await searchConversations(records, place, { search, archived, limit, cursor })), total };
    const ids = records.ids(place, archived, cursor, limit);
    const conversations: Conversation[] = [];
    for (const { id } of ids) {
      conversations.push(shownHead(records.head(place, id)));
      await breathe();
    }
    const next = ids.length < limit ? null : ids.at(-1)!.cursor;
    return { conversations, next, total };
  }

  /** Begins a conversation. Throws `conflict` where there are as many as there may be. */
  async create(place: Place, { title, settings }: CreateRequest): Promise<Conversation> {
    await this.expectRoom(place, 1);
    const head = newHead(title ?? '', mergeSettings({}, settings ?? {}));
    await this.shared.records.store.write((batch) => this.shared.records.putHead(batch, place, undefined, head));
    return shownHead(head);
  }

  /** A conversation with its messages from number `from` on, about 4 MiB of them. */
  async read(place: Place, id: string, { from = 0, limit = 2_000 }: ReadQuery): Promise<ConversationPage> {
    const { records, running } = this.shared;
    const conversation = shownHead(records.head(place, id));
    const messages: Message[] = [];
    let characters = 0;
    for await (const { message: stored, seq } of records.messages(id, from)) {
      const message = running.get(id)?.shown(stored.id) ?? stored;
      characters += sizeOf(message);
      if (messages.length >= limit || (messages.length > 0 && characters > PAGE_CHARACTERS)) return { conversation, messages, next: seq };
      messages.push(message);
      await breathe();
    }
    return { conversation, messages, next: null };
  }

  /** Changes what is said about a conversation. */
  change(place: Place, id: string, { title, pinned, archived, settings, current }: PatchRequest): Promise<Conversation> {
    return this.update(place, id, (head) => {
      if (current != null) this.shared.records.message(id, current);
      return {
        ...head,
        ...(title === undefined ? {} : { title }),
        ...(pinned === undefined ? {} : { pinned }),
        ...(archived === undefined ? {} : { archived }),
        ...(settings === undefined ? {} : { settings: mergeSettings(head.settings, settings) }),
        ...(current === undefined ? {} : { current }),
      };
    });
  }

  /** A new conversation with what was said up to a message. Throws as `create` does. */
  async branch(place: Place, id: string, message: string): Promise<Conversation> {
    await this.expectRoom(place, 1);
    return shownHead(await copyBranch(this.shared.records, place, id, message));
  }

  /** Deletes a conversation with all its messages; a turn under way is ended. */
  async delete(place: Place, id: string): Promise<void> {
    const { records, locks, running } = this.shared;
    records.head(place, id);
    await running.get(id)?.end('stopped');
    await locks.run(id, async () => {
      const head = records.head(place, id);
      await records.store.write((batch) => records.removeHead(batch, place, head));
    });
    records.sweepSoon();
  }

  /** Ends the turn that is under way, if one is, and resolves when what was written is on disk. */
  async stop(place: Place, id: string): Promise<boolean> {
    this.shared.records.head(place, id);
    const turn = this.shared.running.get(id);
    await turn?.end('stopped');
    return turn !== undefined;
  }

  /** A file that a message came with. */
  file(place: Place, id: string, attachment: string): ConversationFile {
    this.shared.records.head(place, id);
    const found = this.shared.records.store.conversationFiles.get([id, attachment]);
    if (found) return found;
    throw new Failure('not_found', `There is no attachment ${JSON.stringify(attachment.slice(0, 80))} in this conversation.`, {
      code: 'AttachmentNotFound',
    });
  }

  /** Puts a text in the place of an answer's. Throws `bad_request` for another message, and `conflict` while a turn is under way. */
  edit(place: Place, id: string, message: string, content: string): Promise<ConversationMessage> {
    const { records } = this.shared;
    let edited!: ConversationMessage;
    return this.update(place, id, (head, batch) => {
      this.refuseRunning(id);
      const before = records.message(id, message);
      if (before.message.role !== 'assistant')
        throw new Failure(
          'bad_request',
          `Message ${message} is no answer: a question is edited by a turn with another message behind the same parent.`,
        );
      edited = { ...before, message: { ...before.message, content, edited: true } };
      const bytes = records.putMessage(batch, id, edited) - sizeOf(before.message);
      return touchedNow({ ...head, bytes: Math.max(0, head.bytes + bytes) });
    }).then(() => edited);
  }

  /** Removes a message and what hangs below it; what is shown then ends at its parent. Throws `conflict` while a turn is under way. */
  async deleteMessage(place: Place, id: string, message: string): Promise<Conversation> {
    const { records } = this.shared;
    return this.update(place, id, async (head, batch) => {
      this.refuseRunning(id);
      const gone = await records.below(id, message);
      const files = gone.flatMap(({ attachments = [] }) => attachments.map((one) => one.id!));
      const kept = await this.#filesIn(id, new Set(gone.map((one) => one.id)), files);
      for (const one of gone) batch.remove('conversationMessages', [id, seqOf(one.id)!]);
      for (const file of files) if (!kept.has(file)) batch.remove('conversationFiles', [id, file]);
      const isShown = gone.some((one) => one.id === head.current);
      const bytes = gone.reduce((sum, one) => sum + sizeOf(one), 0);
      return touchedNow({
        ...head,
        messages: Math.max(0, head.messages - gone.length),
        bytes: Math.max(0, head.bytes - bytes),
        current: isShown ? gone[0]!.parent : head.current,
      });
    });
  }

  /** Changes a conversation, one change after the other, in one write with what `change` adds to the batch. */
  update(
    place: Place,
    id: string,
    change: (head: Head, batch: Parameters<Parameters<Store['write']>[0]>[0]) => Head | Promise<Head>,
  ): Promise<Conversation> {
    const { records, locks } = this.shared;
    return locks.run(id, async () => {
      const before = records.head(place, id);
      let after!: Head;
      await records.store.write(async (batch) => {
        after = await change(before, batch);
        records.putHead(batch, place, before, after);
      });
      return shownHead(after);
    });
  }

  /** Throws `conflict` where a turn is under way. */
  refuseRunning(id: string): void {
    if (!this.shared.running.has(id)) return;
    throw new Failure('conflict', 'An answer is being written in this conversation. Wait for its end, or stop it first.', {
      code: 'TurnUnderWay',
    });
  }

  /** Throws `conflict` where there is no room for so many more conversations. */
  async expectRoom(place: Place, more: number): Promise<void> {
    const { records } = this.shared;
    const count = (await records.count(place, false)) + (await records.count(place, true));
    if (count + more <= CONVERSATIONS_LIMIT) return;
    const message = `There are ${count} conversations in this project, and the most is ${CONVERSATIONS_LIMIT}. Export and delete some of them first.`;
    throw new Failure('conflict', message, { code: 'TooManyConversations' });
  }

  /** Ends all turns, with what was written on disk. */
  async close(): Promise<void> {
    await Promise.all([...this.shared.running.values()].map((turn) => turn.end('cut')));
    await this.shared.records.close();
  }

  /** Which of these files messages have that are not `gone`. */
  async #filesIn(id: string, gone: ReadonlySet<string>, files: readonly string[]): Promise<Set<string>> {
    const kept = new Set<string>();
    if (files.length === 0) return kept;
    for await (const { message } of this.shared.records.messages(id))
      if (!gone.has(message.id)) for (const one of message.attachments ?? []) if (one.id) kept.add(one.id);
    return kept;
  }
}

/** A conversation that changed now. */
export function touchedNow(head: Head): Head {
  return { ...head, updatedMs: Math.max(Date.now(), head.updatedMs) };
}

/** Settings with those that another change gives; null takes one away. */
export function mergeSettings(before: Settings, given: Settings): Settings {
  return Object.fromEntries(
    Object.entries({ ...before, ...given }).filter(([, value]) => value !== null && value !== undefined),
  ) as Settings;
}
