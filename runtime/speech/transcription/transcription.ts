import { join } from 'node:path';
import type { Heard, HeardSegment, Transcriber } from '../../engines/contracts/transcribing.js';
import { TranscriberClient } from '../../engines/transcribing/client.js';
import { findTranscriber } from '../../models/find/transcriber.js';
import type { Held, Models } from '../../models/residency/models.js';
import type { LongTranscribeRequest, SpeechInService, TranscribeRequest, Transcribing, TranscriptSegment } from '../contract.js';
import { LISTEN_RATE } from '../decode/contract.js';
import { VOICE_FRAME, type VoiceActivity, type VoiceDetectors } from '../voice-activity.js';
import { type SpokenStretch, spokenStretches } from './stretches.js';

/** A frame of 32 ms counts as speech from this probability on: less than where somebody is waited for, as music may have words. */
const LIKELY = 0.35;
/** Frames that must be speech. */
const LEAST_FRAMES = 3;
/** Frames that are judged at a time: 4 s; mostly the first tell. */
const AT_ONCE = 125;

/** Whether somebody speaks in a stretch, by the detector of speech: a model would make words of noise. */
export async function holdsSpeech(samples: Float32Array, activity: VoiceActivity): Promise<boolean> {
  activity.reset();
  const frames = Math.floor(samples.length / VOICE_FRAME);
  let found = 0;
  for (let at = 0; at < frames; at += AT_ONCE) {
    const heard = await activity.hear(samples.slice(at * VOICE_FRAME, Math.min(frames, at + AT_ONCE) * VOICE_FRAME));
    found += heard.reduce((count, likely) => count + Number(likely >= LIKELY), 0);
    if (found >= LEAST_FRAMES) return true;
  }
  return false;
}

/** Of the text before, for the engine to go on in the same spelling. */
const PROMPT_CHARACTERS = 200;
/** What was said longer ago is another matter. */
const PROMPT_SECONDS = 5;
/** What whole audio is given to the cutter in: a second. */
const PIECE = LISTEN_RATE;
/** Where nothing was heard that could tell it. */
const UNHEARD_LANGUAGE = 'en';
/** Buffers of an engine beside its weights, in bytes. */
const BUFFER_BYTES = 200 * 1024 * 1024;

type AnyRequest = TranscribeRequest | LongTranscribeRequest;

/** Whole audio as pieces, with a turn of the event loop after each. */
async function* piecesOf(samples: Float32Array): AsyncGenerator<Float32Array, void, undefined> {
  for (let at = 0; at < samples.length; at += PIECE) {
    yield samples.subarray(at, at + PIECE);
    if (at % (60 * PIECE) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Counts what passes. */
async function* countSeconds(
  pieces: AsyncIterable<Float32Array>,
  count: (samples: number) => void,
): AsyncGenerator<Float32Array, void, undefined> {
  for await (const piece of pieces) {
    count(piece.length);
    yield piece;
  }
}

/** What hears one stretch after the other; here a model of this machine, elsewhere a runtime that is asked. */
export type Ear = Pick<Transcriber, 'hear'>;

/**
 * Begins to write down what an ear hears; the first stretch is heard when this resolves. `release` is called once, when the segments have ended or
 * something failed. With `detectors`, stretches of audio that comes in pieces are heard only where somebody speaks in them.
 */
export async function transcribeBy(
  ear: Ear,
  request: AnyRequest,
  signal: AbortSignal,
  release: () => void,
  detectors?: Pick<VoiceDetectors, 'open'>,
): Promise<Transcribing> {
  // Whole audio is an utterance, in which a detector has found speech.
  const run = new Run(ear, request, signal, request.samples instanceof Float32Array ? undefined : detectors?.open());
  try {
    const first = await run.next();
    return {
      get language() {
        return run.language || request.language || UNHEARD_LANGUAGE;
      },
      get duration() {
        return run.seconds;
      },
      segments: segmentsOf(run, first, release),
    };
  } catch (error) {
    await run.end();
    release();
    throw error;
  }
}

/** Writes down speech with the models of this machine. */
export class Transcription implements SpeechInService {
  readonly #models: Models;
  readonly #converted: string;
  readonly #detectors: VoiceDetectors | undefined;

  /** Files that are made of models of another form are kept below `dataDir`. `detectors` tell where files have speech; it closes them. */
  constructor(models: Models, dataDir: string, detectors?: VoiceDetectors) {
    this.#models = models;
    this.#detectors = detectors;
    this.#converted = join(dataDir, 'converted-models');
  }

  /**
   * The model is held until the segments have ended. Rejects with `not_found` that names the pull, `bad_request` for a language that the model does
   * not know, `unavailable` when its process dies.
   */
  async transcribe(request: AnyRequest, signal: AbortSignal): Promise<Transcribing> {
    const { engine, release } = await this.#hold(request.model, signal);
    return transcribeBy(engine, request, signal, release, this.#detectors);
  }

  async keepTranscriber(model: string, signal: AbortSignal): Promise<() => void> {
    return (await this.#hold(model, signal)).release;
  }

  async close(): Promise<void> {
    await this.#detectors?.close();
  }

  /** A model in use, loaded where it is not. */
  async #hold(name: string, signal: AbortSignal): Promise<Held<Transcriber>> {
    const { id, format, folder, weights, sizeBytes, notes } = await findTranscriber(name, this.#models.places);
    const path = format === 'ggml' ? weights[0] : folder;
    return this.#models.hold<Transcriber>(
      {
        key: `speech:${id}:auto`,
        source: path,
        type: 'speech',
        name,
        sizeBytes: sizeBytes + BUFFER_BYTES,
        load: (circuit, stop) =>
          format === 'onnx'
            ? TranscriberClient.sherpa({ name: id, folder, notes }, circuit, stop)
            : TranscriberClient.whisper({ name: id, path, form: format, converted: this.#converted, notes }, circuit, stop),
      },
      signal,
    );
  }
}

/** One transcript on its way: hears one stretch after the other. */
class Run {
  readonly #ear: Ear;
  readonly #request: AnyRequest;
  readonly #signal: AbortSignal;
  readonly #stretches: AsyncGenerator<SpokenStretch, void, undefined>;
  readonly #activity: VoiceActivity | undefined;
  #samples = 0;
  #said = '';
  #saidUntil = 0;
  #count = 0;
  language = '';

  constructor(ear: Ear, request: AnyRequest, signal: AbortSignal, activity: VoiceActivity | undefined) {
    this.#ear = ear;
    this.#request = request;
    this.#signal = signal;
    this.#activity = activity;
    const { samples } = request;
    const pieces = samples instanceof Float32Array ? piecesOf(samples) : samples;
    this.#stretches = spokenStretches(countSeconds(pieces, (count) => (this.#samples += count)));
  }

  /** Of the audio that was read. */
  get seconds(): number {
    return this.#samples / LISTEN_RATE;
  }

  /** The segments of the next stretch in which something was heard; undefined at the end. */
  async next(): Promise<TranscriptSegment[] | undefined> {
    for (;;) {
      this.#signal.throwIfAborted();
      const { value: stretch } = await this.#stretches.next();
      if (!stretch) return undefined;
      if (this.#activity && !(await holdsSpeech(stretch.samples, this.#activity))) continue;
      const segments = await this.#hear(stretch);
      if (segments.length > 0) return segments;
    }
  }

  /** Lets go of the audio. */
  async end(): Promise<void> {
    this.#activity?.close();
    await this.#stretches.return();
  }

  async #hear({ samples, start }: SpokenStretch): Promise<TranscriptSegment[]> {
    const { language, prompt = '', temperature = 0, words = false, task } = this.#request;
    const before = start - this.#saidUntil < PROMPT_SECONDS ? this.#said.slice(-PROMPT_CHARACTERS) : '';
    const heard: Heard = await this.#ear.hear(
      {
        samples,
        language: language ?? this.language,
        translate: task === 'translate',
        prompt: `${prompt} ${before}`.trim(),
        temperature,
        words,
      },
      this.#signal,
    );
    const segments = heard.segments.filter(({ text }) => text.trim() !== '');
    // What is only noise is heard as any language.
    if (segments.length > 0) this.language ||= heard.language;
    for (const { text, end } of segments) {
      this.#said = `${this.#said} ${text.trim()}`.slice(-PROMPT_CHARACTERS);
      this.#saidUntil = start + end;
    }
    return segments.map((segment) => this.#placed(segment, start));
  }

  #placed({ start, end, text, words, meanLogProbability, noSpeechProbability }: HeardSegment, offset: number): TranscriptSegment {
    return {
      id: this.#count++,
      start: offset + start,
      end: offset + end,
      text: text.trim(),
      words: words?.map((word) => ({ ...word, word: word.word.trim(), start: offset + word.start, end: offset + word.end })) ?? null,
      avg_logprob: meanLogProbability,
      no_speech_prob: noSpeechProbability,
    };
  }
}

async function* segmentsOf(
  run: Run,
  first: TranscriptSegment[] | undefined,
  release: () => void,
): AsyncGenerator<TranscriptSegment, void, undefined> {
  try {
    for (let segments = first; segments; segments = await run.next()) yield* segments;
  } finally {
    await run.end();
    release();
  }
}
