import { isObject } from '../base/json.js';
import { log } from '../base/log.js';
import { StateMachine } from '../base/state-machine.js';
import type { Chat } from '../chat/chat.js';
import type { SpeechInService, SpeechOutService } from '../speech/contract.js';
import { askModel, type Conversation, type EndedTurn, notUnderstood, readPromptAhead } from './chat-turn.js';
import { type Clock, sinceMs } from './clock.js';
import { type Hearing, messageOf, type Said, type ServerMessage, type TurnTimings, type VoiceFrame, type VoicePeer } from './contract.js';
import { HeldLevel } from './ear.js';
import { isBackChannel, isStop } from './languages.js';
import { Listening, type Utterance } from './listening.js';
import { Readiness } from './readiness.js';
import { Reply } from './reply.js';
import { applyConfig, type VoiceSettings } from './settings.js';
import { TRANSITIONS, type VoiceEvent, type VoiceState } from './states.js';
import { Traffic } from './traffic.js';

/** Characters of a typed text. */
const MOST_TEXT = 10_000;
/** Characters of what the user said and got no answer to, which goes before what they say next. */
const MOST_UNANSWERED = 10_000;
/** One chunk of `barge_in_min_chunks`, in seconds; the last one counts from its middle on, so that "stop" is long enough. */
const CHUNK_S = 0.1;
/** How sure the detector must be that somebody speaks, and how sure while an answer sounds. */
const SPEECH = 0.5;
const SPEECH_OVER_ANSWER = 0.7;
/** While an answer sounds, a voice is louder than this share of it: what is softer may be its echo. */
const ECHO_SHARE = 0.5;
/** The end of a connection: by us, and because of what the client did not take. */
const GOING_AWAY = 1001;
const TRY_LATER = 1013;

/** What a session is made of. */
export interface SessionParts extends Conversation {
  readonly settings: VoiceSettings;
  readonly chat: Chat;
  readonly speech: Pick<SpeechOutService, 'speak' | 'keepVoice'>;
  readonly transcription: SpeechInService;
  readonly hearing: Hearing;
  readonly peer: VoicePeer;
  readonly clock: Clock;
  /** Called when a turn is over, with why it failed where it did. */
  readonly turnEnded?: (turn: EndedTurn, model: string | undefined, error?: unknown) => void;
  /** Called once, when the session is over; what was heard is on disk when the promise, which never rejects, resolves. */
  readonly ended: (saving: Promise<void>) => void;
}

/** One conversation over one connection. */
export class VoiceSession {
  readonly #parts: SessionParts;
  readonly #machine: StateMachine<VoiceState, VoiceEvent>;
  readonly #listening: Listening;
  readonly #traffic: Traffic;
  readonly #readiness: Readiness;
  #settings: VoiceSettings;
  #reply: Reply | undefined;
  /** The utterance that is on its way to text. */
  #utterance: Utterance | undefined;
  #unanswered = '';
  readonly #level = new HeldLevel();
  /** Nothing was said for a while: sound alone is no reason to listen. */
  #isQuiet = false;
  /** Sound is heard piece after piece. */
  #work: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#machine = new StateMachine(TRANSITIONS, 'idle', (state) => this.#send({ type: 'status', state }));
    this.#traffic = new Traffic(parts.clock, (message) => this.#send({ type: 'error', message }));
    const { chat, transcription, clock } = parts;
    this.#readiness = new Readiness({
      ...parts,
      rehearse: (signal) => readPromptAhead(chat, parts, this.#settings, signal),
      failed: (error) => this.#fail(messageOf(error)),
    });
    this.#listening = new Listening({
      transcription,
      clock,
      settings: () => this.#settings,
      events: {
        began: () => this.#began(),
        nothing: () => this.#nothing(),
        draft: (text) => this.#send({ type: 'transcription', text, is_final: false }),
        ended: (utterance) => this.#ended(utterance),
      },
    });
  }

  /** The conversation that is held here. */
  get id(): string {
    return this.#parts.id;
  }

  /** Says who it is, and loads what the conversation needs. */
  start(): void {
    this.#send({ type: 'session_info', session_id: this.#parts.id });
    this.#send({ type: 'status', state: 'idle' });
    this.#readiness.prepare(this.#settings);
  }

  /** Sound from the client. */
  binary(bytes: Uint8Array): void {
    if (this.#isOver || !this.#traffic.takes(bytes.length)) return;
    if (this.#machine.state === 'idle' && !this.#isQuiet) this.#machine.on('sound');
    this.#listening.touch();
    this.#later(async () => {
      this.#traffic.done(bytes.length);
      await this.#hear(this.#parts.hearing.hear(bytes));
    });
  }

  /** A message of the client. */
  text(content: string): void {
    if (this.#isOver || !this.#traffic.takesText(content.length)) return;
    const message = parseMessage(content);
    if (!message) this.#fail('Invalid JSON message');
    else if (message.type === 'interrupt') this.#interrupt();
    else if (message.type === 'end') this.#later(() => this.#endOfSound());
    else if (message.type === 'text') this.#typed(message.text);
    else if (message.type === 'config') this.#configure(message);
    else {
      const given = JSON.stringify(message.type ?? null).slice(0, 100);
      this.#fail(`There is no message of type ${given}. Send config, end, interrupt or text, or audio as binary messages.`);
    }
  }

  /** The connection is gone, or `reason` says why we end it. */
  end(reason?: string): void {
    if (this.#isOver) return;
    if (reason !== undefined) {
      this.#send({ type: 'closed' });
      this.#parts.peer.close(GOING_AWAY, reason);
    }
    this.#isOver = true;
    this.#readiness.close();
    this.#listening.clear();
    this.#utterance?.drop();
    this.#parts.hearing.close();
    this.#parts.ended(this.#cut().catch((error: unknown) => this.#report(error)));
  }

  async #endOfSound(): Promise<void> {
    await this.#hear(this.#parts.hearing.end());
    if (this.#machine.state === 'listening') this.#listening.end();
    this.#isQuiet = false;
  }

  async #hear(frames: AsyncIterable<VoiceFrame>): Promise<void> {
    for await (const frame of frames) {
      if (this.#isOver) return;
      this.#frame(frame);
    }
  }

  #frame(frame: VoiceFrame): void {
    const { state } = this.#machine;
    const isBusy = state === 'processing' || state === 'speaking';
    const { bargeIn, noiseFilter, minChunks } = this.#settings;
    if (isBusy && !bargeIn) return;
    if (isBusy && !this.#listening.isInUtterance) {
      const floor = state === 'speaking' ? (this.#reply?.loudness ?? 0) * ECHO_SHARE : 0;
      const isSpeech = frame.speech >= (state === 'speaking' ? SPEECH_OVER_ANSWER : SPEECH) && this.#level.of(frame) > floor;
      this.#listening.hear(frame, isSpeech, ((noiseFilter ? minChunks : 1) - 0.5) * CHUNK_S);
      return;
    }
    this.#listening.hear(frame, frame.speech >= SPEECH);
  }

  #began(): void {
    this.#isQuiet = false;
    const { state } = this.#machine;
    if (state === 'processing') {
      this.#utterance?.drop();
      this.#utterance = undefined;
      this.#machine.on('continuation');
      return;
    }
    if (state === 'speaking') {
      this.#reply?.pause();
      this.#machine.on('interruption');
    }
    this.#machine.on('sound');
  }

  #nothing(): void {
    if (this.#machine.state !== 'listening') return;
    if (this.#reply) {
      this.#resume();
      return;
    }
    this.#isQuiet = true;
    this.#machine.on('nothing');
  }

  #ended(utterance: Utterance): void {
    this.#utterance = utterance;
    this.#machine.on('utterance');
    const { clock } = this.#parts;
    const timings: TurnTimings = { endpoint_ms: sinceMs(clock, utterance.spokenMs) };
    let isHeard = false;
    const answer = async (): Promise<void> => {
      const said = await utterance.said;
      if (this.#utterance !== utterance) return;
      this.#utterance = undefined;
      isHeard = true;
      timings.stt_ms = sinceMs(clock, utterance.spokenMs);
      await this.#heard(said, utterance.spokenMs, timings);
    };
    answer().catch((error: unknown) => {
      // Another, or the same that goes on, has taken its place.
      if (this.#isOver || this.#utterance !== (isHeard ? undefined : utterance)) return;
      this.#utterance = undefined;
      this.#tell(notUnderstood(timings, sinceMs(clock, utterance.spokenMs)), error);
      this.#broken(error);
    });
  }

  /** Acts on what was said. */
  async #heard({ text, language }: Said, spokenMs: number, timings: TurnTimings): Promise<void> {
    this.#listening.accept();
    if (this.#reply && (text === '' || isBackChannel(text, language))) {
      this.#resume();
      return;
    }
    if (text === '') {
      this.#isQuiet = true;
      this.#machine.on('nothing');
      return;
    }
    const wasSpeaking = this.#reply !== undefined;
    this.#send({ type: 'transcription', text, is_final: true });
    await this.#cut();
    if (this.#machine.state !== 'processing') return;
    if (wasSpeaking && isStop(text, language)) {
      this.#machine.on('nothing');
      return;
    }
    this.#answer({ text, language }, spokenMs, timings);
  }

  #typed(text: unknown): void {
    if (typeof text !== 'string' || text.trim() === '' || text.length > MOST_TEXT) {
      this.#fail(`A text message has a text of at most ${MOST_TEXT} characters that is not blank.`);
      return;
    }
    this.#listening.clear();
    this.#utterance?.drop();
    this.#utterance = undefined;
    if (this.#machine.state === 'speaking' || this.#machine.state === 'processing') this.#machine.on('interruption');
    this.#machine.on('utterance');
    const now = this.#parts.clock.nowMs();
    this.#cut().then(
      () => this.#answer({ text: text.trim(), language: this.#settings.language }, now, {}),
      (error: unknown) => this.#broken(error),
    );
  }

  #answer({ text, language }: Said, askedMs: number, timings: TurnTimings): void {
    if (this.#isOver || !this.#machine.on('answer')) return;
    const { chat, speech, peer, clock } = this.#parts;
    const settings = this.#settings;
    const asked = [this.#unanswered, text].filter((part) => part !== '').join('\n');
    this.#unanswered = asked.slice(-MOST_UNANSWERED);
    const reply = new Reply({
      settings,
      language,
      speech,
      peer,
      clock,
      asked: text,
      askedMs,
      timings,
      open: (signal) => askModel(chat, this.#parts, settings, asked, signal),
      send: (message) => this.#send(message),
      stalled: () => this.#stalled(),
    });
    this.#reply = reply;
    reply.run().then(
      () => this.#answered(reply),
      (error: unknown) => {
        if (this.#reply !== reply) return;
        this.#reply = undefined;
        this.#unanswered = '';
        this.#tell(reply.facts, error);
        this.#broken(error);
      },
    );
  }

  /** An answer was heard to its end. */
  #answered(reply: Reply): void {
    if (this.#reply !== reply) return;
    this.#reply = undefined;
    this.#unanswered = '';
    this.#tell(reply.facts);
    this.#machine.on('spoken');
  }

  /** Ends the answer under way; what was heard of it is in the history. */
  async #cut(): Promise<void> {
    const reply = this.#reply;
    this.#reply = undefined;
    if (!reply) return;
    const heard = await reply.cut();
    if (heard !== '') this.#unanswered = '';
    this.#tell(reply.facts);
  }

  #interrupt(): void {
    const { state } = this.#machine;
    if (state === 'processing' || state === 'speaking') {
      this.#machine.on('interruption');
      this.#utterance?.drop();
      this.#utterance = undefined;
      this.#machine.on('nothing');
    }
    this.#listening.accept();
    this.#cut().catch((error: unknown) => this.#broken(error));
  }

  #resume(): void {
    this.#machine.on('resumption');
    this.#reply?.resume();
  }

  #configure(message: Record<string, unknown>): void {
    const { namespace, project, chat } = this.#parts;
    const { settings, refused } = applyConfig(this.#settings, message);
    let next = settings;
    if (settings.llmModel !== this.#settings.llmModel) {
      try {
        chat.model(namespace, project, settings.llmModel);
      } catch (error) {
        refused.push(`llm_model: ${messageOf(error).replace(/\.$/, '')}`);
        next = { ...settings, llmModel: this.#settings.llmModel };
      }
    }
    const before = this.#settings;
    this.#settings = next;
    const models = ['sttModel', 'ttsModel', 'ttsVoice', 'llmModel'] as const;
    if (models.some((name) => before[name] !== next[name])) this.#readiness.prepare(next);
    if (refused.length > 0) this.#fail(`Not all of the config acts. ${refused.join('; ')}.`);
  }

  #stalled(): void {
    log('info', 'a voice client takes no audio and is closed', { session: this.#parts.id });
    this.#parts.peer.close(TRY_LATER, 'the audio is not taken');
    this.end();
  }

  #tell(turn: EndedTurn, error?: unknown): void {
    const { timings } = turn;
    log('info', 'a voice turn', { session: this.#parts.id, ...timings });
    this.#parts.turnEnded?.(turn, this.#settings.llmModel, error);
    if (this.#settings.timings && error === undefined) this.#send({ type: 'timings', ...timings });
  }

  /** A turn failed: the client is told, and the next one can come. */
  #broken(error: unknown): void {
    if (this.#isOver) return;
    this.#report(error);
    this.#fail(messageOf(error));
    this.#machine.on('failure');
  }

  #report(error: unknown): void {
    log('error', 'a voice turn failed', { session: this.#parts.id, error });
  }

  #fail(message: string): void {
    this.#send({ type: 'error', message });
  }

  #send(message: ServerMessage): void {
    if (!this.#isOver) this.#parts.peer.send(JSON.stringify(message));
  }

  /** Does one piece of work after those before it. */
  #later(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      if (this.#isOver) return;
      this.#fail(messageOf(error));
      if (this.#machine.state === 'listening' && !this.#listening.isInUtterance) this.#machine.on('failure');
    });
  }
}

function parseMessage(content: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(content);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
