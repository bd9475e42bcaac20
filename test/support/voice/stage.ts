import type { Chat, ChatCall } from '../../../runtime/chat/chat.js';
import type { CompletionPart } from '../../../runtime/completions/contract.js';
import type { ServerMessage } from '../../../runtime/voice/contract.js';
import { VoiceSession } from '../../../runtime/voice/session.js';
import { projectSettings, type VoiceSettings } from '../../../runtime/voice/settings.js';
import type { Message } from '../../../schemas/generated/common.js';
import { FakeClock } from './fake-clock.js';
import { frameOf, LoudnessHearing, ScriptedSpeech, type SpeechScript } from './scripted-speech.js';

/** Milliseconds of one message of the scripted client. */
const FRAME_MS = 20;
const OUT_RATE = 24_000;
/** What a scripted session does. */
export interface Script extends SpeechScript {
  readonly settings?: Partial<VoiceSettings>;
  /** What each answer consists of, as pieces; the last one for all that follow. */
  readonly answers?: (string | CompletionPart | Error)[][];
  readonly tokenMs?: number;
  /** What the rehearsal of the model consists of. */
  readonly rehearsal?: (string | CompletionPart | Error)[];
}

/** Something that came from the session. */
export interface Received {
  readonly atMs: number;
  readonly message?: ServerMessage;
  readonly audio?: Int16Array;
}

/** A session with a scripted model, voice and ear, on a clock that stands until it is moved. */
export class VoiceStage {
  readonly clock = new FakeClock();
  readonly received: Received[] = [];
  readonly speech: ScriptedSpeech;
  readonly asked: ChatCall[] = [];
  readonly kept: { call: ChatCall; answer: Message }[] = [];
  /** Generations that have not ended. */
  open = 0;
  #heldChats = 0;
  closed: { code: number; reason: string } | undefined;
  /** What the network has not taken; a function of the clock where it stalls. */
  bufferedBytes = 0;
  readonly hearing = new LoudnessHearing();
  readonly session: VoiceSession;
  readonly #script: Script;

  constructor(script: Script = {}) {
    this.#script = script;
    this.speech = new ScriptedSpeech({ transcribeMs: 100, speakMs: 30, ...script }, (milliseconds, signal) =>
      this.clock.sleep(milliseconds, signal),
    );
    const stage = this;
    this.session = new VoiceSession({
      namespace: 'ns',
      project: 'p',
      id: 'session-1',
      systemPrompt: undefined,
      begunWith: {},
      settings: { ...projectSettings({ llm_model: 'm' }), ...script.settings },
      chat: this.#chat(),
      speech: this.speech,
      transcription: this.speech,
      hearing: this.hearing,
      clock: this.clock,
      ended: () => undefined,
      peer: {
        send: (content) => {
          const atMs = this.clock.nowMs();
          if (typeof content === 'string') this.received.push({ atMs, message: JSON.parse(content) as ServerMessage });
          else
            this.received.push({
              atMs,
              audio: new Int16Array(content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength)),
            });
          return true;
        },
        get bufferedBytes() {
          return stage.bufferedBytes;
        },
        close: (code, reason) => (this.closed = { code, reason }),
      },
    });
    this.session.start();
  }

  /** Models that were not given back. */
  get held(): number {
    return this.#heldChats + this.speech.held;
  }

  /** Messages of one type. */
  messages<T extends ServerMessage['type']>(type: T): Extract<ServerMessage, { type: T }>[] {
    return this.received.flatMap(({ message }) => (message?.type === type ? [message as Extract<ServerMessage, { type: T }>] : []));
  }

  get states(): string[] {
    return this.messages('status').map(({ state }) => state);
  }

  /** The state now. */
  get state(): string {
    return this.states.at(-1)!;
  }

  /** Seconds of audio that came. */
  get audioS(): number {
    return this.received.reduce((sum, { audio }) => sum + (audio?.length ?? 0), 0) / OUT_RATE;
  }

  /** When the last audio came. */
  get lastAudioMs(): number {
    return this.received.filter(({ audio }) => audio).at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
  }

  say(message: Record<string, unknown>): void {
    this.session.text(JSON.stringify(message));
  }

  /** Sends sound of a loudness at its own pace. */
  async sound(seconds: number, loudness: number, pace = 1): Promise<void> {
    for (let passed = 0; passed < Math.round(seconds * 1000); passed += FRAME_MS) {
      this.session.binary(frameOf(loudness));
      await this.clock.advance(FRAME_MS / pace);
    }
  }

  speak(seconds: number, pace = 1): Promise<void> {
    return this.sound(seconds, 0.2, pace);
  }

  silence(seconds: number, pace = 1): Promise<void> {
    return this.sound(seconds, 0, pace);
  }

  /** Moves on until a state is reached. */
  async until(state: string, limitMs = 60_000): Promise<void> {
    for (let waited = 0; waited < limitMs; waited += 10) {
      if (this.state === state) return;
      await this.clock.advance(10);
    }
    throw new Error(`the session is ${this.state} and not ${state} after ${limitMs} ms; it was ${this.states.join(', ')}`);
  }

  #chat(): Chat {
    const chat: Pick<Chat, 'model' | 'hold' | 'complete'> = {
      model: () => ({ name: 'm', provider: 'universal', model: 'x' }),
      hold: async () => {
        this.#heldChats += 1;
        return () => {
          this.#heldChats -= 1;
        };
      },
      complete: async (call, signal) => {
        const isRehearsal = call.request.max_tokens === 1;
        if (!isRehearsal) this.asked.push(call);
        const pieces = isRehearsal
          ? (this.#script.rehearsal ?? [])
          : this.#nth(this.#script.answers ?? [['Very well. I can do that for you.']], this.asked.length - 1);
        const parts = this.#answer(pieces, signal);
        const turn = {
          parts: () => ({
            parts,
            keep: async (answer: Message) => void this.kept.push({ call, answer }),
            close: () => undefined,
          }),
        };
        return turn as never;
      },
    };
    return chat as Chat;
  }

  async *#answer(pieces: readonly (string | CompletionPart | Error)[], signal: AbortSignal): AsyncGenerator<CompletionPart> {
    this.open += 1;
    try {
      for (const piece of pieces) {
        await this.clock.sleep(this.#script.tokenMs ?? 20, signal);
        if (piece instanceof Error) throw piece;
        if (typeof piece !== 'string') yield piece;
        else
          for (const token of piece.match(/\s*\S+|\s+$/g) ?? []) {
            await this.clock.sleep(this.#script.tokenMs ?? 20, signal);
            yield { type: 'text', text: token };
          }
      }
      yield { type: 'finish', reason: 'stop', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
    } finally {
      this.open -= 1;
    }
  }

  #nth<T>(list: readonly T[], index: number): T {
    return list[Math.min(index, list.length - 1)]!;
  }
}
