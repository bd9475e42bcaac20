/** Long work in slices, so that the page answers keys between them. */

const SLICE_MS = 12;

/** A function to await now and then in long work: it gives way to the page where the work went on for 12 ms since it last did. */
export function slices(): () => Promise<void> | undefined {
  let until = performance.now() + SLICE_MS;
  return () => {
    if (performance.now() < until) return undefined;
    return new Promise((resolve) =>
      setTimeout(() => {
        until = performance.now() + SLICE_MS;
        resolve();
      }),
    );
  };
}
