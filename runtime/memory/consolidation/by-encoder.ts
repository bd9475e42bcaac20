import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { Entity } from '../../engines/contracts/encoder.js';
import type { MemoryRecord } from '../contract.js';

/** Code units of a record that the encoder reads; rules read on. */
const READ_UNITS = 8 * 1024;
/** Records that it reads at once. */
const RECORDS = 16;
/** Failures of one run after which it is asked no more. */
const FAILURES = 3;

/** An encoder that finds the names of texts. */
export interface NameFinder {
  /** What it is called in messages. */
  readonly model: string;
  /** Whether the project names it; one that nobody named may be absent. */
  readonly isChosen: boolean;
  /** The named things of each text. Throws `not_found` (code `ModelNotFound`) where the model is not here; downloads nothing. */
  find(texts: readonly string[], signal: AbortSignal): Promise<readonly (readonly Entity[])[]>;
}

/** What an encoder finds in records; nothing where it fails. */
export type ReadByEncoder = (records: readonly MemoryRecord[], signal: AbortSignal) => Promise<(record: MemoryRecord) => readonly Entity[]>;

/** Lets an encoder read the records of one run, each of them once. Where it is not here or fails, rules find names alone; the log tells of that once. */
export function readByEncoder({ model, isChosen, find }: NameFinder): ReadByEncoder {
  const found = new WeakMap<MemoryRecord, readonly Entity[]>();
  let failures = 0;
  return async (records, signal) => {
    const unread = records.filter((record) => !found.has(record));
    for (let from = 0; from < unread.length && failures < FAILURES; from += RECORDS) {
      const part = unread.slice(from, from + RECORDS);
      try {
        const texts = part.map(({ text }) => text.slice(0, READ_UNITS));
        for (const [at, entities] of (await find(texts, signal)).entries()) if (part[at]) found.set(part[at], entities);
      } catch (cause) {
        signal.throwIfAborted();
        const isMissing = cause instanceof Failure && cause.code === 'ModelNotFound';
        if (failures === 0 && (isChosen || !isMissing))
          log('warn', 'an encoder found no names in some memories; rules did', { model, cause });
        failures = isMissing ? FAILURES : failures + 1;
      }
    }
    return (record) => found.get(record) ?? [];
  };
}
