import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RetrievalClient } from './retrieval-client.js';
import { Refusal } from './retrieval-client.js';
import { type CorpusFile, fileOf, randomOf } from './retrieval-corpus.js';

/** Files that are there at the same time. */
const MOST_FILES = 80;
/** The kill comes at a random moment up to here. */
const LONGEST_MS = 1500;
const AT_ONCE = 4;
/** Tasks that are open at the same time. */
const MOST_TASKS = 3;

/** What a client knows of a file: `unknown` where the daemon died before it said whether it did what was asked. */
type Known = 'there' | 'gone' | 'unknown';

/**
 * A client of a daemon that is killed again and again. It does everything at random, keeps what was acknowledged, and checks that it holds.
 */
export class KillLoop {
  readonly seed: number;
  readonly #random: () => number;
  readonly #files = new Map<string, { file: CorpusFile; known: Known }>();
  readonly #tasks = new Set<string>();
  /** Tasks that were not final when last seen, and how far they were. */
  readonly #open = new Map<string, number>();
  readonly #counts = { upload: 0, process: 0, ask: 0, remove: 0, cut: 0, givenUp: 0 };
  #next = 0;
  #alive = false;

  constructor(seed: number) {
    this.seed = seed;
    this.#random = randomOf(seed);
  }

  /** Works with a daemon until `kill` has killed it at a random moment. */
  async work(client: RetrievalClient, kill: () => Promise<unknown>): Promise<void> {
    this.#alive = true;
    const workers = Array.from({ length: AT_ONCE }, () => this.#worker(client));
    const ended = Promise.allSettled(workers);
    await sleep(this.#random() * LONGEST_MS);
    const gone = kill();
    this.#alive = false;
    await gone;
    for (const { reason } of (await ended) as { reason?: unknown }[]) if (reason !== undefined) throw reason;
  }

  /** What was acknowledged is there, what was removed is not, and tasks do not go back. */
  async check(client: RetrievalClient): Promise<void> {
    const listed = new Set((await client.files('docs')).map(({ hash }) => hash));
    for (const [hash, { known, file }] of this.#files)
      if (known !== 'unknown') assert.equal(listed.has(hash), known === 'there', `${file.name} is said to be ${known}`);
    await this.#watch(client);
  }

  /** Lets all tasks end, takes what is left in, and says which files there are now. */
  async finish(client: RetrievalClient): Promise<CorpusFile[]> {
    for (const id of this.#tasks) {
      const task = await client.settled(id);
      // A file that was removed while it waited for its turn fails, and so does one that the daemon died too often with; nothing else does.
      for (const file of (task.meta?.files ?? []) as { filename: string; state: string; error: string }[]) {
        const one = [...this.#files.values()].find((candidate) => candidate.file.name === file.filename);
        const given = /daemon ended \d+ times/.test(file.error);
        if (given) this.#counts.givenUp += 1;
        assert.ok(file.state === 'success' || one?.known !== 'there' || given, `${file.filename}: ${file.state} ${file.error}`);
      }
    }
    for (const entry of this.#files.values()) if (entry.known === 'unknown') await this.#upload(client, entry.file);
    const task = await client.settled(await client.process('docs'));
    assert.equal(task.state, 'SUCCESS', JSON.stringify(task));
    return this.#with('there');
  }

  summary(): string {
    return JSON.stringify({ ...this.#counts, tasks: this.#tasks.size });
  }

  async #worker(client: RetrievalClient): Promise<void> {
    while (this.#alive) {
      try {
        await this.#act(client);
      } catch (failure) {
        // Only a dead daemon may fail to answer.
        if (this.#alive || failure instanceof Refusal || failure instanceof assert.AssertionError) throw failure;
        this.#counts.cut += 1;
      }
    }
  }

  async #act(client: RetrievalClient): Promise<void> {
    const there = this.#with('there');
    const chance = this.#random();
    if (there.length < 5 || (chance < 0.45 && there.length < MOST_FILES)) {
      this.#next += 1;
      return this.#upload(client, fileOf(this.#next));
    }
    if (chance < 0.6) {
      await this.#watch(client);
      if (this.#open.size >= MOST_TASKS) return;
      const id = await client.process('docs');
      this.#counts.process += 1;
      this.#tasks.add(id);
      this.#open.set(id, 0);
      return;
    }
    if (chance < 0.75 && there.length > 0) return this.#remove(client, there[Math.floor(this.#random() * there.length)]!);
    const strategy = ['dense', 'lexical', 'hybrid'][Math.floor(this.#random() * 3)]!;
    const { results } = await client.ask({ query: 'common', database: 'main_db', retrieval_strategy: strategy, top_k: 1000 });
    this.#counts.ask += 1;
    const ids = results.map(({ chunk_id }) => chunk_id);
    assert.equal(new Set(ids).size, ids.length, `${strategy} gave a chunk twice`);
  }

  async #watch(client: RetrievalClient): Promise<void> {
    for (const [id, reached] of [...this.#open]) {
      const { meta, state } = await client.task(id);
      const current = Number(meta?.current ?? 0);
      assert.ok(['PENDING', 'STARTED', 'SUCCESS', 'FAILURE'].includes(state), `task ${id} is ${state}`);
      assert.ok(current >= reached, `task ${id} was at ${reached} and is at ${current}`);
      if (state === 'SUCCESS' || state === 'FAILURE') this.#open.delete(id);
      else if (this.#open.has(id)) this.#open.set(id, Math.max(current, this.#open.get(id)!));
    }
  }

  async #upload(client: RetrievalClient, file: CorpusFile): Promise<void> {
    this.#files.set(file.hash, { file, known: 'unknown' });
    const reply = await client.upload('docs', file.name, file.content);
    assert.equal(reply.hash, file.hash);
    this.#counts.upload += 1;
    this.#files.set(file.hash, { file, known: 'there' });
  }

  async #remove(client: RetrievalClient, file: CorpusFile): Promise<void> {
    this.#files.set(file.hash, { file, known: 'unknown' });
    await client.remove('docs', file.hash);
    this.#counts.remove += 1;
    this.#files.set(file.hash, { file, known: 'gone' });
  }

  #with(known: Known): CorpusFile[] {
    return [...this.#files.values()].filter((entry) => entry.known === known).map(({ file }) => file);
  }
}
