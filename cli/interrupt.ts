/** What a person stopped with Ctrl+C; it is no failure, and nothing is said of it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** Work that was stopped has so long to put things right. */
const GRACE_MS = 10_000;

/**
 * Does work that a person may stop: Ctrl+C aborts its signal, so that nothing stays half done, and a second one ends the program as it always
 * does. Throws `Interrupted` where it was stopped before it was done, at the latest ten seconds later.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const control = new AbortController();
  const { signal } = control;
  const stop = (): void => control.abort(new Interrupted('stopped'));
  let timer: NodeJS.Timeout | undefined;
  process.once('SIGINT', stop);
  try {
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => (timer = setTimeout(() => reject(signal.reason), GRACE_MS)), { once: true });
    });
    return await Promise.race([work(signal), late]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    process.off('SIGINT', stop);
    clearTimeout(timer);
  }
}
