import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { Failure } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import { log } from '../base/log.js';
import type { SessionKey, SessionRecord, Store } from '../store/store.js';
import { type CacheSize, type Clock, EXPIRY_MS, type PlacedTurn, Session, sizeOf, systemClock } from './session.js';
import { SessionSweeper } from './sweeper.js';

/** A longer conversation has to start anew. */
const MAX_TURNS = 100_000;
/** Sessions held in memory; the least recently used ones give way. */
const MAX_LIVE = 10_000;
/** Characters of history held in memory. */
const MAX_CACHED_CHARACTERS = 64 * 2 ** 20;
/** Room that is made for an answer before it is known. */
const EXPECTED_ANSWER_BYTES = 64 * 1024;
/** Records read or removed before other work gets its turn. */
const PAGE = 256;

/**
 * Chat sessions: history turn by turn, one record each, so that adding one costs the same however many there are. Several turns of one
 * session may run at once; each is stored whole, in the order in which they complete.
 */
export class Sessions {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #sweeper: SessionSweeper;
  /** By `nameOf(key)`, least recently used first. */
  readonly #live = new Map<string, Session>();
  readonly #cached: CacheSize = { characters: 0 };
  /** Deletions under way, by `nameOf(key)`: what a session is after one depends on the disk. */
  readonly #deleting = new Map<string, Promise<void>>();
  #nextRun: number;

  constructor(store: Store, clock: Clock = systemClock) {
    this.#store = store;
    this.#clock = clock;
    const newest = { reverse: true, limit: 1 };
    this.#nextRun = 1 + Math.max(store.turns.keys(newest)[0]?.[0] ?? 0, store.trash.keys(newest)[0] ?? 0);
    this.#sweeper = new SessionSweeper(store, clock, (key) => this.#expiredLive(key));
  }

  /**
   * Starts a turn in a session, which is made when there is none or it has expired; one without turns remembers `begunWith`. End it with `release`.
   */
  async use(key: SessionKey, begunWith?: Record<string, unknown>): Promise<Session> {
    const name = nameOf(key);
    while (this.#deleting.has(name)) await this.#deletionOf(name);
    const live = this.#live.get(name);
    const expired = live !== undefined && this.#isExpired(live);
    if (expired) this.#drop(live);
    const session = expired ? this.#create(key) : (live ?? this.#find(key, this.#cached) ?? this.#create(key));
    if (session.nextPlace >= MAX_TURNS) {
      throw new Failure('bad_request', `Session ${key[2]} has ${MAX_TURNS} turns, which is the most. Start a new session.`, {
        code: 'SessionFull',
      });
    }
    session.busy += 1;
    if (session.nextPlace === 0) session.begunWith = begunWith ?? session.begunWith;
    this.#touch(session);
    return session;
  }

  /** Ends a turn, whether or not it was stored. */
  release(session: Session): void {
    session.busy -= 1;
    if (!session.gone) this.#touch(session);
    this.#makeRoom();
  }

  /** The messages of a session so far. */
  history(session: Session): Promise<Message[]> {
    return session.history((add) => this.#load(session, add));
  }

  /** Sees to it that a turn with these messages and an answer to them can be stored. Throws as `append` does where it cannot. */
  expect(messages: readonly Message[]): Promise<void> {
    return this.#store.expect(sizeOf(messages) + EXPECTED_ANSWER_BYTES);
  }

  /**
   * Stores a whole turn; resolves when it is on disk. `first` goes before it when it is the first of its session. Does nothing in a
   * session that was deleted meanwhile. When the disk refuses, the rejection says why, nothing of the turn stays, and later turns go on.
   */
  async append(session: Session, messages: readonly Message[], first: readonly Message[] = []): Promise<void> {
    // Whether a turn comes first, and whether its session still exists, is known only when these are on disk or refused.
    while (session.opening || this.#deleting.has(nameOf(session.key))) {
      await session.opening;
      await this.#deletionOf(nameOf(session.key));
    }
    if (session.gone) return;
    const place = session.nextPlace;
    session.nextPlace += 1;
    const turn: PlacedTurn = { place, messages: place === 0 ? [...first, ...messages] : messages };
    const storing = this.#write(session, turn);
    if (place === 0) session.opening = this.#opened(session, storing);
    await storing;
    session.add(turn);
  }

  /** The messages of a session; none for one that is unknown or has expired. Reading is no use of the session: it expires as if unread. */
  async read(key: SessionKey): Promise<Message[]> {
    const live = this.#live.get(nameOf(key));
    if (live && this.#isExpired(live)) return [];
    const session = live ?? this.#find(key, { characters: 0 });
    const messages = session ? await this.history(session) : [];
    this.#makeRoom();
    return messages;
  }

  /** What a session was begun with and remembers; undefined for one that is unknown or has expired. */
  begunWith(key: SessionKey): Record<string, unknown> | undefined {
    const live = this.#live.get(nameOf(key));
    if (live) return this.#isExpired(live) ? undefined : live.begunWith;
    return this.#find(key, { characters: 0 })?.begunWith;
  }

  /** Deletes a session; resolves when that is on disk, and turns under way are then not stored. Where the disk refuses, all is as before. */
  delete(key: SessionKey): Promise<void> {
    const name = nameOf(key);
    const running = this.#deleting.get(name);
    if (running) return running;
    const deletion = this.#delete(key).finally(() => this.#deleting.delete(name));
    this.#deleting.set(name, deletion);
    return deletion;
  }

  /** Deletes all sessions of a project and returns how many there were, not counting expired ones. */
  async deleteAll(namespace: string, project: string): Promise<number> {
    const ids = new Set<string>();
    for (const session of [...this.#live.values()]) {
      if (session.key[0] !== namespace || session.key[1] !== project) continue;
      if (session.nextPlace > 0 && !this.#isExpired(session)) ids.add(session.key[2]);
      await this.delete(session.key);
    }
    const end = [namespace, project, '\uffff'];
    for (let start: readonly string[] = [namespace, project]; ; ) {
      const page = this.#store.sessions.page({ start, end, limit: PAGE });
      for (const { key, value } of page) if (!this.#isStale(value)) ids.add(key[2]);
      await Promise.all(page.map(({ key }) => this.delete(key)));
      if (page.length < PAGE) return ids.size;
      start = page.at(-1)!.key;
    }
  }

  /** Removes expired sessions and the turns of deleted ones; done in the background from time to time. Returns how many sessions went. */
  sweep(): Promise<number> {
    return this.#sweeper.sweep();
  }

  /** Starts sweeping in the background. */
  start(): void {
    this.#sweeper.start();
  }

  /** Ends the sweeping. */
  close(): Promise<void> {
    return this.#sweeper.stop();
  }

  async #delete(key: SessionKey): Promise<void> {
    const session = this.#live.get(nameOf(key));
    const runs = new Set([session?.run, session?.replaces, this.#store.sessions.get(key)?.run].filter((run) => run !== undefined));
    if (runs.size > 0) {
      await this.#store.write((batch) => {
        batch.remove('sessions', key);
        for (const run of runs) batch.put('trash', run, this.#clock.wallMs());
      });
      this.#sweeper.emptyTrashSoon();
    }
    if (session) this.#drop(session);
  }

  /** Waits for the end of a deletion, whatever it is. */
  async #deletionOf(name: string): Promise<void> {
    await this.#deleting.get(name)?.catch(() => undefined);
  }

  /** Waits for the first turn of a session; where the disk refused it, the next one is the first. */
  async #opened(session: Session, storing: Promise<void>): Promise<void> {
    try {
      await storing;
      session.replaces = undefined;
    } catch {
      session.nextPlace = 0;
    }
    session.opening = undefined;
  }

  #write(session: Session, turn: PlacedTurn): Promise<void> {
    const now = this.#clock.wallMs();
    return this.#store.write((batch) => {
      if (session.run === undefined) {
        session.run = this.#nextRun;
        this.#nextRun += 1;
      }
      if (session.replaces !== undefined) batch.put('trash', session.replaces, now);
      batch.put('turns', [session.run, turn.place], { messages: [...turn.messages], atMs: now });
      batch.put('sessions', session.key, {
        run: session.run,
        turns: session.nextPlace,
        createdMs: session.createdMs,
        lastActiveMs: now,
        ...(session.begunWith && { begunWith: session.begunWith }),
      });
    });
  }

  async #load(session: Session, add: (turn: PlacedTurn) => void): Promise<void> {
    const { run } = session;
    if (run === undefined) return;
    for (let from = 0; ; ) {
      const page = this.#store.turns.page({ start: [run, from], end: [run, Number.POSITIVE_INFINITY], limit: PAGE });
      for (const { key, value } of page) add({ place: key[1], messages: value.messages });
      if (page.length < PAGE) return;
      from = page.at(-1)!.key[1] + 1;
      await nextTurnOfLoop();
    }
  }

  /** The stored session, unless it has expired. */
  #find(key: SessionKey, cached: CacheSize): Session | undefined {
    const record = this.#store.sessions.get(key);
    if (!record || this.#isStale(record)) return undefined;
    const idleMs = Math.max(0, this.#clock.wallMs() - record.lastActiveMs);
    return new Session(key, record, record.createdMs, this.#clock.steadyMs() - idleMs, cached);
  }

  #create(key: SessionKey): Session {
    const session = new Session(key, undefined, this.#clock.wallMs(), this.#clock.steadyMs(), this.#cached);
    session.replaces = this.#store.sessions.get(key)?.run;
    return session;
  }

  /** Whether a session in memory has expired; the system's clock may have jumped since its last turn, the steady one has not. */
  #isExpired(session: Session): boolean {
    return session.busy === 0 && this.#clock.steadyMs() - session.usedMs >= EXPIRY_MS;
  }

  #isStale(record: SessionRecord): boolean {
    return this.#clock.wallMs() - record.lastActiveMs >= EXPIRY_MS;
  }

  /** What the sweeper should think of a session that may be in memory: true = expired, false = in use, undefined = not in memory. */
  #expiredLive(key: SessionKey): boolean | undefined {
    const session = this.#live.get(nameOf(key));
    if (!session) return undefined;
    if (!this.#isExpired(session)) return false;
    this.#drop(session);
    return true;
  }

  #drop(session: Session): void {
    session.end();
    this.#live.delete(nameOf(session.key));
  }

  /** Makes a session the most recently used. */
  #touch(session: Session): void {
    const name = nameOf(session.key);
    session.usedMs = this.#clock.steadyMs();
    this.#live.delete(name);
    this.#live.set(name, session);
  }

  #makeRoom(): void {
    if (this.#isSmall()) return;
    for (const [name, session] of this.#live) {
      if (this.#isSmall()) break;
      if (session.busy > 0) continue;
      if (this.#live.size > MAX_LIVE) this.#live.delete(name);
      session.forget();
    }
    log('debug', 'chat histories were dropped from memory', { sessions: this.#live.size, cached: this.#cached.characters });
  }

  #isSmall(): boolean {
    return this.#cached.characters <= MAX_CACHED_CHARACTERS && this.#live.size <= MAX_LIVE;
  }
}

function nameOf(key: SessionKey): string {
  // None of the three can hold a slash.
  return key.join('/');
}
