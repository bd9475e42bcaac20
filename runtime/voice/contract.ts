import { Failure } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import type { VoiceState } from './states.js';

/** What a session says besides audio. */
export type ServerMessage =
  | { readonly type: 'session_info'; readonly session_id: string }
  /** Comes where the session was asked to keep its turns in a conversation. */
  | { readonly type: 'turn_kept'; readonly conversation_id: string }
  | { readonly type: 'status'; readonly state: VoiceState }
  | { readonly type: 'transcription'; readonly text: string; readonly is_final: boolean }
  | { readonly type: 'llm_text'; readonly text: string; readonly is_final: boolean }
  | { readonly type: 'tool_call'; readonly tool_call_id: string; readonly function_name: string; readonly arguments: string }
  /** A call of a tool of a server: `id` and `expires_at` of one that waits for a person, `duration_ms` of one that was made. */
  | {
      readonly type: 'server_tool';
      readonly state: 'running' | 'waiting' | 'done' | 'failed';
      readonly tool_call_id: string;
      readonly server?: string | null;
      readonly tool?: string | null;
      readonly arguments?: string;
      readonly id?: string;
      readonly expires_at?: string;
      readonly duration_ms?: number;
    }
  | { readonly type: 'tts_start'; readonly phrase_index: number }
  /** Seconds of audio. */
  | { readonly type: 'tts_done'; readonly phrase_index: number; readonly duration: number }
  | ({ readonly type: 'timings' } & TurnTimings)
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'closed' };

/** A spoken question and its answer as they are kept. */
export interface SpokenTurn {
  readonly asked: string;
  /** What was heard of the answer; empty where there was none. */
  readonly heard: string;
  /** Name of the model in the project. */
  readonly model: string | undefined;
  /** Whether somebody ended the answer. */
  readonly isCut: boolean;
  /** Why there is no more of it, where it failed. */
  readonly error?: string | undefined;
}

/** A conversation that outlives its spoken turns. */
export interface TalkRecord {
  readonly id: string;
  /** What was said in it before, for the model. */
  earlier(): Promise<Message[]>;
  /** Adds a turn at its end; resolves when that is on disk. */
  add(turn: SpokenTurn): Promise<void>;
}

/** Where the time of one answer went, in milliseconds since the end of the speech; what did not happen is absent. */
export interface TurnTimings {
  /** The end of the utterance was certain. */
  endpoint_ms?: number;
  /** The transcript was there. */
  stt_ms?: number;
  /** The model's first text. */
  first_token_ms?: number;
  /** The first phrase was complete. */
  first_phrase_ms?: number;
  /** The first audio was sent. */
  first_audio_ms?: number;
  /** All was heard, or the answer was cut. */
  end_ms?: number;
}

/** What was said in an utterance. */
export interface Said {
  /** Empty where there are no words. */
  readonly text: string;
  /** ISO 639-1. */
  readonly language: string;
}

/** The client of a session. */
export interface VoicePeer {
  /** Sends text or bytes; false when the peer takes no more. */
  send(content: string | Uint8Array): boolean;
  /** Bytes accepted but not yet taken by the network. */
  readonly bufferedBytes: number;
  close(code: number, reason: string): void;
}

/** A stretch of what the client's microphone hears. */
export interface VoiceFrame {
  /** 16 kHz mono, some 10 to 100 ms. */
  readonly samples: Float32Array;
  /** How probable it is that somebody speaks, 0 to 1. */
  readonly speech: number;
  /** Root mean square, 0 to 1. */
  readonly level: number;
}

/** Turns the bytes of one client into frames. */
export interface Hearing {
  /** Frames in order. Throws `bad_request` for bytes that are no audio; the next bytes are then a new beginning. */
  hear(bytes: Uint8Array): AsyncIterable<VoiceFrame>;
  /** What is left of a recording that is over; the next bytes are a new beginning. */
  end(): AsyncIterable<VoiceFrame>;
  close(): void;
}

/** Hears for all clients. */
export interface Ears {
  /** For one client. */
  open(): Hearing;
  close(): Promise<void>;
}

/** What a client may know of a failure. */
export const messageOf = (error: unknown): string =>
  error instanceof Failure ? error.message : 'The voice service failed. See the log for the reason.';
