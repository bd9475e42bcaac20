import type { CollectedCompletion } from '../../completions/contract.js';

/** A call as the model wrote it. */
export type ModelCall = CollectedCompletion['toolCalls'][number];

/** A call as clients and the event log see it. */
export interface CallAbout {
  readonly tool_call_id: string;
  /** What the model called. */
  readonly name: string;
  /** Null where nobody has such a tool. */
  readonly server: string | null;
  readonly tool: string | null;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** A call that was made. */
export interface MadeCall extends CallAbout {
  readonly failed: boolean;
  /** As the model is given it. */
  readonly result: string;
  readonly duration_ms: number;
}

/** Told of calls, for the event log. */
export interface CallRecord {
  toolCalled(call: CallAbout): void;
  toolAnswered(call: MadeCall): void;
}
