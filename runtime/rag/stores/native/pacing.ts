import { turn } from '../../../base/loop.js';
import { StateMachine, type Transition } from '../../../base/state-machine.js';

/** Rows that are read in one go, which takes 1 to 2 ms (10 to 30 µs each, by their metadata). */
export const ROWS_PER_TURN = 64;

/** Work in the background: it rests, it goes on, somebody asked for more since its last look, or it was stopped. */
type WorkState = 'resting' | 'working' | 'asked' | 'stopped';
const WORK_TRANSITIONS: readonly Transition<WorkState, 'start' | 'look' | 'done' | 'stop'>[] = [
  ['resting', 'start', 'working'],
  ['resting', 'stop', 'stopped'],
  ['working', 'start', 'asked'],
  ['working', 'done', 'resting'],
  ['working', 'stop', 'stopped'],
  ['asked', 'look', 'working'],
  ['asked', 'done', 'working'],
  ['asked', 'stop', 'stopped'],
];

/** Work that is done in pieces, one at a time, until nothing is left of it; what is asked for during the last piece is done too. */
export class BackgroundWork {
  readonly #machine = new StateMachine(WORK_TRANSITIONS, 'resting');
  readonly #piece: () => Promise<boolean>;
  readonly #failed: (error: unknown) => void;
  #ended: Promise<void> = Promise.resolve();

  /** `piece` does a little of what is to be done, and answers whether there may be more; where it rejects, `failed` is told and the work rests. */
  constructor(piece: () => Promise<boolean>, failed: (error: unknown) => void) {
    this.#piece = piece;
    this.#failed = failed;
  }

  /** Says that there is something to be done. Nothing is done after `stop`. */
  start(): void {
    if (this.#machine.on('start') && this.#machine.state === 'working') this.#ended = this.#work();
  }

  /** Resolves when the work rests or was stopped. */
  ended(): Promise<void> {
    return this.#ended;
  }

  /** Lets the present piece end, and begins no other. */
  stop(): Promise<void> {
    this.#machine.on('stop');
    return this.#ended;
  }

  async #work(): Promise<void> {
    do this.#machine.on('look');
    while ((await this.#hasMore()) ? this.#machine.state !== 'stopped' : this.#machine.on('done') && this.#machine.state === 'working');
  }

  async #hasMore(): Promise<boolean> {
    try {
      return await this.#piece();
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }
}

/** Items that are sorted or merged between two pauses. */
const ITEMS_AT_ONCE = 4_096;

/** Sorts a copy of a long list without holding up the event loop. */
export async function sortInPieces<T>(items: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += ITEMS_AT_ONCE) {
    runs.push(items.slice(at, at + ITEMS_AT_ONCE).sort(compare));
    await turn();
  }
  while (runs.length > 1) {
    const next: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      next.push(runs[i + 1] === undefined ? runs[i]! : await mergeRuns(runs[i]!, runs[i + 1]!, compare));
    runs = next;
  }
  return runs[0] ?? [];
}

async function mergeRuns<T>(a: readonly T[], b: readonly T[], compare: (a: T, b: T) => number): Promise<T[]> {
  const out: T[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const first = j >= b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0);
    out.push(first ? a[i++]! : b[j++]!);
    if (out.length % ITEMS_AT_ONCE === 0) await turn();
  }
  return out;
}
