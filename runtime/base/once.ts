/** A function that runs `run` at its first call, and gives at every call what that gave: for what is opened at its first use, or must not happen twice. What `run` throws is not kept. */
export function once<T>(run: () => T): () => T {
  let result: { readonly value: T } | undefined;
  return () => {
    result ??= { value: run() };
    return result.value;
  };
}

/** Something that is opened at its first use, so that a start does not wait for its code. */
export class Lazy<T extends object> {
  readonly #open: () => Promise<T>;
  #opening: Promise<T> | undefined;
  #opened: T | undefined;

  constructor(open: () => Promise<T>) {
    this.#open = open;
  }

  /** What was opened, without opening it. */
  get opened(): T | undefined {
    return this.#opened;
  }

  /** What was opened or is being opened, for whoever closes it; undefined where nobody has asked for it, or it could not be opened. */
  async settled(): Promise<T | undefined> {
    return this.#opening?.catch(() => undefined);
  }

  /** Opens it unless it is open; a failure to open it stays. */
  get(): Promise<T> {
    this.#opening ??= this.#open().then((opened) => {
      this.#opened = opened;
      return opened;
    });
    return this.#opening;
  }
}

/** An object whose every call opens what it stands for, and then calls it there. All methods of `T` have to answer by promises; one that it lacks answers nothing. */
export function callsOf<T extends object>(lazy: Pick<Lazy<T>, 'get'>): T {
  return new Proxy({} as T, {
    // A promise that resolves to this object must not take it for another promise.
    get: (_nothing, name) => (name === 'then' ? undefined : (...given: unknown[]) => callOpened(lazy, name, given)),
  });
}

async function callOpened<T extends object>(lazy: Pick<Lazy<T>, 'get'>, name: string | symbol, given: unknown[]): Promise<unknown> {
  const opened = (await lazy.get()) as Record<string | symbol, ((...given: unknown[]) => unknown) | undefined>;
  return opened[name]?.(...given);
}

/**
 * A function of a text that remembers its latest answer: several extractors in turn ask the same of one chunk. Answers must not be changed.
 */
export function rememberLatest<T>(make: (text: string) => T): (text: string) => T {
  let known: { readonly text: string; readonly answer: T } | undefined;
  return (text) => {
    if (known?.text !== text) known = { text, answer: make(text) };
    return known.answer;
  };
}
