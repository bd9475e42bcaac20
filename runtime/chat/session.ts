import { Failure } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import type { SessionKey, SessionRecord } from '../store/store.js';

/** Where time comes from; tests set their own. */
export interface Clock {
  /** Milliseconds since 1970, as the system says; may jump either way. */
  wallMs(): number;
  /** Milliseconds since some moment; never goes back and never jumps. */
  steadyMs(): number;
}

/** The system's clocks. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  steadyMs: () => performance.now(),
};

/** What a client may choose as the id of a session. */
const ALLOWED = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

/** Returns a session id, or throws `invalid` with `where` as the place of the wrong value. */
export function checkSessionId(id: string, where: readonly string[]): string {
  if (ALLOWED.test(id)) return id;
  const msg =
    'a session id starts with a letter or digit, goes on with letters, digits, ".", "_", ":", "@" and "-", and has at most 128 characters';
  const input = id.slice(0, 200);
  throw new Failure('invalid', `${where.join('.')}: ${msg}, got ${JSON.stringify(input)}`, {
    errors: [{ type: 'string_pattern_mismatch', loc: where, msg, input }],
  });
}

/** A session that is not used for this long is gone. */
export const EXPIRY_MS = 30 * 60_000;

/** Counts the history held in memory, in characters. */
export interface CacheSize {
  characters: number;
}

/** A turn with its place in the session. */
export interface PlacedTurn {
  place: number;
  messages: readonly Message[];
}

/** A session in use, or used a short while ago, as the daemon holds it in memory. */
export class Session {
  readonly key: SessionKey;
  /** Under which its turns are stored; undefined until the first turn is complete. */
  run: number | undefined;
  /** Place of the next turn. */
  nextPlace: number;
  readonly createdMs: number;
  /** Steady time of its last use. */
  usedMs: number;
  /** Turns under way. */
  busy = 0;
  /** Deleted or expired: turns still under way are not stored. */
  gone = false;
  /** Resolves when the first turn of the session is stored or refused; undefined when that is not under way. */
  opening: Promise<void> | undefined;
  /** What its client began it with, where that is to be remembered. */
  begunWith: Record<string, unknown> | undefined;
  /** Number of the expired session with the same id that this one takes the place of. */
  replaces: number | undefined;
  #turns: PlacedTurn[] | undefined;
  #loading: Promise<void> | undefined;
  #size = 0;
  readonly #total: CacheSize;

  /** `record` = what is stored, undefined for a new session; `total` counts the history that this one holds, too. */
  constructor(key: SessionKey, record: SessionRecord | undefined, createdMs: number, usedMs: number, total: CacheSize) {
    this.key = key;
    this.#total = total;
    this.run = record?.run;
    this.nextPlace = record?.turns ?? 0;
    this.createdMs = record?.createdMs ?? createdMs;
    this.begunWith = record?.begunWith;
    this.usedMs = usedMs;
    if (!record) this.#turns = [];
  }

  /** The messages of all turns, in the order in which the turns were completed; read with `load` unless they are in memory. */
  async history(load: (add: (turn: PlacedTurn) => void) => Promise<void>): Promise<Message[]> {
    if (!this.#turns) {
      // Turns that complete meanwhile are added to the same list.
      this.#turns = [];
      this.#loading = load((turn) => this.add(turn)).finally(() => {
        this.#loading = undefined;
      });
    }
    try {
      await this.#loading;
    } catch (error) {
      this.forget();
      throw error;
    }
    return (this.#turns ?? []).flatMap((turn) => turn.messages);
  }

  /** Adds a turn to the history in memory, where that is kept. */
  add(turn: PlacedTurn): void {
    if (!this.#turns) return;
    let at = this.#turns.length;
    while (at > 0 && this.#turns[at - 1]!.place > turn.place) at -= 1;
    if (this.#turns[at - 1]?.place === turn.place) return;
    this.#turns.splice(at, 0, turn);
    if (this.gone) return;
    const size = sizeOf(turn.messages);
    this.#size += size;
    this.#total.characters += size;
  }

  /** Drops the history from memory; it is read again when it is needed. */
  forget(): void {
    if (this.#loading) return;
    this.#turns = undefined;
    this.#uncount();
  }

  /** Ends the session: it is no longer counted, and turns under way are not stored. */
  end(): void {
    this.gone = true;
    this.#uncount();
  }

  #uncount(): void {
    this.#total.characters -= this.#size;
    this.#size = 0;
  }
}

/** Number of characters in all texts below a value. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (value === null || typeof value !== 'object') return 8;
  let size = 16;
  for (const member of Object.values(value)) size += sizeOf(member);
  return size;
}
