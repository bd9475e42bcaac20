import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceText } from '../base/durable-files.js';
import { log } from '../base/log.js';
import { isRecord, type KvEntry, type KvRecord } from './entry.js';

const INDEX = 'index.json';
const SUFFIX = '.kvstate';

/** The folder of the KV cache: one file per state, and an index of what they are. */
export class KvStateFiles {
  readonly #folder: string;
  #writing: Promise<void> = Promise.resolve();
  #waiting = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The file of a state. */
  file(key: string): string {
    return join(this.#folder, `${key}${SUFFIX}`);
  }

  /** The records whose states are here; states that no record knows, and records without their state, are removed. */
  async load(): Promise<KvRecord[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const records: KvRecord[] = [];
    for (const record of await this.#index()) {
      const isThere = await stat(this.file(record.key)).then(
        (facts) => facts.size > record.bytes,
        () => false,
      );
      if (isThere) records.push(record);
    }
    const known = new Set([INDEX, ...records.map(({ key }) => `${key}${SUFFIX}`)]);
    for (const name of await readdir(this.#folder)) if (!known.has(name)) await rm(join(this.#folder, name), { force: true });
    return records;
  }

  /** Writes the index soon; calls that come meanwhile share one write. Never rejects. */
  note(entries: () => Iterable<KvEntry>): Promise<void> {
    if (this.#waiting) return this.#writing;
    this.#waiting = true;
    this.#writing = this.#writing.then(async () => {
      this.#waiting = false;
      const records = [...entries()].filter(({ tag }) => tag !== null).map(({ holder: _, ...record }) => record);
      await replaceText(join(this.#folder, INDEX), JSON.stringify(records)).catch((error: unknown) => {
        log('warn', 'the index of the KV cache could not be written; states made since are lost at a restart', { error });
      });
    });
    return this.#writing;
  }

  remove(key: string): Promise<void> {
    return rm(this.file(key), { force: true });
  }

  async #index(): Promise<KvRecord[]> {
    try {
      const content: unknown = JSON.parse(await readFile(join(this.#folder, INDEX), 'utf8'));
      return Array.isArray(content) ? content.filter(isRecord) : [];
    } catch {
      return [];
    }
  }
}
