/** How one encoding turns a field of objects into numbers. `State` is plain JSON: what it learned from the rows of a fit. */
export interface Encoding<State extends object = object> {
  /** Learns from the values of a field, `undefined` where a row lacks it. Missing for encodings that need to learn nothing. */
  readonly learn?: (values: Iterable<unknown>, field: string) => State | Promise<State>;
  /** The names of its columns, one or more. */
  columns(field: string, state: State): readonly string[];
  /** Gives what turns a value into the numbers of those columns, written from `at` on; `row` and `field` are for messages. */
  writer(field: string, state: State): WriteValue;
  /** Whether plain JSON is a state of this encoding; files may hold anything. */
  isState(state: object): state is State;
}

/** Writes one value as numbers. */
export type WriteValue = (value: unknown, out: Float64Array, at: number, row: number) => void;
