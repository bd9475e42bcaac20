import { randomBytes } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { Message, Tool } from '../../schemas/generated/common.js';
import { log } from '../base/log.js';
import type { SavedState, SequenceStates } from '../engines/contracts/language.js';
import { availableMemory } from '../hosts/memory.js';
import { contentHash, type KvEntry, matchSegments, type Segment, type SegmentMatch, segmentsOf } from './entry.js';
import { KvStateFiles } from './state-files.js';

/** Limits of the KV cache. */
export interface KvLimits {
  /** States in the memory of engine hosts, together. */
  readonly ramBytes: number;
  /** Files of states, together. */
  readonly diskBytes: number;
  /** Entries that may exist. */
  readonly entries: number;
  /** Time since its last use after which an unpinned entry goes. */
  readonly ttlS: number;
  readonly collectEveryMs: number;
  /** A state that takes more than this share of the memory that can be had is not restored. */
  readonly restoreShare: number;
  readonly availableBytes: () => number;
}

/** The limits of 4-runtime-wire 1.4, and a bound on entries. */
export const KV_LIMITS: KvLimits = {
  ramBytes: 2 * 1024 ** 3,
  diskBytes: 10 * 1024 ** 3,
  entries: 10_000,
  ttlS: 1800,
  collectEveryMs: 60_000,
  restoreShare: 0.4,
  availableBytes: availableMemory,
};

/** A conversation on a model. */
export interface Conversation {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[] | undefined;
}

/** How a kept conversation compares with one that comes in. */
export interface KvValidation extends SegmentMatch {
  /** Tokens of the matching segments, prorated. */
  readonly reusableTokens: number;
  readonly entry: KvEntry | undefined;
}

/** What is kept, besides the conversation. */
export interface KeepOptions {
  readonly pinned?: boolean;
  /** Seconds since the last use. */
  readonly ttlS?: number | null;
}

/** Counts of the cache, for `/v1/cache/stats`. */
export interface KvCounts {
  hits: number;
  partialHits: number;
  misses: number;
}

/**
 * Keeps the KV states of conversations across unloads and restarts. Every state is a file; while the host of its model lives, it is in that
 * host's memory too (the ram tier), until the budget asks for the room. Entries that nobody used for their time go, pinned ones stay: what
 * finds no room beside them is refused.
 */
export class KvCache {
  readonly #shelf: KvStateFiles;
  readonly #limits: KvLimits;
  readonly #entries = new Map<string, KvEntry>();
  readonly #loaded: Promise<void>;
  readonly #collector: NodeJS.Timeout;
  readonly counts: KvCounts = { hits: 0, partialHits: 0, misses: 0 };

  constructor(parts: { folder: string; limits?: Partial<KvLimits> }) {
    this.#shelf = new KvStateFiles(parts.folder);
    this.#limits = { ...KV_LIMITS, ...parts.limits };
    this.#loaded = this.#load();
    this.#collector = setInterval(() => void this.collect(), this.#limits.collectEveryMs);
    this.#collector.unref();
  }

  /** Every entry, least recently used first. */
  async entries(): Promise<KvEntry[]> {
    await this.#loaded;
    return [...this.#entries.values()].sort((a, b) => a.lastUsedMs - b.lastUsedMs);
  }

  /** Where the state of an entry is; an entry without a state lies in the index alone, which is memory. */
  tierOf(entry: KvEntry): 'ram' | 'disk' {
    return entry.bytes === 0 || entry.holder?.holds(this.#shelf.file(entry.key)) ? 'ram' : 'disk';
  }

  isExpired(entry: KvEntry): boolean {
    return !entry.pinned && Date.now() - entry.lastUsedMs >= (entry.ttlS ?? this.#limits.ttlS) * 1000;
  }

  /** Compares an entry with a conversation; counts nothing. */
  async validate(key: string, { model, messages, tools }: Conversation): Promise<KvValidation> {
    await this.#loaded;
    const entry = this.#entries.get(key);
    const missed = { status: 'miss', matched: 0, invalidatedAt: null, reusableTokens: 0, entry: undefined } as const;
    if (!entry || this.isExpired(entry)) return { ...missed, reason: 'cache_key_not_found' };
    if (entry.model !== model) return { ...missed, reason: `model_mismatch: the entry is of ${entry.model}, not of ${model}` };
    const match = matchSegments(entry.segments, segmentsOf(messages, tools ?? undefined));
    const share = entry.segments.length === 0 ? 1 : match.matched / entry.segments.length;
    return { ...match, reusableTokens: Math.floor(entry.tokens * share), entry };
  }

  /** Puts the state of an entry, if it has one, back into a model; a damaged one is removed with its entry. True where it is in place. */
  async restore(entry: KvEntry, states: SequenceStates): Promise<boolean> {
    if (entry.bytes === 0 || entry.tag !== states.tag) return false;
    if (entry.bytes > this.#limits.availableBytes() * this.#limits.restoreShare) return false;
    const { outcome } = await states.restore(this.#shelf.file(entry.key), entry.bytes <= this.#limits.ramBytes);
    if (outcome === 'corrupt' || outcome === 'missing' || outcome === 'stale') {
      log('warn', `the saved KV state ${entry.key} is ${outcome}; it is removed`);
      await this.remove(entry.key);
      return false;
    }
    entry.holder = states;
    await this.#enforce(entry);
    return outcome !== 'unfit';
  }

  /** Counts a use of an entry, or a miss. */
  noteUse(entry: KvEntry | undefined, status: KvValidation['status']): void {
    if (status === 'hit') this.counts.hits += 1;
    else if (status === 'partial_hit') this.counts.partialHits += 1;
    else this.counts.misses += 1;
    if (!entry || status === 'miss') return;
    entry.hits += 1;
    entry.lastUsedMs = Date.now();
    void this.#note();
  }

  /**
   * The entry that keeps this conversation with a state that fits the model of that tag; for null with any state, and else in the index alone.
   * Used again, it is as fresh as a new one. Throws as `save` does where it cannot be pinned.
   */
  async find({ model, messages, tools }: Conversation, tag: string | null, options: KeepOptions = {}): Promise<KvEntry | undefined> {
    await this.#loaded;
    const hash = contentHash(segmentsOf(messages, tools ?? undefined));
    const same = [...this.#entries.values()].filter(
      (entry) => entry.contentHash === hash && entry.model === model && (tag === null || entry.tag === tag) && !this.isExpired(entry),
    );
    // Of several states the newest is the likeliest to be of the file that the name stands for now.
    const known = same.findLast((entry) => entry.bytes > 0) ?? same[0];
    if (!known) return undefined;
    if (options.pinned && !known.pinned) this.#checkPinned(known.bytes);
    known.lastUsedMs = Date.now();
    known.pinned ||= options.pinned ?? false;
    if (options.ttlS !== undefined) known.ttlS = options.ttlS;
    void this.#note();
    return known;
  }

  /**
   * Keeps what a remembered generation left behind; undefined where its state is gone or finds no room. Throws `too_large` for one to be
   * pinned that finds none beside the pinned entries.
   */
  async save(
    conversation: Conversation,
    states: SequenceStates,
    remembered: string,
    options: KeepOptions = {},
  ): Promise<KvEntry | undefined> {
    await this.#loaded;
    const key = randomBytes(12).toString('hex');
    const file = this.#shelf.file(key);
    const saved = await states.save(remembered, file, true);
    if (!saved) return undefined;
    // Checked before anything is evicted: what fits beside the pinned entries can be kept, all else would go in vain.
    const refusal = this.#noRoomBesidePinned(saved.bytes);
    if (refusal) {
      await Promise.all([states.drop(file), this.#shelf.remove(key)]);
      if (options.pinned && saved.bytes <= this.#limits.diskBytes) throw refusal;
      return undefined;
    }
    const entry = this.#add(key, conversation, saved, states.tag, options);
    entry.holder = states;
    await this.#enforce(entry);
    await this.#note();
    return this.#entries.get(key);
  }

  /**
   * Keeps a conversation without a state: the index alone, as long as the daemon runs. Throws `too_large` where pinned entries leave no
   * place for it.
   */
  async index(conversation: Conversation, tokens: number, options: KeepOptions = {}): Promise<KvEntry> {
    await this.#loaded;
    this.#checkPinned(0);
    const entry = this.#add(randomBytes(12).toString('hex'), conversation, { tokens, bytes: 0 }, null, options);
    await this.#enforce(entry);
    return entry;
  }

  /** Removes an entry with its state; false where there is none. */
  async remove(key: string): Promise<boolean> {
    await this.#loaded;
    const entry = this.#entries.get(key);
    if (!entry) return false;
    this.#entries.delete(key);
    const file = this.#shelf.file(key);
    await Promise.all([entry.holder?.drop(file).catch(() => {}), this.#shelf.remove(key)]);
    void this.#note();
    return true;
  }

  /** Removes what has expired; how many entries that were. */
  async collect(): Promise<number> {
    const expired = (await this.entries()).filter((entry) => this.isExpired(entry));
    for (const { key } of expired) await this.remove(key);
    return expired.length;
  }

  /** Writes down what was used; the states are on disk already. */
  async close(): Promise<void> {
    clearInterval(this.#collector);
    await this.#loaded;
    await this.#note();
  }

  #add(key: string, conversation: Conversation, saved: SavedState, tag: string | null, options: KeepOptions): KvEntry {
    const segments: Segment[] = segmentsOf(conversation.messages, conversation.tools ?? undefined);
    const now = Date.now();
    const entry: KvEntry = {
      key,
      model: conversation.model,
      segments,
      contentHash: contentHash(segments),
      tokens: saved.tokens,
      bytes: saved.bytes,
      tag,
      pinned: options.pinned ?? false,
      ttlS: options.ttlS ?? null,
      createdMs: now,
      lastUsedMs: now,
      hits: 0,
    };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Frees memory, then disk, until both are within their budgets: least recently used first, pinned entries only for the sake of memory. */
  async #enforce(newest: KvEntry): Promise<void> {
    const byAge = (await this.entries()).filter((entry) => entry !== newest);
    const inMemory = [...byAge, newest].filter((entry) => entry.bytes > 0 && this.tierOf(entry) === 'ram');
    let ramBytes = total(inMemory);
    for (const entry of [...inMemory.filter(({ pinned }) => !pinned), ...inMemory.filter(({ pinned }) => pinned)]) {
      if (ramBytes <= this.#limits.ramBytes) break;
      await entry.holder?.drop(this.#shelf.file(entry.key)).catch(() => {});
      ramBytes -= entry.bytes;
    }
    let diskBytes = total([...byAge, newest]);
    let count = this.#entries.size;
    for (const entry of [...byAge, newest].filter(({ pinned }) => !pinned)) {
      if (diskBytes <= this.#limits.diskBytes && count <= this.#limits.entries) break;
      await this.remove(entry.key);
      diskBytes -= entry.bytes;
      count -= 1;
    }
  }

  /** Throws what `#noRoomBesidePinned` returns. */
  #checkPinned(bytes: number): void {
    const refusal = this.#noRoomBesidePinned(bytes);
    if (refusal) throw refusal;
  }

  /** Why an entry of that size finds no room even when all that is not pinned goes; undefined where it does. */
  #noRoomBesidePinned(bytes: number): Failure | undefined {
    const { diskBytes, entries } = this.#limits;
    const pinned = [...this.#entries.values()].filter((entry) => entry.pinned);
    const used = total(pinned);
    if (pinned.length < entries && used + bytes <= diskBytes) return undefined;
    return new Failure(
      'too_large',
      `The KV cache has no room for ${bytes} bytes more: ${pinned.length} pinned entries take ${used} bytes, and ${entries} entries and ${diskBytes} bytes may be kept. Delete pinned ones with DELETE /v1/cache/{cache_key}, and pin fewer.`,
      { code: 'CacheFull' },
    );
  }

  #note(): Promise<void> {
    return this.#shelf.note(() => this.#entries.values());
  }

  async #load(): Promise<void> {
    try {
      for (const record of await this.#shelf.load()) this.#entries.set(record.key, record);
    } catch (error) {
      log('warn', 'the KV cache could not be read; it starts empty', { error });
    }
  }
}

function total(entries: readonly KvEntry[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0);
}
