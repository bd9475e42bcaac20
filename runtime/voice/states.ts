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

/** Every transition there is: state, event, next state. An event that a state does not list leaves it as it is. */
export const TRANSITIONS: readonly (readonly [from: VoiceState, event: VoiceEvent, to: VoiceState])[] = [
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

const NEXT: ReadonlyMap<string, VoiceState> = new Map(TRANSITIONS.map(([from, event, to]) => [`${from} ${event}`, to]));

/** The state machine of a voice session. */
export class StateMachine {
  #state: VoiceState = 'idle';
  readonly #changed: (state: VoiceState) => void;

  /** `changed` is told each new state. */
  constructor(changed: (state: VoiceState) => void) {
    this.#changed = changed;
  }

  get state(): VoiceState {
    return this.#state;
  }

  /** Goes where the event leads; false where the state does not know the event. */
  on(event: VoiceEvent): boolean {
    const next = NEXT.get(`${this.#state} ${event}`);
    if (next === undefined) return false;
    this.#state = next;
    this.#changed(next);
    return true;
  }
}
