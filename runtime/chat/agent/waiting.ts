import { randomUUID } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { Batch, Store } from '../../store/store.js';
import type { Entry } from '../../store/table-reader.js';
import { type Clock, sizeOf } from '../session.js';
import type { CallAbout } from './tool-call.js';

/** What a person said of a call; `late` = nobody said anything in time. */
export type Decision = 'allow' | 'deny' | 'late';

/** A call that waits for a person. */
export interface WaitingCall extends CallAbout {
  /** What it is decided by. */
  readonly id: string;
  /** ISO 8601; later it is not made. */
  readonly expires_at: string;
}

/** Asks a person about the calls of an answer that is open. */
export interface Consent {
  ask(call: CallAbout, signal: AbortSignal): AskedCall;
}

/** A call that waits, and what is said of it; rejects only with the reason of the signal. */
export interface AskedCall {
  readonly waiting: WaitingCall;
  readonly decision: Promise<Decision>;
}

/** What a turn waits for, whose client has its answer. */
interface Pause {
  readonly waiting: readonly WaitingCall[];
  /** By the model's ids of calls. */
  readonly decided: Readonly<Record<string, Decision>>;
}

/** A turn that can go on. */
export interface PausedTurn<State> extends Pick<Pause, 'decided'> {
  /** What it goes on with. */
  readonly state: State;
}

/** What a decision leads to. */
export interface Decided<State> {
  /** Calls of the same turn that still wait. */
  readonly waiting: readonly WaitingCall[];
  /** The turn that can go on now, where its client does not hold it open. */
  readonly turn?: PausedTurn<State>;
}

/** An open answer waits so long, and a paused turn, in milliseconds. */
const OPEN_MS = 5 * 60_000;
const PAUSED_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
/** Calls of open answers that wait, in this daemon. */
const MOST_OPEN = 1_000;
/** Turns of one project that are paused; the oldest gives way. */
const MOST_PAUSED = 100;
/** Characters of a turn that can be paused. */
const MOST_CHARACTERS = 1024 * 1024;

/** `mcall_` with the 32 hex digits of a call, or of its turn and then its number. */
const ID = /^mcall_([0-9a-f]{32})(?:_(\d{1,3}))?$/;

type TurnKey = Entry<'pausedTurns'>['key'];

interface OpenCall {
  readonly namespace: string;
  readonly project: string;
  readonly waiting: WaitingCall;
  decide(decision: Decision): void;
}

/** Calls that wait for a person: those of open answers in memory, those of paused turns on disk, where a restart leaves them. */
export class WaitingCalls<State extends { readonly sessionId: string | null }> {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Map<string, OpenCall>();
  /** Decisions of paused turns are stored one after the other. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#timer = setInterval(() => this.sweep().catch(logFailure), SWEEP_MS);
    this.#timer.unref();
  }

  /** Asks about calls of an answer that is open. */
  consent(namespace: string, project: string): Consent {
    return {
      ask: (call, signal) => {
        const waiting = { ...call, id: `mcall_${randomId()}`, expires_at: this.#after(OPEN_MS) };
        return { waiting, decision: this.#decision({ namespace, project, waiting }, signal) };
      },
    };
  }

  /** Whether a turn is small enough to be paused. */
  canPause(state: unknown): boolean {
    return sizeOf(state) <= MOST_CHARACTERS;
  }

  /** Names what a paused turn waits for. */
  named(calls: readonly CallAbout[]): WaitingCall[] {
    const turn = randomId();
    return calls.map((call, index) => ({ ...call, id: `mcall_${turn}_${index}`, expires_at: this.#after(PAUSED_MS) }));
  }

  /** Keeps a turn until all that it waits for is decided; resolves when it is on disk. */
  async pause(namespace: string, project: string, waiting: readonly WaitingCall[], state: State): Promise<void> {
    const key = [namespace, project, turnOf(waiting[0]!.id)] as const;
    await this.#exclusively(() =>
      this.#store.write((batch) => {
        for (const old of this.#overdue(namespace, project)) removeTurn(batch, old);
        batch.put('pausedTurns', key, { atMs: this.#clock.wallMs(), sessionId: state.sessionId, waiting, decided: {} });
        batch.put('pausedStates', key, state);
      }),
    );
  }

  /** What waits in a project, the oldest first. */
  list(namespace: string, project: string): WaitingCall[] {
    const open = [...this.#open.values()].filter((call) => call.namespace === namespace && call.project === project);
    const paused = this.#paused(namespace, project).filter(({ value }) => !this.#isOver(value.atMs));
    const calls = [...open.map(({ waiting }) => waiting), ...paused.flatMap(({ value }) => undecidedCalls(value as unknown as Pause))];
    return calls.sort((a, b) => (a.expires_at < b.expires_at ? -1 : 1));
  }

  /** Takes a decision. Throws `not_found` for a call that does not wait (any more). */
  async decide(namespace: string, project: string, id: string, decision: 'allow' | 'deny'): Promise<Decided<State>> {
    const open = this.#open.get(id);
    if (open && open.namespace === namespace && open.project === project) {
      open.decide(decision);
      return { waiting: [] };
    }
    const turnId = ID.exec(id)?.[2] === undefined ? undefined : turnOf(id);
    if (turnId === undefined) throw notWaiting(id);
    return this.#exclusively(async () => {
      const key = [namespace, project, turnId] as const;
      const record = this.#store.pausedTurns.get(key);
      const pause = record && !this.#isOver(record.atMs) ? (record as unknown as Pause) : undefined;
      const call = pause && undecidedCalls(pause).find((one) => one.id === id);
      if (!record || !pause || !call) throw notWaiting(id);
      const next: Pause = { waiting: pause.waiting, decided: { ...pause.decided, [call.tool_call_id]: decision } };
      const waiting = undecidedCalls(next);
      const state = waiting.length === 0 ? this.#store.pausedStates.get(key) : undefined;
      // A turn that goes on is gone from the disk first: no call is made twice.
      await this.#store.write((batch) => {
        if (waiting.length === 0) removeTurn(batch, key);
        else batch.put('pausedTurns', key, { ...record, ...next });
      });
      return state === undefined ? { waiting } : { waiting, turn: { decided: next.decided, state: state as State } };
    });
  }

  /** Forgets what waits in a project that is gone. */
  async erase(namespace: string, project: string): Promise<void> {
    for (const call of this.#open.values()) if (call.namespace === namespace && call.project === project) call.decide('deny');
    await this.#remove(this.#paused(namespace, project));
  }

  /** Forgets the paused turns of one session, or of all. */
  async eraseSessions(namespace: string, project: string, id?: string): Promise<void> {
    const isOf = (sessionId: string | null): boolean => sessionId !== null && (id === undefined || sessionId === id);
    await this.#remove(this.#paused(namespace, project).filter(({ value }) => isOf(value.sessionId)));
  }

  /** Removes turns whose time is over from the disk; done every minute. */
  async sweep(): Promise<void> {
    for (let start: TurnKey | undefined; ; ) {
      const page = this.#store.pausedTurns.page({ ...(start ? { start: [...start] } : {}), limit: MOST_PAUSED });
      await this.#remove(page.filter(({ value }) => this.#isOver(value.atMs)));
      const last = page.at(-1)?.key;
      if (last === undefined || page.length < MOST_PAUSED) return;
      start = last;
    }
  }

  /** Ends the sweeping and what waits in memory; resolves when all is stored. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const call of this.#open.values()) call.decide('late');
    await this.#work;
  }

  async #remove(turns: readonly Entry<'pausedTurns'>[]): Promise<void> {
    if (turns.length === 0) return;
    await this.#exclusively(() =>
      this.#store.write((batch) => {
        for (const { key } of turns) removeTurn(batch, key);
      }),
    );
  }

  #after(ms: number): string {
    return new Date(this.#clock.wallMs() + ms).toISOString();
  }

  #isOver(atMs: number): boolean {
    return this.#clock.wallMs() - atMs > PAUSED_MS;
  }

  #decision(call: Omit<OpenCall, 'decide'>, signal: AbortSignal): Promise<Decision> {
    if (this.#open.size >= MOST_OPEN) return Promise.resolve('late');
    const { id } = call.waiting;
    const decision = new Promise<Decision>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        this.#open.delete(id);
      };
      const decide = (said: Decision): void => {
        end();
        resolve(said);
      };
      const leave = (): void => {
        end();
        reject(signal.reason);
      };
      const timer = setTimeout(() => decide('late'), OPEN_MS);
      signal.addEventListener('abort', leave, { once: true });
      this.#open.set(id, { ...call, decide });
      if (signal.aborted) leave();
    });
    // It may be decided before anybody waits for it.
    decision.catch(() => undefined);
    return decision;
  }

  #paused(namespace: string, project: string): Entry<'pausedTurns'>[] {
    return this.#store.pausedTurns.page({ start: [namespace, project], end: [namespace, project, '\uffff'], limit: MOST_PAUSED });
  }

  /** Keys of turns that are over, or give way to another one. */
  #overdue(namespace: string, project: string): TurnKey[] {
    const turns = this.#paused(namespace, project).sort((a, b) => a.value.atMs - b.value.atMs);
    return turns.filter(({ value }, index) => this.#isOver(value.atMs) || index <= turns.length - MOST_PAUSED).map(({ key }) => key);
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }
}

function removeTurn(batch: Batch, key: TurnKey): void {
  batch.remove('pausedTurns', key);
  batch.remove('pausedStates', key);
}

function undecidedCalls({ waiting, decided }: Pause): WaitingCall[] {
  return waiting.filter((call) => !Object.hasOwn(decided, call.tool_call_id));
}

function turnOf(id: string): string {
  return ID.exec(id)![1]!;
}

function randomId(): string {
  return randomUUID().replaceAll('-', '');
}

function notWaiting(id: string): Failure {
  const message = `No call waits as '${id.slice(0, 100)}' in this project: it was decided, its time is over, its client left or the daemon has been restarted since. Send the message again.`;
  return new Failure('not_found', message, { code: 'CallNotWaiting' });
}

function logFailure(error: unknown): void {
  log('warn', 'turns that waited for too long could not be removed', { error });
}
