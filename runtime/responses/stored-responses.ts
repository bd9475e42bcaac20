import { randomBytes } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import { breathe } from '../base/loop.js';
import type { Store, StoredResponse } from '../store/store.js';

/** As long as OpenAI keeps them. */
const KEPT_MS = 30 * 86_400_000;
/** Most responses that are kept, and their bytes; the oldest go. */
const COUNT_LIMIT = 10_000;
const BYTES_LIMIT = 1024 ** 3;
/** Turns of one conversation. */
const CHAIN_LIMIT = 1_000;
const PAGE = 256;
/** All ids come before it; what is kept for each of several people lies behind. */
const IDS_END = 'resp_~';
const ID = /^resp_[0-9a-f]{36}$/;
const ITEM = /^[a-z]{2,4}_([0-9a-f]{36})_(i?)(\d{1,5})$/;

/** Limits, for tests. */
interface ResponseLimits {
  readonly keptMs: number;
  readonly count: number;
  readonly bytes: number;
}

/** A fresh id, whose order is that of time: `resp_` and 36 hex digits. */
export function responseId(nowMs = Date.now()): string {
  return `resp_${nowMs.toString(16).padStart(12, '0')}${randomBytes(12).toString('hex')}`;
}

/** The id of an item of a response, by which it is found again: `kind` such as `msg`, and its place in the output, or in the input. */
export function itemId(kind: string, response: string, place: number, isInput = false): string {
  return `${kind}_${response.slice('resp_'.length)}_${isInput ? 'i' : ''}${place}`;
}

/** Answers that are kept for a while, so that others can go on from them. */
export class StoredResponses {
  readonly #store: Store;
  readonly #limits: ResponseLimits;
  /** Of all that are kept; undefined until they were counted. */
  #size: { count: number; bytes: number } | undefined;

  constructor(store: Store, limits: Partial<ResponseLimits> = {}) {
    this.#store = store;
    this.#limits = { keptMs: KEPT_MS, count: COUNT_LIMIT, bytes: BYTES_LIMIT, ...limits };
  }

  /** Keeps a response of about so many bytes; it is on disk when this resolves. Makes room first. */
  async keep(id: string, value: StoredResponse, bytes: number): Promise<void> {
    await this.#makeRoom(bytes);
    await this.#store.write((batch) => {
      batch.put('responses', id, value);
      batch.put('responseSizes', id, bytes);
    });
    if (this.#size) this.#size = { count: this.#size.count + 1, bytes: this.#size.bytes + bytes };
  }

  /** Throws `not_found` for one that never was, was deleted or is too old. */
  get(id: string): StoredResponse {
    const found = ID.test(id) && !this.#isOld(id) ? this.#store.responses.get(id) : undefined;
    if (found) return found;
    throw new Failure(
      'not_found',
      `Response with id '${id.slice(0, 200)}' not found: it was not stored, was deleted, or is older than 30 days.`,
      {
        code: 'response_not_found',
      },
    );
  }

  /** Throws as `get` does. */
  async remove(id: string): Promise<void> {
    this.get(id);
    await this.#drop([id]);
  }

  /** The turns that a response goes on from, the first one first. Throws `not_found` where one of them is gone. */
  async chain(id: string): Promise<StoredResponse[]> {
    const turns: StoredResponse[] = [];
    for (let next: string | undefined = id; next !== undefined; next = turns.at(-1)!.previous) {
      if (turns.length >= CHAIN_LIMIT)
        throw new Failure('bad_request', `The conversation has more than ${CHAIN_LIMIT} turns; begin a new one with what of it matters.`);
      turns.push(this.get(next));
      if (turns.length % 16 === 0) await breathe();
    }
    return turns.reverse();
  }

  /** An item by the id that a response gave it. Throws `not_found` where there is none. */
  item(id: string): Readonly<Record<string, unknown>> {
    const [, hex, isInput, place] = ITEM.exec(id) ?? [];
    const { input, output } = hex === undefined ? { input: [], output: [] } : this.get(`resp_${hex}`);
    const found = (isInput ? input : output)[Number(place)];
    if (found) return found;
    throw new Failure('not_found', `Item with id '${id.slice(0, 200)}' not found.`, { code: 'item_not_found' });
  }

  #isOld(id: string): boolean {
    return Number.parseInt(id.slice('resp_'.length, 'resp_'.length + 12), 16) < Date.now() - this.#limits.keptMs;
  }

  async #makeRoom(bytes: number): Promise<void> {
    this.#size ??= await this.#counted();
    for (;;) {
      const [...oldest] = this.#store.responseSizes.page({ end: IDS_END, limit: PAGE });
      const leaving: string[] = [];
      let { count, bytes: taken } = this.#size;
      for (const { key, value } of oldest) {
        const isFull = count >= this.#limits.count || taken + bytes > this.#limits.bytes;
        if (!isFull && !this.#isOld(key)) break;
        leaving.push(key);
        count -= 1;
        taken -= value;
      }
      if (leaving.length === 0) return;
      await this.#drop(leaving);
    }
  }

  async #counted(): Promise<{ count: number; bytes: number }> {
    const size = { count: 0, bytes: 0 };
    for (let start: string | undefined; ; ) {
      const page = this.#store.responseSizes.page({ ...(start === undefined ? {} : { start }), end: IDS_END, limit: PAGE });
      for (const { value } of page) size.bytes += value;
      size.count += page.length;
      if (page.length < PAGE) return size;
      // The next key after the last one.
      start = `${page.at(-1)!.key}\0`;
      await breathe();
    }
  }

  async #drop(ids: readonly string[]): Promise<void> {
    const bytes = ids.reduce((sum, id) => sum + (this.#store.responseSizes.get(id) ?? 0), 0);
    await this.#store.write((batch) => {
      for (const id of ids) {
        batch.remove('responses', id);
        batch.remove('responseSizes', id);
      }
    });
    if (this.#size) this.#size = { count: this.#size.count - ids.length, bytes: this.#size.bytes - bytes };
  }
}
