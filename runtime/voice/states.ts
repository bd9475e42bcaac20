import type { Transition } from '../base/state-machine.js';

/** What a voice session is doing, as its `status` messages say it. */
export type VoiceState = 'idle' | 'listening' | 'processing' | 'speaking' | 'interrupted';

/** What moves a session from one state to another. */
export type VoiceEvent =
  /** Sound comes in that may hold speech. */
  | 'sound'
  /** What came in held no speech, or a silenced answer has nothing to follow it. */
  | 'nothing'
  /** The end of an utterance was found, or a text was typed. */
  | 'utterance'
  /** There is a text to answer. */
  | 'answer'
  /** The answer has been spoken to its end. */
  | 'spoken'
  /** The user speaks over an answer, or the client asks for silence. */
  | 'interruption'
  /** The user goes on with an utterance that seemed complete. */
  | 'continuation'
  /** What interrupted an answer was no reason to end it. */
  | 'resumption'
  /** A model failed. */
  | 'failure';

/** Every transition of a session. An event that a state does not list leaves it as it is. */
export const TRANSITIONS: readonly Transition<VoiceState, VoiceEvent>[] = [
  ['idle', 'sound', 'listening'],
  ['idle', 'utterance', 'processing'],
  ['listening', 'utterance', 'processing'],
  ['listening', 'nothing', 'idle'],
  ['listening', 'resumption', 'speaking'],
  ['listening', 'failure', 'idle'],
  ['processing', 'answer', 'speaking'],
  ['processing', 'nothing', 'idle'],
  ['processing', 'resumption', 'speaking'],
  ['processing', 'continuation', 'listening'],
  ['processing', 'interruption', 'interrupted'],
  ['processing', 'failure', 'idle'],
  ['speaking', 'spoken', 'idle'],
  ['speaking', 'interruption', 'interrupted'],
  ['speaking', 'failure', 'idle'],
  ['interrupted', 'sound', 'listening'],
  ['interrupted', 'utterance', 'processing'],
  ['interrupted', 'nothing', 'idle'],
];
