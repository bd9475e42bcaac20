/** What the speech of this daemon offers, whether it runs here or at another runtime. Audio inside is mono float in -1..1. */

export { SPEECH_RATE } from '../engines/contracts/speaking.js';

/** A voice as `/v1/audio/voices` shows it. */
export interface Voice {
  readonly id: string;
  readonly name: string;
  /** BCP 47, such as `en-US`. */
  readonly language: string;
  /** The speech model that it belongs to, such as `kokoro`. */
  readonly model: string;
}

/** What is to be said, and how. */
export interface SpeakRequest {
  readonly text: string;
  readonly model: string;
  /** Absent: the model's default. */
  readonly voice?: string | undefined;
  /** 0.25 to 4; 1 is the voice's own pace. */
  readonly speed: number;
}

/** When a word of the text sounds, in seconds from the start of the answer. */
export interface SpokenWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Some of the audio, as soon as it is there. */
export interface SpokenChunk {
  /** 24 kHz mono. */
  readonly samples: Float32Array;
  /** The words that begin in this chunk; absent where the engine does not know. */
  readonly words?: readonly SpokenWord[];
}

/** An answer that is being spoken. Ending the iteration early stops the engine. */
export interface Spoken {
  /** The engine and the voice that really speak, such as `flite` and `slt` before Kokoro is pulled. */
  readonly engine: string;
  readonly voice: string;
  readonly chunks: AsyncIterable<SpokenChunk>;
}

/** What is to be written down, and how. */
export interface TranscribeRequest {
  /** 16 kHz mono. */
  readonly samples: Float32Array;
  readonly model: string;
  /** ISO 639-1; absent: the engine listens for it. */
  readonly language?: string;
  readonly prompt?: string;
  /** 0 to 1. */
  readonly temperature?: number;
  /** Asks for the times of words. */
  readonly words?: boolean;
  readonly task: 'transcribe' | 'translate';
}

/** The same of audio that comes in pieces of any length, such as a long file, of which no more than half a minute is in memory. */
export interface LongTranscribeRequest extends Omit<TranscribeRequest, 'samples'> {
  readonly samples: AsyncIterable<Float32Array>;
}

/** What was said in a stretch of the audio. */
export interface TranscriptSegment {
  readonly id: number;
  /** In seconds. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly words: readonly (SpokenWord & { readonly probability: number })[] | null;
  readonly avg_logprob: number;
  readonly no_speech_prob: number;
}

/** A transcript that is being written. Ending the iteration early stops the engine. */
export interface Transcribing {
  /** ISO 639-1. */
  readonly language: string;
  /** Seconds of audio: those that were read so far, and all of them once the segments have ended. */
  readonly duration: number;
  /** Segments as they are found, monotonic in time. */
  readonly segments: AsyncIterable<TranscriptSegment>;
}

/** Speech out. */
export interface SpeechOut {
  /** The voices of a model, or of all that are here, the default voice first. Rejects for an unknown model. */
  voices(model?: string): Promise<readonly Voice[]>;
  /** Rejects for an unknown model or voice (404 that names the pull) before any audio. A text in which nothing can be said has no chunk. */
  speak(request: SpeakRequest, signal: AbortSignal): Promise<Spoken>;
}

/** Speech out as a service, which can be told what will be needed. */
export interface SpeechOutService extends SpeechOut {
  /** Loads who speaks, and keeps them loaded until the returned function is called. Another runtime keeps its models by its own rules. */
  keepVoice(model: string, voice: string | undefined, signal: AbortSignal): Promise<() => void>;
  /** Who speaks where nobody in particular is asked for, in a sentence, for `/health`. */
  speaker(): Promise<string>;
}

/** Speech in. */
export interface SpeechIn {
  /** Rejects for an unknown model (404 that names the pull) before any segment. */
  transcribe(request: TranscribeRequest | LongTranscribeRequest, signal: AbortSignal): Promise<Transcribing>;
}

/** Speech in as a service, which can be told what will be needed. */
export interface SpeechInService extends SpeechIn {
  /** Loads a model, and keeps it loaded until the returned function is called. Another runtime keeps its models by its own rules. */
  keepTranscriber(model: string, signal: AbortSignal): Promise<() => void>;
}
