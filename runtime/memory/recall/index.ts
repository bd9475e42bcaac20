import { setTimeout as sleep } from 'node:timers/promises';
import type { NativeTextIndex, NativeVectorIndex } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { log } from '../../base/log.js';
import { breathe } from '../../base/loop.js';
import type { Embedder } from '../../rag/embedders/contract.js';
import type { MemoryChanged, MemoryRecord, MemoryStore } from '../contract.js';
import { factData } from '../facts.js';
import { Links } from './links.js';
import { Rows } from './rows.js';

/** Records that are taken in together. */
const BATCH = 256;
/** Vectors that a question waits for, and how long where a model makes them. */
const FEW = 16;
const MOMENT_MS = 50;
/** Code units of a record that are searched. */
const SEARCHED_UNITS = 16 * 1024;

/** What a record is found by; blank for one that is found by time and place only. */
function searchedText(record: MemoryRecord): string {
  if (record.type === 'fact') {
    const { subject, relation, object } = factData(record);
    return `${record.text} ${subject} ${relation.replaceAll('_', ' ')} ${object}`;
  }
  return record.text.slice(0, SEARCHED_UNITS);
}

/** A text that is searched, and the row of its record as long as that has this `seq`. */
interface Searched {
  readonly row: number;
  readonly seq: number;
  readonly text: string;
}

/** Whether a record is a node that consolidation made of a name: the text that has the name is found by it. */
function isNameOnly({ type, provenance, text, node }: MemoryRecord): boolean {
  return type === 'node' && provenance?.records !== undefined && text === node?.name;
}

/**
 * What recall searches, made of a store's records and kept in memory: words, vectors, facts, and the columns of its filters. It follows the store, so
 * that what `write` has acknowledged is found by its words at once; its vector follows.
 */
export class RecallIndex {
  readonly rows = new Rows();
  readonly links = new Links();
  readonly #store: MemoryStore;
  readonly #embedder: Embedder;
  readonly #text: NativeTextIndex;
  /** Made when the dimensions of the vectors are known. */
  #vectors: NativeVectorIndex | undefined;
  readonly #factsOfSource = new Map<string, Set<number>>();
  readonly #sourceOfFact = new Map<number, string>();
  readonly #closing = new AbortController();
  /** Questions under way, which have rows in hand. */
  #asking = 0;
  #endWatch: (() => void) | undefined;
  /** Work on the indexes, in its order. */
  #work: Promise<void> = Promise.resolve();
  #embedding: Promise<void> = Promise.resolve();
  /** Rows that wait for their vectors. */
  #unembedded: Searched[] = [];

  private constructor(store: MemoryStore, embedder: Embedder) {
    this.#store = store;
    this.#embedder = embedder;
    this.#text = loadCore().openTextIndex({ language: 'english' });
  }

  /** Opens an index over a store; it is complete, but for its vectors, when this resolves. */
  static async open(store: MemoryStore, embedder: Embedder): Promise<RecallIndex> {
    const index = new RecallIndex(store, embedder);
    const early: MemoryChanged[] = [];
    index.#endWatch = store.watch((changed) => early.push(changed));
    await index.#fill();
    index.#endWatch();
    index.#endWatch = store.watch((changed) => index.#follow(changed));
    for (const changed of early) index.#follow(changed);
    await index.settled();
    return index;
  }

  get embedder(): Embedder {
    return this.#embedder;
  }

  /** Undefined until a first vector is there. */
  get vectors(): NativeVectorIndex | undefined {
    return this.#vectors;
  }

  get text(): NativeTextIndex {
    return this.#text;
  }

  /** Waits until what the store has acknowledged can be found by its words. */
  async settled(): Promise<void> {
    await this.#work;
  }

  /** Waits until it can be found by its vector too. */
  async embedded(): Promise<void> {
    await this.#work;
    for (let work = this.#embedding; ; work = this.#embedding) {
      await work;
      if (work === this.#embedding) return;
    }
  }

  /** Waits for vectors where few are missing, so that what was just added is found by its meaning too; no longer than a moment where a model makes them. */
  async settledSoon(): Promise<void> {
    await this.#work;
    if (this.#unembedded.length === 0 || this.#unembedded.length > FEW) return;
    const isQuick = this.#embedder.type === 'LexicalEmbedder';
    await (isQuick ? this.#embedding : Promise.race([this.#embedding, sleep(MOMENT_MS, undefined, { ref: false })]));
  }

  /** Does a piece of work that has rows in hand: none of them gets another record meanwhile. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#asking += 1;
    try {
      return await work();
    } finally {
      this.#asking -= 1;
    }
  }

  /** Rows of the facts that a record says. */
  factsOf(recordId: string): ReadonlySet<number> {
    return this.#factsOfSource.get(recordId) ?? NONE;
  }

  /** The id of the record that says a fact; it may be gone. */
  sourceOf(factRow: number): string | undefined {
    return this.#sourceOfFact.get(factRow);
  }

  /** Ends the work; searches that run still answer. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#endWatch?.();
    await this.#work.catch(() => undefined);
    await this.#embedding.catch(() => undefined);
    await this.#text.close();
    await this.#vectors?.close();
  }

  async #fill(): Promise<void> {
    let batch: MemoryRecord[] = [];
    for await (const record of this.#store.records()) {
      if (this.#closing.signal.aborted) return;
      batch.push(record);
      if (batch.length < BATCH) continue;
      await this.#takeIn(batch);
      batch = [];
      await breathe();
    }
    await this.#takeIn(batch);
  }

  #follow(changed: MemoryChanged): void {
    this.#work = this.#work
      .then(async () => {
        await this.#takeIn(changed.added.filter(({ seq }) => this.rows.ofSeq(seq) === undefined));
        for (const { seq, valid } of changed.ended) {
          const row = this.rows.ofSeq(seq);
          if (row !== undefined) this.rows.endFact(row, valid?.toMs);
        }
        await this.#drop(changed.isCleared ? [...this.rows.seqs()] : changed.removed);
      })
      .catch((cause: unknown) => {
        if (!this.#closing.signal.aborted)
          log('error', 'the recall index of a memory store could not follow a change', { store: this.#store.name, cause });
      });
  }

  async #takeIn(records: readonly MemoryRecord[]): Promise<void> {
    const texts: Searched[] = [];
    let firstFailure: unknown;
    let failed = 0;
    for (const record of records) {
      if (isNameOnly(record) || !this.#store.shows(record)) continue;
      try {
        texts.push(...this.#taken(record));
      } catch (cause) {
        firstFailure ??= cause;
        failed += 1;
      }
    }
    // One that cannot be taken in must not keep the others from being found.
    if (failed > 0)
      log('error', 'memories could not be taken into a recall index', { store: this.#store.name, failed, cause: firstFailure });
    if (texts.length === 0) return;
    await this.#text.add(
      Uint32Array.from(texts, ({ row }) => row),
      texts.map(({ text }) => text),
    );
    const isIdle = this.#unembedded.length === 0;
    this.#unembedded.push(...texts);
    if (isIdle) this.#embedding = this.#embedding.then(() => this.#embedAll());
  }

  /** Takes in what of a record needs no waiting; returns its text where it has one. */
  #taken(record: MemoryRecord): Searched[] {
    const text = searchedText(record).trim();
    const row = this.rows.add(record, this.#asking === 0);
    if (record.type === 'fact') {
      this.links.add(row, record);
      const source = record.provenance?.records?.[0];
      if (source !== undefined) {
        this.#sourceOfFact.set(row, source);
        this.#factsOfSource.set(source, (this.#factsOfSource.get(source) ?? new Set()).add(row));
      }
    }
    return text === '' ? [] : [{ row, seq: record.seq, text }];
  }

  async #embedAll(): Promise<void> {
    while (this.#unembedded.length > 0 && !this.#closing.signal.aborted) {
      const batch = this.#unembedded.slice(0, BATCH);
      try {
        const vectors = await this.#embedder.embed(
          batch.map(({ text }) => text),
          'document',
          'bulk',
          this.#closing.signal,
        );
        await this.#addVectors(batch, vectors);
      } catch (cause) {
        if (!this.#closing.signal.aborted)
          log('warn', 'memories could not be embedded and are found by their words only', { store: this.#store.name, cause });
      }
      this.#unembedded.splice(0, batch.length);
    }
  }

  async #addVectors(texts: readonly Searched[], vectors: readonly Float32Array[]): Promise<void> {
    const dimensions = vectors[0]?.length ?? 0;
    if (dimensions === 0) return;
    this.#vectors ??= loadCore().openVectorIndex({ dimensions, metric: 'cosine', storage: 'f16' });
    const alive = texts
      .map(({ row, seq }, at) => ({ row, seq, vector: vectors[at]! }))
      .filter(({ row, seq }) => this.rows.ofSeq(seq) === row);
    const perCall = Math.max(1, Math.floor(2 ** 18 / dimensions));
    for (let from = 0; from < alive.length; from += perCall) {
      const part = alive.slice(from, from + perCall);
      const flat = new Float32Array(part.length * dimensions);
      for (const [at, { vector }] of part.entries()) flat.set(vector, at * dimensions);
      await this.#vectors.add(
        Uint32Array.from(part, ({ row }) => row),
        flat,
      );
    }
  }

  #forgetFact(row: number): void {
    const source = this.#sourceOfFact.get(row);
    if (source === undefined) return;
    this.links.remove(row);
    this.#sourceOfFact.delete(row);
    const facts = this.#factsOfSource.get(source)!;
    facts.delete(row);
    if (facts.size === 0) this.#factsOfSource.delete(source);
  }

  async #drop(seqs: readonly number[]): Promise<void> {
    const rows: number[] = [];
    for (const seq of seqs) {
      const known = this.rows.ofSeq(seq);
      if (known === undefined) continue;
      this.#forgetFact(known);
      this.rows.remove(seq);
      rows.push(known);
    }
    if (rows.length === 0) return;
    const ids = Uint32Array.from(rows);
    await this.#text.remove(ids);
    await this.#vectors?.remove(ids);
  }
}

const NONE: ReadonlySet<number> = new Set();
