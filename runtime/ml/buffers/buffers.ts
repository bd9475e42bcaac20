import { Failure } from '../../../schemas/errors.js';
import { quote } from '../../base/names.js';
import type { Store, TableRecord } from '../../store/store.js';
import type { Row } from '../cells.js';
import { TENANTS_FROM, takeOwner } from '../segment-log.js';
import {
  type Appended,
  BUFFER_LIMITS,
  type BufferLimits,
  type BufferService,
  type BufferStats,
  type Exported,
  type ExportType,
  MAX_BUFFER_NAME,
  type ReadAsk,
} from './contract.js';
import { DataBuffer } from './data-buffer.js';
import { FORMATS } from './formats.js';

const NAME = /^(?!.*\.\.)[\w.:@+ -]+$/u;
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** The buffers of this machine. */
export class Buffers implements BufferService {
  readonly #store: Store;
  readonly #limits: BufferLimits;
  readonly #buffers = new Map<string, DataBuffer>();
  /** Names that are being made. */
  readonly #making = new Set<string>();
  /** What reads of features go on from, in bytes; the buffer read last comes last. */
  readonly #live = new Map<DataBuffer, number>();
  #loading: Promise<void> | undefined;

  constructor(store: Store, limits: BufferLimits = BUFFER_LIMITS) {
    this.#store = store;
    this.#limits = limits;
  }

  async create(name: string, windowSize: number): Promise<BufferStats> {
    await this.#loaded();
    checkName(name);
    if (this.#buffers.has(name) || this.#making.has(name))
      throw new Failure('conflict', `Buffer ${quote(name)} exists already; append to it, or delete it first.`, { code: 'BufferExists' });
    const count = this.#buffers.size + this.#making.size;
    if (count >= this.#limits.buffers)
      throw new Failure('too_large', `There are ${count} buffers, and ${this.#limits.buffers} are allowed; delete one first.`, {
        fields: { buffers: count, allowed_buffers: this.#limits.buffers },
      });
    this.#making.add(name);
    try {
      let record!: TableRecord;
      await this.#store.write((batch) => {
        record = { owner: takeOwner(this.#store, batch), windowSize, createdMs: Date.now() };
        batch.put('buffers', name, record);
      });
      const buffer = new DataBuffer(this.#store, name, record);
      this.#buffers.set(name, buffer);
      return buffer.stats();
    } finally {
      this.#making.delete(name);
    }
  }

  async list(): Promise<readonly BufferStats[]> {
    await this.#loaded();
    return [...this.#buffers.values()].map((buffer) => buffer.stats()).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async get(name: string): Promise<BufferStats> {
    return (await this.#buffer(name)).stats();
  }

  async remove(name: string): Promise<void> {
    const buffer = await this.#buffer(name);
    this.#buffers.delete(name);
    this.#live.delete(buffer);
    // Nobody gets the name before the rows are gone.
    this.#making.add(name);
    try {
      await buffer.clear((batch) => batch.remove('buffers', name), true);
    } catch (failure) {
      const again = new DataBuffer(this.#store, name, buffer.record);
      await again.load();
      this.#buffers.set(name, again);
      throw failure;
    } finally {
      this.#making.delete(name);
    }
  }

  async clear(name: string): Promise<void> {
    const buffer = await this.#buffer(name);
    await buffer.clear(() => undefined, false);
    this.#live.delete(buffer);
  }

  async append(name: string, rows: readonly Row[]): Promise<Appended> {
    const buffer = await this.#buffer(name);
    return buffer.append(rows, (after) => this.#admit(buffer, after));
  }

  async read(name: string, ask: ReadAsk, type: ExportType, signal: AbortSignal): Promise<Exported> {
    const buffer = await this.#buffer(name);
    const frame = await buffer.read(ask, this.#limits.cells);
    if (ask.features) this.#trim(buffer);
    signal.throwIfAborted();
    return { contentType: type, bytes: await FORMATS[type](name, frame, signal) };
  }

  /** Waits for writes. */
  async close(): Promise<void> {
    await this.#loading;
    for (const buffer of this.#buffers.values()) await buffer.settled();
  }

  async #buffer(name: string): Promise<DataBuffer> {
    await this.#loaded();
    checkName(name);
    const found = this.#buffers.get(name);
    if (found) return found;
    throw new Failure('not_found', `Buffer ${quote(name)} not found; create it with POST .../polars/buffers.`, {
      code: 'BufferNotFound',
    });
  }

  /** Lets go of what reads go on from, of the buffers read longest ago, until the rest is within the limit. */
  #trim(read: DataBuffer): void {
    this.#live.delete(read);
    if (this.#buffers.get(read.name) === read) this.#live.set(read, read.liveBytes);
    let total = 0;
    for (const bytes of this.#live.values()) total += bytes;
    for (const [buffer, bytes] of this.#live) {
      if (total <= this.#limits.liveBytes) return;
      buffer.forgetFeatures();
      this.#live.delete(buffer);
      total -= bytes;
    }
  }

  #admit(buffer: DataBuffer, after: number): void {
    const { bytesEach, bytesTotal } = this.#limits;
    let total = after - buffer.bytes;
    for (const one of this.#buffers.values()) total += one.bytes;
    const [would, allowed, what] =
      after > bytesEach ? [after, bytesEach, `buffer ${quote(buffer.name)}`] : [total, bytesTotal, 'all buffers together'];
    if (would <= allowed) return;
    throw new Failure(
      'too_large',
      `With these rows ${what} would take ${mib(would)} of memory, and ${mib(allowed)} are allowed; nothing was appended.`,
      {
        fields: { memory_bytes: Math.ceil(would), allowed_bytes: allowed },
      },
    );
  }

  #loaded(): Promise<void> {
    this.#loading ??= this.#load().catch((failure: unknown) => {
      this.#loading = undefined;
      this.#buffers.clear();
      throw failure;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    for (const { key, value } of this.#store.buffers.page({ end: TENANTS_FROM, limit: this.#limits.buffers * 2 })) {
      const buffer = new DataBuffer(this.#store, key, value);
      await buffer.load();
      this.#buffers.set(key, buffer);
    }
  }
}

function checkName(name: string): void {
  if (name.length <= MAX_BUFFER_NAME && NAME.test(name)) return;
  throw new Failure(
    'bad_request',
    `${quote(name)} cannot name a buffer: 1 to ${MAX_BUFFER_NAME} letters, digits, spaces and any of . _ : @ + - are allowed, without "..".`,
    { code: 'BadBufferName' },
  );
}
