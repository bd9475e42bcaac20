import { setTimeout as sleep } from 'node:timers/promises';
import type {
  LongTranscribeRequest,
  SpeakRequest,
  SpeechInService,
  SpeechOutService,
  TranscribeRequest,
} from '../../../runtime/speech/contract.js';
import type { Ears, Hearing, VoiceFrame } from '../../../runtime/voice/contract.js';
import { Failure } from '../../../schemas/errors.js';

const IN_RATE = 16_000;
const OUT_RATE = 24_000;
/** Samples of a frame: 20 ms. */
const FRAME = 320;
/** Louder than this counts as speech, as a root mean square. */
const SPEECH_LEVEL = 0.015;
/** Seconds that a scripted voice takes for a word. */
export const WORD_S = 0.25;

/** What scripted engines do. */
export interface SpeechScript {
  /** What each transcription says; the last one for all that follow. */
  readonly transcripts?: readonly (string | Error)[];
  readonly transcribeMs?: number;
  /** Before the first audio of a phrase. */
  readonly speakMs?: number;
  /** Whether the times of words are told; true unless it says otherwise. */
  readonly knowsWords?: boolean;
  /** Fails the phrase that has this text. */
  readonly mute?: string;
}

/** Waits, or rejects with the reason of the signal. */
type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<unknown>;

/** Speech that hears and says what a script tells, and remembers what it was asked. */
export class ScriptedSpeech implements Pick<SpeechOutService, 'speak' | 'keepVoice'>, SpeechInService {
  readonly spoken: SpeakRequest[] = [];
  readonly transcribed: { request: TranscribeRequest; aborted: boolean }[] = [];
  /** Models that were kept, in order. */
  readonly kept: string[] = [];
  /** Models that were kept and not given back. */
  held = 0;
  readonly #script: SpeechScript;
  readonly #sleep: Sleep;

  constructor(script: SpeechScript = {}, wait: Sleep = (milliseconds, signal) => sleep(milliseconds, undefined, { signal })) {
    this.#script = script;
    this.#sleep = wait;
  }

  async keepVoice(model: string, voice = 'by default'): Promise<() => void> {
    return this.#keep(`${model} ${voice}`);
  }

  async keepTranscriber(model: string): Promise<() => void> {
    return this.#keep(model);
  }

  async speak(request: SpeakRequest, signal: AbortSignal): ReturnType<SpeechOutService['speak']> {
    const { speakMs = 0, mute } = this.#script;
    this.spoken.push(request);
    if (speakMs > 0) await this.#sleep(speakMs, signal);
    if (request.text === mute) throw new Failure('unavailable', 'The voice crashed.');
    return { engine: 'scripted', voice: request.voice ?? 'by default', chunks: this.#chunks(request) };
  }

  async transcribe(request: TranscribeRequest | LongTranscribeRequest, signal: AbortSignal): ReturnType<SpeechInService['transcribe']> {
    const { transcripts = ['What can you do?'], transcribeMs = 0 } = this.#script;
    if (!isWhole(request)) throw new Error('voice chat gives whole utterances');
    const entry = { request, aborted: false };
    this.transcribed.push(entry);
    signal.addEventListener('abort', () => {
      entry.aborted = true;
    });
    const text = transcripts[Math.min(this.transcribed.length, transcripts.length) - 1]!;
    if (transcribeMs > 0) await this.#sleep(transcribeMs, signal);
    if (text instanceof Error) throw text;
    return { language: 'en', duration: request.samples.length / IN_RATE, segments: segments(text) };
  }

  #keep(model: string): () => void {
    this.kept.push(model);
    this.held += 1;
    return () => {
      this.held -= 1;
    };
  }

  async *#chunks({ text, speed }: SpeakRequest) {
    const seconds = WORD_S / speed;
    for (const [index, word] of text.split(/\s+/).entries()) {
      const samples = new Float32Array(Math.round(seconds * OUT_RATE)).fill(0.2);
      const start = index * seconds;
      yield { samples, ...(this.#script.knowsWords === false ? {} : { words: [{ word, start, end: start + seconds }] }) };
    }
  }
}

function isWhole(request: TranscribeRequest | LongTranscribeRequest): request is TranscribeRequest {
  return request.samples instanceof Float32Array;
}

async function* segments(text: string) {
  if (text !== '') yield { id: 0, start: 0, end: 1, text, words: null, avg_logprob: -0.2, no_speech_prob: 0.01 };
}

/** Hears raw PCM in frames of 20 ms: what is loud is speech. */
export class LoudnessHearing implements Hearing {
  closed = false;

  async *hear(bytes: Uint8Array): AsyncGenerator<VoiceFrame> {
    if (bytes.length % 2 === 1) throw new Failure('bad_request', 'The audio has an odd number of bytes.');
    const pcm = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    for (let from = 0; from < pcm.length; from += FRAME) {
      const samples = Float32Array.from(pcm.subarray(from, from + FRAME), (sample) => sample / 32768);
      const level = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
      yield { samples, level, speech: level > SPEECH_LEVEL ? 0.9 : 0.02 };
    }
  }

  async *end(): AsyncGenerator<VoiceFrame> {}

  close(): void {
    this.closed = true;
  }
}

/** Ears by loudness, which need no process. */
export const LOUDNESS_EARS: Ears = { open: () => new LoudnessHearing(), close: async () => undefined };

/** 20 ms of 16-bit sound of a loudness. */
export function frameOf(loudness: number): Uint8Array {
  const samples = Int16Array.from({ length: FRAME }, (_, index) => (index % 2 === 0 ? 1 : -1) * loudness * 32767);
  return new Uint8Array(samples.buffer);
}
