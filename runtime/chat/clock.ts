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
