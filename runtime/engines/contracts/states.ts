import type { NativeStateOutcome } from '../../../native/contract.js';

/** What a saved state is. */
export interface SavedState {
  /** Tokens that it stands for, those of the answer among them. */
  readonly tokens: number;
  readonly bytes: number;
}

/** What became of a restore. */
export interface RestoredState {
  readonly outcome: NativeStateOutcome;
  readonly tokens: number;
}

/** The KV states of one loaded model, by the path of their file; each call crosses to its host process. */
export interface SequenceStates {
  /** 16 hex digits that tell weights and cache options apart; a state fits only a model with the same. */
  readonly tag: string;
  /** Saves what the generation remembered as `name` left behind, once; `keep` holds a copy in the host's memory. Null where it is gone. */
  save(name: string, file: string, keep: boolean): Promise<SavedState | null>;
  /** Makes the next prompt with the state's beginning go on from it. */
  restore(file: string, keep: boolean): Promise<RestoredState>;
  /** Frees the copy in the host's memory; the file stays. */
  drop(file: string): Promise<void>;
  /** Whether the host holds a copy in memory. */
  holds(file: string): boolean;
}
