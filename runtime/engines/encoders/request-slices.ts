/** Texts and characters of one message to a host: its answer must not hold up the daemon's loop. */
const SLICE_TEXTS = 64;
const SLICE_CHARACTERS = 256 * 1024;
/** Slices of one call that are under way: enough for full batches of like length, few enough for memory to stay flat. */
const SLICES_AT_ONCE = 4;

type Slice = readonly [from: number, to: number];

function slicesOf(texts: readonly string[]): Slice[] {
  const slices: Slice[] = [];
  for (let from = 0; from < texts.length; ) {
    let to = from + 1;
    let characters = texts[from]!.length;
    while (to < texts.length && to - from < SLICE_TEXTS && characters + texts[to]!.length <= SLICE_CHARACTERS) {
      characters += texts[to]!.length;
      to += 1;
    }
    slices.push([from, to]);
    from = to;
  }
  return slices;
}

/**
 * Asks for the texts of one call slice by slice, a few at once, and gives the answers in order. The first failure ends the call; the signal
 * that `ask` gets is aborted then.
 */
export async function askInSlices<Reply>(
  texts: readonly string[],
  signal: AbortSignal,
  ask: (from: number, to: number, signal: AbortSignal) => Promise<Reply>,
): Promise<Reply[]> {
  const slices = slicesOf(texts);
  // A signal of two others costs as much as a short text's way to the host and back.
  if (slices.length === 1) return [await ask(0, texts.length, signal)];
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const replies: Reply[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < slices.length) {
      const index = next++;
      const [from, to] = slices[index]!;
      replies[index] = await ask(from, to, either);
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
