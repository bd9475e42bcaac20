/** One change of state: the state before, what happens, and the state after. */
export type Transition<State extends string, Event extends string> = readonly [from: State, event: Event, to: State];

/** A state with a name, which changes only by the transitions of a list. */
export class StateMachine<State extends string, Event extends string> {
  readonly #next: ReadonlyMap<string, State>;
  readonly #changed: ((state: State) => void) | undefined;
  #state: State;

  /** `changed` is told each new state. */
  constructor(transitions: readonly Transition<State, Event>[], initial: State, changed?: (state: State) => void) {
    this.#next = new Map(transitions.map(([from, event, to]) => [`${from} ${event}`, to]));
    this.#state = initial;
    this.#changed = changed;
  }

  /** The present state. */
  get state(): State {
    return this.#state;
  }

  /** Goes where the event leads; false where the list has no such event for the present state, which then stays. */
  on(event: Event): boolean {
    const next = this.#next.get(`${this.#state} ${event}`);
    if (next === undefined) return false;
    this.#state = next;
    this.#changed?.(next);
    return true;
  }
}
