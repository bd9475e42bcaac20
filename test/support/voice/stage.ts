import type { Chat } from '../../../runtime/chat/chat.js';
import type { ChatCall } from '../../../runtime/chat/complete.js';
import type { CompletionPart } from '../../../runtime/providers/contract.js';
import type { SpeakRequest, Speech, TranscribeRequest } from '../../../runtime/speech/contract.js';
import type { Hearing, ServerMessage, VoiceFrame } from '../../../runtime/voice/contract.js';
import { VoiceSession } from '../../../runtime/voice/session.js';
import { projectSettings, type VoiceSettings } from '../../../runtime/voice/settings.js';
import { Failure } from '../../../schemas/errors.js';
import type { Message } from '../../../schemas/generated/common.js';
import { FakeClock } from './fake-clock.js';

/** Milliseconds of one message of the scripted client. */
const FRAME_MS = 20;
const IN_RATE = 16_000;
const OUT_RATE = 24_000;
/** Seconds that a scripted voice takes for a word. */
export const WORD_S = 0.25;

/** What a scripted session does. */
export interface Script {
  readonly settings?: Partial<VoiceSettings>;
  /** What each answer consists of, as pieces; the last one for all that follow. */
  readonly answers?: (string | CompletionPart | Error)[][];
  /** What each transcription says; the last one for all that follow. */
  readonly transcripts?: (string | Error)[];
  /** How long each takes. */
  readonly tokenMs?: number;
  readonly transcribeMs?: number;
  /** Before the first audio of a phrase. */
  readonly speakMs?: number;
  readonly knowsWords?: boolean;
  /** Fails the phrase that has this text. */
  readonly mute?: string;
}

/** Something that came from the session. */
export interface Received {
  readonly atMs: number;
  readonly message?: ServerMessage;
  readonly audio?: Int16Array;
}

/** Raw PCM as frames of 20 ms; it is speech where it is loud. */
class LoudnessHearing implements Hearing {
  closed = false;

  async *hear(bytes: Uint8Array): AsyncGenerator<VoiceFrame> {
    if (bytes.length % 2 === 1) throw new Failure('bad_request', 'The audio has an odd number of bytes.');
    const pcm = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    const step = (IN_RATE * FRAME_MS) / 1000;
    for (let from = 0; from < pcm.length; from += step) {
      const samples = Float32Array.from(pcm.subarray(from, from + step), (sample) => sample / 32768);
      const level = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
      yield { samples, level, speech: level > 0.015 ? 0.9 : 0.02 };
    }
  }

  async *end(): AsyncGenerator<VoiceFrame> {}

  close(): void {
    this.closed = true;
  }
}

/** A session with a scripted model, voice and ear, on a clock that stands until it is moved. */
export class VoiceStage {
  readonly clock = new FakeClock();
  readonly received: Received[] = [];
  /** Requests to the engines, in order. */
  readonly spoken: SpeakRequest[] = [];
  readonly transcribed: { request: TranscribeRequest; aborted: boolean }[] = [];
  readonly asked: ChatCall[] = [];
  readonly kept: { call: ChatCall; answer: Message }[] = [];
  readonly keeps: unknown[] = [];
  /** Generations and models that were not given back. */
  open = 0;
  held = 0;
  closed: { code: number; reason: string } | undefined;
  /** What the network has not taken; a function of the clock where it stalls. */
  bufferedBytes = 0;
  readonly hearing = new LoudnessHearing();
  readonly session: VoiceSession;
  readonly #script: Script;

  constructor(script: Script = {}) {
    this.#script = script;
    const stage = this;
    this.session = new VoiceSession({
      namespace: 'ns',
      project: 'p',
      id: 'session-1',
      systemPrompt: undefined,
      settings: { ...projectSettings({ llm_model: 'm' }), ...script.settings },
      chat: this.#chat(),
      speech: this.#speech(),
      hearing: this.hearing,
      clock: this.clock,
      sayable: (text) => text,
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

  /** Messages of one type, or all. */
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
      const samples = new Int16Array((IN_RATE * FRAME_MS) / 1000);
      for (let index = 0; index < samples.length; index += 1) samples[index] = (index % 2 === 0 ? 1 : -1) * loudness * 32767;
      this.session.binary(new Uint8Array(samples.buffer));
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
        this.held += 1;
        return () => (this.held -= 1);
      },
      complete: async (call, signal) => {
        const isRehearsal = call.request.max_tokens === 1;
        if (!isRehearsal) this.asked.push(call);
        const pieces = isRehearsal ? [] : this.#nth(this.#script.answers ?? [['Very well. I can do that for you.']], this.asked.length - 1);
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

  #speech(): Speech {
    return {
      voices: async () => [],
      keep: async (models) => {
        this.keeps.push(models);
        this.held += 1;
        return () => (this.held -= 1);
      },
      speak: async (request, signal) => {
        this.spoken.push(request);
        await this.clock.sleep(this.#script.speakMs ?? 30, signal);
        if (request.text === this.#script.mute) throw new Failure('unavailable', 'The voice crashed.');
        return { engine: 'scripted', voice: request.voice, chunks: this.#chunks(request) };
      },
      transcribe: async (request, signal) => {
        const entry = { request, aborted: false };
        this.transcribed.push(entry);
        signal.addEventListener('abort', () => (entry.aborted = true));
        const text = this.#nth(this.#script.transcripts ?? ['What can you do?'], this.transcribed.length - 1);
        await this.clock.sleep(this.#script.transcribeMs ?? 100, signal);
        if (text instanceof Error) throw text;
        return { language: 'en', duration: request.samples.length / IN_RATE, segments: segments(text) };
      },
    };
  }

  async *#chunks({ text, speed }: SpeakRequest) {
    const words = text.split(/\s+/);
    const seconds = WORD_S / speed;
    for (const [index, word] of words.entries()) {
      const samples = new Float32Array(Math.round(seconds * OUT_RATE)).fill(0.2);
      const start = index * seconds;
      yield { samples, ...(this.#script.knowsWords === false ? {} : { words: [{ word, start, end: start + seconds }] }) };
    }
  }

  #nth<T>(list: readonly T[], index: number): T {
    return list[Math.min(index, list.length - 1)]!;
  }
}

async function* segments(text: string) {
  if (text !== '') yield { id: 0, start: 0, end: 1, text, words: null, avg_logprob: -0.2, no_speech_prob: 0.01 };
}
