import { createReadStream } from 'node:fs';
import { Failure } from '../../schemas/errors.js';
import type { AddRequest } from '../../schemas/generated/core/memory.js';
import { check } from '../../schemas/validate.js';
import { breathe } from '../base/loop.js';
import type { MemoryStore, NewMemory } from './contract.js';
import { givenMemory, shownMemory } from './wire.js';

/** Bytes of one line of an import: a record as large as one may be, with room for what it may be written with. */
const MOST_LINE_BYTES = 1_048_576;
/** Lines of one import. */
const MOST_LINES = 2_000_000;
/** Records added at once. */
const AT_ONCE = 256;
/** Bytes of an export that go out together. */
const PIECE_BYTES = 65_536;
const LINE_FEED = 10;

/** All records that a store shows as JSON Lines, in the order of their arrival. */
export async function* exportLines(store: MemoryStore): AsyncGenerator<Uint8Array> {
  let waiting: string[] = [];
  let length = 0;
  for await (const record of store.records()) {
    if (!store.shows(record)) continue;
    const line = `${JSON.stringify(shownMemory(record))}\n`;
    waiting.push(line);
    length += line.length;
    if (length < PIECE_BYTES) continue;
    yield Buffer.from(waiting.join(''));
    waiting = [];
    length = 0;
  }
  if (waiting.length > 0) yield Buffer.from(waiting.join(''));
}

/**
 * Adds the records of a file of JSON Lines, all or none, also when the process ends meanwhile; returns how many. Throws `invalid`, `conflict` or
 * `too_large`, with the number of the line that cannot be added.
 */
export async function importLines(store: MemoryStore, path: string, signal: AbortSignal): Promise<number> {
  let count = 0;
  const ids = new Set<string>();
  for await (const batch of lineBatches(path)) {
    signal.throwIfAborted();
    for (const { number, memory } of batch) {
      if (memory.id !== undefined && ids.has(memory.id))
        throw atLine(number, new Failure('conflict', `another line has the uuid ${memory.id} already`));
      if (memory.id !== undefined) ids.add(memory.id);
      try {
        store.admit(memory);
      } catch (failure) {
        throw atLine(number, failure);
      }
      count += 1;
      await breathe();
    }
  }
  await store.addTogether(count, memoriesOfFile(path));
  return count;
}

async function* memoriesOfFile(path: string): AsyncGenerator<NewMemory[]> {
  for await (const batch of lineBatches(path)) yield batch.map(({ memory }) => memory);
}

interface Line {
  readonly number: number;
  readonly memory: NewMemory;
}

/** The records of a file, a few at a time. Throws with the number of the line for one that is none. */
async function* lineBatches(path: string): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  let number = 0;
  for await (const bytes of linesOf(path)) {
    number += 1;
    if (number > MOST_LINES) throw atLine(number, new Failure('too_large', `${MOST_LINES} lines are the most: split the file`));
    // Some editors put a mark of the byte order in front of a file.
    const text = bytes.toString().replace(/^\uFEFF/, '');
    if (text.trim() === '') continue;
    batch.push({ number, memory: memoryOf(number, text) });
    await breathe();
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function memoryOf(number: number, text: string): NewMemory {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw atLine(number, new Failure('invalid', `it is no JSON (${(cause as Error).message})`));
  }
  try {
    return givenMemory(check<AddRequest>('core/memory#AddRequest', value));
  } catch (failure) {
    throw atLine(number, failure);
  }
}

/** Lines of a file without their ends. Throws for one that is too long before it is read to its end. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let length = 0;
  let number = 1;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      rest.push(part);
      length += part.length;
      if (length > MOST_LINE_BYTES) throw atLine(number, new Failure('too_large', `it has more than ${MOST_LINE_BYTES} bytes`));
      if (end < 0) break;
      yield Buffer.concat(rest);
      rest = [];
      length = 0;
      number += 1;
      from = end + 1;
    }
  }
  if (length > 0) yield Buffer.concat(rest);
}

function atLine(number: number, failure: unknown): unknown {
  if (!(failure instanceof Failure)) return failure;
  const { kind, code, errors, message } = failure;
  return new Failure(kind, `Line ${number}: ${message.replace(/\.$/, '')}. Nothing was imported.`, {
    code,
    ...(errors ? { errors } : {}),
    fields: { line: number },
  });
}
