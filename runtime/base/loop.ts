/** So long one stretch of work may hold the event loop before others get their turn, in milliseconds. */
const STRETCH_MS = 2;

const waiting: (() => void)[] = [];
let sinceMs = Number.NEGATIVE_INFINITY;

function next(): void {
  const first = waiting.shift();
  if (waiting.length > 0) setImmediate(next);
  sinceMs = performance.now();
  first?.();
}

/** Lets others run. Of all who wait here, one goes on per round of the event loop, so that many of them hold it no longer than one. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(next);
  });
}

/** To be awaited between small pieces of long work: lets others run once 2 ms are used up. */
export function breathe(): Promise<void> | undefined {
  return performance.now() - sinceMs < STRETCH_MS ? undefined : turn();
}

/** The outcome of `promise`, or the signal's reason as soon as it is aborted; the work itself goes on. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw signal.reason;
  }
  let onAbort!: () => void;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The outcome of `promise`, or what `late` gives or throws (undefined unless given) once `ms` milliseconds have passed; the work itself goes on. */
export async function orLate<T, Late = undefined>(promise: Promise<T>, ms: number, late = () => undefined as Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([promise, passed.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
