import { Failure } from '../../../schemas/errors.js';
import type { ImportReply, Message } from '../../../schemas/generated/core/conversations.js';
import { Gate } from '../../base/gate.js';
import { breathe } from '../../base/loop.js';
import { sizeOf } from '../../chat/session.js';
import { putFiles, takeFiles } from '../attachments.js';
import { withMessage } from '../branch.js';
import { messageId } from '../ids.js';
import {
  CONVERSATION_BYTES,
  CONVERSATIONS_LIMIT,
  type ConversationRecords,
  type Head,
  MESSAGES_LIMIT,
  newHead,
  type Place,
  TITLE_CHARACTERS,
} from '../records.js';
import { type Incoming, type IncomingConversation, readConversation } from './formats.js';

/** What an import works with. */
export interface ImportParts {
  readonly records: ConversationRecords;
  readonly place: Place;
  readonly signal: AbortSignal;
  /** Parses JSON without holding the event loop. Throws `invalid`. */
  parse(bytes: Buffer): Promise<unknown>;
  addressOf(conversation: string, file: string): string;
}

/** One file at a time: a conversation of it may take much memory. */
const importGate = new Gate('imports of conversations', 1, 16);

/** Takes the conversations of a file in, one after the other; what cannot be taken is told, and the others come. Throws `busy`, and what the store throws. */
export function importConversations(parts: ImportParts, pieces: AsyncIterable<Uint8Array>): Promise<ImportReply> {
  return importGate.run(parts.signal, () => takeAllIn(parts, pieces));
}

/** A longer value is passed over. */
const VALUE_BYTES = 192 * 1024 * 1024;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
const LIST = 0x5b;

/** Reasons that an answer tells; more values are counted only. */
const MOST_SKIPPED = 1_000;
const MIB = 1024 * 1024;

async function takeAllIn(parts: ImportParts, pieces: AsyncIterable<Uint8Array>): Promise<ImportReply> {
  const { records, place, signal } = parts;
  const reply: ImportReply = { imported: 0, skipped: [] };
  let room = CONVERSATIONS_LIMIT - (await records.count(place, false)) - (await records.count(place, true));
  for await (const { number, bytes } of splitValues(pieces)) {
    signal.throwIfAborted();
    try {
      if (bytes === undefined) throw new Failure('invalid', `it has more than ${VALUE_BYTES / MIB} MiB`);
      if (room <= 0) throw new Failure('conflict', `a project has at most ${CONVERSATIONS_LIMIT} conversations`);
      await takeIn(parts, await readConversation(await parts.parse(bytes)));
      room -= 1;
      reply.imported += 1;
    } catch (error) {
      if (!(error instanceof Failure) || error.status >= 500) throw error;
      if (reply.skipped.length < MOST_SKIPPED) reply.skipped.push({ place: number, reason: error.message });
    }
  }
  return reply;
}

/** One value of a file; without bytes where it is too long. */
export interface SplitValue {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer | undefined;
}

/**
 * The values of a JSON file one after the other: the elements of its list, or what stands beside each other in it, as in lines of JSON. Nothing is parsed but
 * quotes and brackets, so that a file takes no more memory than its longest value. Linear in its bytes; a file that ends within a value has that as its last.
 */
async function* splitValues(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<SplitValue, void, undefined> {
  const splitter = new Splitter();
  for await (const piece of pieces) {
    for (const value of splitter.add(piece)) yield value;
    await breathe();
  }
  const last = splitter.end();
  if (last) yield last;
}

class Splitter {
  /** Depth of the value's own brackets; values of a list begin at 1. */
  #depth = 0;
  #base = 0;
  #isInText = false;
  #isEscaped = false;
  #isBegun = false;
  #number = 0;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #isValue = false;

  *add(piece: Uint8Array): Generator<SplitValue> {
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]!;
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isInText = false;
        continue;
      }
      if (!this.#isValue) {
        if (BLANK.has(byte) || (byte === COMMA && this.#depth === this.#base)) continue;
        if (!this.#isBegun && byte === LIST) {
          this.#isBegun = true;
          this.#base = 1;
          this.#depth = 1;
          continue;
        }
        this.#isBegun = true;
        if (CLOSE.has(byte)) {
          // The list ends; what comes behind it stands by itself.
          this.#base = 0;
          this.#depth = 0;
          continue;
        }
        this.#isValue = true;
        from = at;
      }
      if (byte === QUOTE) this.#isInText = true;
      else if (OPEN.has(byte)) this.#depth += 1;
      else if (CLOSE.has(byte)) {
        this.#depth -= 1;
        if (this.#depth > this.#base) continue;
        yield this.#value(piece.subarray(from, at + 1));
        this.#depth = this.#base;
      }
    }
    if (this.#isValue) this.#keep(piece.subarray(from));
  }

  end(): SplitValue | undefined {
    return this.#isValue ? this.#value(new Uint8Array()) : undefined;
  }

  #value(rest: Uint8Array): SplitValue {
    this.#keep(rest);
    const bytes = this.#bytes > VALUE_BYTES ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    this.#isValue = false;
    this.#number += 1;
    return { number: this.#number, bytes };
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > VALUE_BYTES) this.#parts = [];
    else this.#parts.push(Buffer.from(part));
  }
}

/** Of messages, before they are written. */
const BATCH_CHARACTERS = 1024 * 1024;

async function takeIn({ records, place, addressOf }: ImportParts, given: IncomingConversation): Promise<void> {
  if (given.messages.length > MESSAGES_LIMIT)
    throw new Failure('invalid', `it has ${given.messages.length} messages, and the most is ${MESSAGES_LIMIT}`);
  const begun = { ...newHead(given.title.slice(0, TITLE_CHARACTERS), given.settings), pinned: given.pinned, archived: given.archived };
  const ordered = await inOrder(given.messages);
  if (ordered.length === 0) throw new Failure('invalid', 'it has no message');
  /** Where a message of the file is: it, or what stands above one that was left out. */
  const places = new Map<string, string | null>();
  await records.grow(place, begun.id, async (put) => {
    let head: Head = begun;
    for (let at = 0; at < ordered.length; ) {
      const first = at;
      let characters = 0;
      await put((batch) => {
        for (; at < ordered.length && (at === first || characters < BATCH_CHARACTERS); at += 1) {
          const { key, parent, message, between } = ordered[at]!;
          characters += sizeOf(message);
          const above = parent === null ? null : (places.get(parent) ?? null);
          const { attachments: files = [], ...rest } = message;
          if (rest.content === '' && files.length === 0 && !rest.tool_calls?.length) {
            places.set(key, above);
            continue;
          }
          const taken = takeFiles(
            files,
            (file) => addressOf(begun.id, file),
            () => false,
          );
          const { attachments } = taken;
          const next: Message = { ...rest, id: messageId(head.nextSeq), parent: above, ...(attachments.length > 0 ? { attachments } : {}) };
          const bytes = putFiles(batch, begun.id, taken.files);
          head = withMessage(
            head,
            { message: next, ...(between ? { between } : {}) },
            (one) => bytes + records.putMessage(batch, begun.id, one),
          );
          if (head.bytes > CONVERSATION_BYTES) throw new Failure('invalid', `it has more than ${CONVERSATION_BYTES / MIB} MiB`);
          places.set(key, next.id);
        }
      });
      await breathe();
    }
    if (head.messages === 0) throw new Failure('invalid', 'it has no message with a text');
    const current = (given.current !== null && places.get(given.current)) || head.current;
    return { ...head, current, createdMs: given.createdMs, updatedMs: given.updatedMs };
  });
}

/** Messages in their order, but each behind the one that it answers; those in circles are left out. Linear. */
async function inOrder(messages: readonly Incoming[]): Promise<Incoming[]> {
  const keys = new Set(messages.map(({ key }) => key));
  const ordered: Incoming[] = [];
  const there = new Set<string>();
  /** By the message that they wait for. */
  const waiting = new Map<string, Incoming[]>();
  for (const one of messages) {
    const { parent } = one;
    if (parent !== null && keys.has(parent) && !there.has(parent)) {
      const others = waiting.get(parent);
      if (others) others.push(one);
      else waiting.set(parent, [one]);
      continue;
    }
    const next = [one];
    for (let at = 0; at < next.length; at += 1) {
      const { key } = next[at]!;
      ordered.push(next[at]!);
      there.add(key);
      for (const other of waiting.get(key) ?? []) next.push(other);
      waiting.delete(key);
      await breathe();
    }
  }
  return ordered;
}
