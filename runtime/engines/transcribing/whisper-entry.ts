import { deflateRawSync } from 'node:zlib';
import type { NativeTranscriber } from '../../../native/contract.js';
import { backendFolders, loadInference } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import type { HostedEngine, OpenEngine } from '../../hosts/protocol.js';
import { deviceNames } from '../contracts/loaded.js';
import { type Heard, type HeardSegment, LISTEN_RATE, type Stretch } from '../contracts/transcribing.js';
import type { TranscriberOpenBody, TranscriberOpened } from './client.js';
import { convertedFile } from './converted-cache.js';

/** Frames that the encoder sees of 30 s, and of a second; fewer make a short stretch cheap, but too few make the model repeat itself. */
const ALL_FRAMES = 1500;
const FRAMES_PER_SECOND = 50;
const SPARE_FRAMES = 256;

/** Text that the model takes for this unlikely is made up, and less so where it hears no speech at all. */
const MADE_UP = -2;
const DOUBTED = -1;
const NO_SPEECH = 0.6;

const isBelieved = ({ meanLogProbability, noSpeechProbability }: HeardSegment): boolean =>
  meanLogProbability >= (noSpeechProbability > NO_SPEECH ? DOUBTED : MADE_UP);

/** Frames for a stretch; 0 = all, where fewer would save nothing. */
function framesFor(samples: number): number {
  const frames = Math.ceil((samples / LISTEN_RATE) * FRAMES_PER_SECOND) + SPARE_FRAMES;
  return frames >= ALL_FRAMES ? 0 : frames;
}

/** The Whisper engine of a host process: `open` once, then any number of `hear`, one at a time. */
class WhisperEngine implements HostedEngine {
  #model: NativeTranscriber | undefined;
  #last: Promise<unknown> = Promise.resolve();

  call(method: string, body: unknown, signal: AbortSignal): unknown {
    if (method === 'open') return this.#open(body as TranscriberOpenBody, signal);
    if (!this.#model) throw new Failure('unavailable', 'The model is not loaded yet.');
    if (method !== 'hear') throw new Failure('internal', `The transcribing engine has no method ${method}.`);
    const model = this.#model;
    const hearing = this.#last.then(() => transcribe(model, body as Stretch, signal));
    this.#last = hearing.catch(() => {});
    return hearing;
  }

  async close(): Promise<void> {
    await this.#model?.close();
  }

  async #open({ path, form, converted, threads, gpu }: TranscriberOpenBody, signal: AbortSignal): Promise<TranscriberOpened> {
    const addon = loadInference();
    const devices = addon.loadBackends(backendFolders());
    const file = form === 'ggml' ? path : await convertedFile(path, converted, signal);
    this.#model = await addon.openTranscriber(file, { threads, gpu });
    const gpus = devices.filter((device) => device.kind === 'gpu').map(({ name }) => name);
    return {
      multilingual: this.#model.multilingual,
      available: deviceNames(devices.map(({ name }) => name)),
      used: gpu && gpus.length > 0 ? gpus.slice(0, 1) : ['cpu'],
    };
  }
}

async function transcribe(model: NativeTranscriber, stretch: Stretch, signal: AbortSignal): Promise<Heard> {
  const audioContext = framesFor(stretch.samples.length);
  const heard = await transcribeOnce(model, stretch, audioContext, signal);
  const text = heard.segments.map((segment) => segment.text).join('');
  // What the model makes of too little context it mostly gets right with all of it.
  return audioContext > 0 && repeatsItself(text) ? transcribeOnce(model, { ...stretch, language: heard.language }, 0, signal) : heard;
}

async function transcribeOnce(model: NativeTranscriber, stretch: Stretch, audioContext: number, signal: AbortSignal): Promise<Heard> {
  signal.throwIfAborted();
  const { samples, ...options } = stretch;
  const segments: HeardSegment[] = [];
  const stop = (): void => model.stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const language = await model.transcribe(samples, { ...options, audioContext }, (segment) => segments.push(segment));
    return { language, segments: segments.filter(isBelieved) };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => new WhisperEngine();

/** Text that shrinks to less than this part says the same again and again, which models do that hear too little. */
const RATIO = 2.4;

/** Fewer words are repeated by people: "no, no, no". */
const LEAST_WORDS = 3;

/** Whether a transcript repeats itself as a model's does that lost the audio. */
export function repeatsItself(text: string): boolean {
  const bytes = Buffer.from(text);
  if (bytes.length > 0 && bytes.length / deflateRawSync(bytes).length > RATIO) return true;
  return isSaidTwice(text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? []);
}

/** Whether some of the words stand right behind themselves again. */
function isSaidTwice(words: readonly string[]): boolean {
  for (let count = LEAST_WORDS; count <= words.length / 2; count += 1) {
    let same = 0;
    for (let at = count; at < words.length && same < count; at += 1) same = words[at] === words[at - count] ? same + 1 : 0;
    if (same >= count) return true;
  }
  return false;
}
