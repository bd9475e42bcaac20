/** An engine as a host runs it: it lives alone in a child process and may abort that process. */
export interface HostedEngine {
  /**
   * Answers one call. What it returns or throws crosses to the daemon, so it must be structured-cloneable; a `Failure` keeps its kind.
   * `signal` is aborted when the caller has gone.
   */
  call(method: string, body: unknown, signal: AbortSignal): unknown;
  /** Ends all work; the process exits after it. */
  close(): Promise<void> | void;
}

/** The function that an engine's module exports as `openEngine`. `emit` sends one event to the daemon, in order. */
export type OpenEngine = (emit: (event: unknown) => void) => HostedEngine;
