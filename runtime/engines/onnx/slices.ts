/** Texts and characters of one message to a host: its answer must not hold up the daemon's loop. */
const SLICE_TEXTS = 64;
const SLICE_CHARACTERS = 256 * 1024;
/** Slices of one call that are under way: enough for full batches of like length, few enough for memory to stay flat. */
const SLICES_AT_ONCE = 4;

/**
 * Asks for the texts of one call slice by slice, a few at once, and gives the answers in order. The first failure ends the call; the signal
 * that `ask` gets is aborted then.
 */
export async function sliced<Reply>(
  texts: readonly string[],
  signal: AbortSignal,
  ask: (from: number, to: number, signal: AbortSignal) => Promise<Reply>,
): Promise<Reply[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const replies: Reply[] = [];
  let next = 0;
  let slot = 0;
  const worker = async (): Promise<void> => {
    while (next < texts.length) {
      const from = next;
      let characters = 0;
      do {
        characters += texts[next]!.length;
        next += 1;
      } while (next < texts.length && next - from < SLICE_TEXTS && characters + texts[next]!.length <= SLICE_CHARACTERS);
      const index = slot++;
      replies[index] = await ask(from, next, either);
    }
  };
  try {
    await Promise.all(Array.from({ length: SLICES_AT_ONCE }, worker));
  } catch (error) {
    stop.abort();
    throw error;
  }
  return replies;
}
