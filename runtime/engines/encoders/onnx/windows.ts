/** Tokens that neighbouring windows share, as a part of a window, and at most: what a token's meaning mostly hangs on lies as near. */
const SHARED_PART = 4;
const SHARED_TOKENS = 64;

/** A part of a long text that goes through the model at once, in tokens of the text; ends are exclusive. */
export interface Window {
  readonly start: number;
  readonly end: number;
  /** The tokens that are read from this window: each token of the text is read from the window in whose middle it lies nearest. */
  readonly from: number;
  readonly to: number;
}

/** The windows of at most `room` tokens over a text of so many tokens; one that is empty for an empty text. */
export function windowsOf(tokens: number, room: number): Window[] {
  if (tokens <= room) return [{ start: 0, end: tokens, from: 0, to: tokens }];
  const shared = Math.min(SHARED_TOKENS, Math.floor(room / SHARED_PART));
  const count = Math.ceil((tokens - shared) / (room - shared));
  // The last window is as full as the others: it has the more to go by.
  const starts = Array.from({ length: count }, (_, index) => Math.min(index * (room - shared), tokens - room));
  return starts.map((start, index) => {
    const before = index === 0 ? 0 : middle(start, starts[index - 1]! + room);
    const after = index === count - 1 ? tokens : middle(starts[index + 1]!, start + room);
    return { start, end: start + room, from: before, to: after };
  });
}

const middle = (from: number, to: number): number => Math.floor((from + to) / 2);
