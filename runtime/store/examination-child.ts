// Run as a child process with a data file: says what is wrong with it, and, with the folder of a new environment, saves what can be read.

import { type Environment, keyOf, openEnvironment, type StoredKey } from './environment.js';
import type { Examination } from './examination.js';
import { isSealed, SEAL_BYTES } from './record-bytes.js';
import { type FoundRecord, Survey } from './survey.js';
import type { TableName } from './tables.js';

/** Records, and bytes of theirs, that are saved in one transaction. */
const BATCH_RECORDS = 1_000;
const BATCH_BYTES = 2 ** 24;
/** A table cannot have more records than bytes in its file; what says so is damaged itself. */
const MOST_RECORDS = 2 ** 40;

function examine(survey: Survey): Examination {
  let records = 0;
  for (const _ of survey.records()) records += 1;
  return { problems: survey.problems, records, lost: {}, isGuess: survey.told.size === 0 };
}

/** Writes what `survey` finds into `target`. Damaged records come from `backup` where it has the very same ones. */
async function save(survey: Survey, target: Environment, backup: Environment | undefined): Promise<Examination> {
  const counts = new Map<TableName, number>();
  const add = (table: TableName): void => {
    counts.set(table, (counts.get(table) ?? 0) + 1);
  };
  let waiting: FoundRecord[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const records = waiting;
    waiting = [];
    bytes = 0;
    await target.batch(() => {
      for (const { table, key, record } of records) void target.tables[table].put(keyOf(key), record);
    });
  };
  const strays = new Set<string>();
  for (const found of survey.records()) {
    const key = readableKey(found.key);
    if (key === undefined) continue;
    if (found.stray) {
      const name = `${found.table} ${Buffer.from(found.key).toString('latin1')}`;
      if (strays.size === 0) await flush();
      if (strays.has(name) || target.tables[found.table].get(key) !== undefined) continue;
      strays.add(name);
    }
    add(found.table);
    waiting.push({ ...found, record: Buffer.from(found.record), key: Buffer.from(found.key) });
    bytes += found.record.length;
    if (waiting.length >= BATCH_RECORDS || bytes >= BATCH_BYTES) await flush();
  }
  await flush();
  for (const { table, key, record } of backup ? survey.damaged : []) {
    const same = readableKey(key) === undefined ? undefined : backup!.tables[table].get(keyOf(key));
    if (same === undefined || target.tables[table].get(keyOf(key)) !== undefined || !isOnceSame(same, record)) continue;
    add(table);
    waiting.push({ table, key, record: Buffer.from(same), stray: true });
  }
  await flush();
  const lost: Examination['lost'] = {};
  for (const [table, told] of survey.isComplete ? [] : survey.told) {
    const missing = told - (counts.get(table) ?? 0);
    if (missing > 0 && told < MOST_RECORDS) lost[table] = missing;
  }
  const records = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { problems: survey.problems, records, lost, isGuess: survey.told.size === 0 };
}

function readableKey(bytes: Uint8Array): StoredKey | undefined {
  try {
    return keyOf(bytes);
  } catch {
    return undefined;
  }
}

/** Whether a damaged record once was this sound one: their checksums are the same, or all behind them. */
function isOnceSame(sound: Uint8Array, damaged: Uint8Array): boolean {
  const same = (from: number, to?: number): boolean => Buffer.compare(sound.subarray(from, to), damaged.subarray(from, to)) === 0;
  return isSealed(sound) && sound.length === damaged.length && (same(0, SEAL_BYTES) || same(SEAL_BYTES));
}

const [file, target, backup] = process.argv.slice(2);
const survey = new Survey(file!);
if (target === undefined) process.stdout.write(JSON.stringify(examine(survey)));
else {
  const environment = openEnvironment(target);
  const second = backup === undefined ? undefined : openEnvironment(backup, { readOnly: true });
  const outcome = await save(survey, environment, second);
  await second?.close();
  await environment.close();
  process.stdout.write(JSON.stringify(outcome));
}
