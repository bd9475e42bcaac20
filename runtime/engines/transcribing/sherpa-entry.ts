import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { inspectGraph } from '../../formats/onnx/graph-file.js';
import { type SherpaFolder, sherpaFolder } from '../../formats/sherpa-folder.js';
import type { HostedEngine, OpenEngine } from '../../hosts/protocol.js';
import { type Heard, type HeardWord, LISTEN_RATE, type Stretch } from '../contracts/transcribing.js';
import { loadSherpa, type SherpaLiveRecognizer, type SherpaRecognizer, type SherpaText } from '../sherpa/sherpa.js';
import type { SherpaOpenBody, TranscriberOpened } from './client.js';

/** Silence behind the sound, which models that hear as it comes need to finish: 0.7 s. */
const TAIL_SAMPLES = 0.7 * LISTEN_RATE;
/** How long the last word is taken to be, where the sound goes on. */
const WORD_S = 0.5;
/** What a token is called that begins a word. */
const BEGINNING = /^[▁\s]/;
/** What a token ends with whose word goes on. */
const GOING_ON = /@@$/;
/** Languages by the letters that only they have, for models that do not tell what they heard. */
const BY_LETTERS = {
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}]/u,
  ko: /\p{Script=Hangul}/u,
  zh: /\p{Script=Han}/u,
  ru: /\p{Script=Cyrillic}/u,
};

/** How a folder is opened; a Whisper model anew for each language and task. */
function configOf(
  folder: string,
  model: SherpaFolder,
  threads: number,
  { language, translate }: Pick<Stretch, 'language' | 'translate'>,
): object {
  const at = (file: string): string => join(folder, file);
  const { kind, live, main, graphs, tokens, metadata } = model;
  const common = { tokens: at(tokens), numThreads: threads, provider: 'cpu', debug: 0 };
  const own = (): object => {
    switch (kind) {
      case 'transducer': {
        const isNemo = /^EncDec/i.test(metadata.get('model_type') ?? '');
        const parts = { encoder: at(main), decoder: at(graphs.decoder!), joiner: at(graphs.joiner!) };
        return { transducer: parts, ...(isNemo && { modelType: 'nemo_transducer' }) };
      }
      case 'whisper':
        return {
          whisper: {
            encoder: at(main),
            decoder: at(graphs.decoder!),
            language,
            task: translate ? 'translate' : 'transcribe',
            tailPaddings: -1,
          },
        };
      case 'moonshine':
        return {
          moonshine: { preprocessor: at(main), ...Object.fromEntries(Object.entries(graphs).map(([part, file]) => [part, at(file)])) },
        };
      case 'senseVoice':
        return { senseVoice: { model: at(main), language: '', useInverseTextNormalization: 1 } };
      case 'paraformer':
        return { paraformer: live ? { encoder: at(main), decoder: at(graphs.decoder!) } : { model: at(main) } };
      case 'zipformerCtc':
        return { [live ? 'zipformer2Ctc' : kind]: { model: at(main) } };
      default:
        return { [kind]: { model: at(main) } };
    }
  };
  return { featConfig: { sampleRate: LISTEN_RATE, featureDim: 80 }, modelConfig: { ...own(), ...common } };
}

/** A recogniser of sherpa-onnx, whichever it is. */
interface Ear {
  readonly model: SherpaFolder;
  hear(stretch: Stretch): SherpaText;
}

function liveEar(recognizer: SherpaLiveRecognizer, model: SherpaFolder): Ear {
  return {
    model,
    hear: ({ samples }) => {
      const stream = recognizer.createStream();
      stream.acceptWaveform({ samples, sampleRate: LISTEN_RATE });
      stream.acceptWaveform({ samples: new Float32Array(TAIL_SAMPLES), sampleRate: LISTEN_RATE });
      stream.inputFinished();
      while (recognizer.isReady(stream)) recognizer.decode(stream);
      return recognizer.getResult(stream);
    },
  };
}

function wholeEar(
  recognizer: SherpaRecognizer,
  model: SherpaFolder,
  configFor: (stretch: Pick<Stretch, 'language' | 'translate'>) => object,
): Ear {
  let last = '';
  return {
    model,
    hear: (stretch) => {
      const wanted = `${stretch.language} ${stretch.translate}`;
      if (model.kind === 'whisper' && wanted !== last) recognizer.setConfig(configFor(stretch));
      last = wanted;
      const stream = recognizer.createStream();
      stream.acceptWaveform({ samples: stretch.samples, sampleRate: LISTEN_RATE });
      recognizer.decode(stream);
      return recognizer.getResult(stream);
    },
  };
}

async function openEar({ folder, threads }: SherpaOpenBody): Promise<Ear> {
  const model = sherpaFolder(folder, (await readdir(folder)).sort());
  if (model?.purpose !== 'hears')
    throw new Failure('invalid', 'The folder holds no model of sherpa-onnx that writes down speech.', { code: 'InvalidModelFile' });
  const { OfflineRecognizer, OnlineRecognizer } = loadSherpa();
  for (const graph of model.weights) inspectGraph(join(folder, graph), folder);
  const configFor = (stretch: Pick<Stretch, 'language' | 'translate'>): object => configOf(folder, model, threads, stretch);
  const config = configFor({ language: isMultilingual(model) ? '' : 'en', translate: false });
  if (model.live) return liveEar(new OnlineRecognizer(config), model);
  return wholeEar(new OfflineRecognizer(config), model, configFor);
}

const isMultilingual = ({ kind, metadata }: SherpaFolder): boolean =>
  kind === 'senseVoice' || (kind === 'whisper' && metadata.get('is_multilingual') === '1');

/** Throws `bad_request` for what the model cannot do; the library would end the process. */
function requireAble({ kind, metadata }: SherpaFolder, { language, translate }: Stretch): void {
  if (translate && kind !== 'whisper')
    throw new Failure('bad_request', 'This model cannot translate; ask a Whisper model, such as whisper-base.', {
      code: 'CannotTranslate',
    });
  const known = (metadata.get('all_language_codes') ?? '').split(',');
  if (kind === 'whisper' && language !== '' && !known.includes(language) && !(language === 'en' && known[0] === ''))
    throw new Failure('bad_request', `The model does not know the language "${language}".`, { code: 'UnknownLanguage' });
}

/** The words of a text by the times of its tokens; null where there are none. */
function wordsOf({ tokens = [], timestamps = [] }: SherpaText, seconds: number): HeardWord[] | null {
  if (timestamps.length === 0 || timestamps.length !== tokens.length) return null;
  // Paraformer marks tokens whose word goes on, the others those that begin one.
  const marksBeginnings = tokens.some((token) => BEGINNING.test(token));
  const words: { word: string; start: number }[] = [];
  for (const [index, token] of tokens.entries()) {
    const begins = marksBeginnings ? BEGINNING.test(token) : !GOING_ON.test(tokens[index - 1] ?? '');
    const letters = token.replace(/^▁/, ' ').replace(GOING_ON, '');
    if (words.length === 0 || begins) words.push({ word: letters, start: timestamps[index]! });
    else words.at(-1)!.word += letters;
  }
  return words
    .filter(({ word }) => word.trim() !== '')
    .map(({ word, start }, index, all) => ({
      word,
      start,
      end: Math.min(seconds, all[index + 1]?.start ?? start + WORD_S),
      probability: 1,
    }));
}

/** The language of a result: what the model says, such as `<|en|>` of SenseVoice, what was asked for, or by its letters. */
const languageOf = ({ lang = '', text }: SherpaText, asked: string): string =>
  /[a-z]{2,3}/.exec(lang)?.[0] ?? (asked || (Object.entries(BY_LETTERS).find(([, letters]) => letters.test(text))?.[0] ?? 'en'));

/** Models of sherpa-onnx in a host process: `open` once, then any number of `hear`, one at a time, each of which blocks. */
class SherpaEngine implements HostedEngine {
  #ear: Ear | undefined;

  async call(method: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    if (method === 'open') {
      this.#ear = await openEar(body as SherpaOpenBody);
      return { multilingual: isMultilingual(this.#ear.model), available: ['cpu'], used: ['cpu'] } satisfies TranscriberOpened;
    }
    if (!this.#ear) throw new Failure('unavailable', 'The model is not loaded yet.');
    if (method !== 'hear') throw new Failure('internal', `The transcribing engine has no method ${method}.`);
    // Lets a cancel be seen that came while the stretch before was heard.
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    return heardBy(this.#ear, body as Stretch);
  }

  close(): void {}
}

function heardBy(ear: Ear, stretch: Stretch): Heard {
  requireAble(ear.model, stretch);
  const seconds = stretch.samples.length / LISTEN_RATE;
  // A stream without any sound ends the process.
  if (seconds === 0) return { language: stretch.language || 'en', segments: [] };
  const result = ear.hear(stretch);
  const segment = { start: 0, end: seconds, text: result.text, meanLogProbability: 0, noSpeechProbability: 0 };
  const words = stretch.words ? wordsOf(result, seconds) : null;
  return { language: languageOf(result, stretch.language), segments: result.text.trim() === '' ? [] : [{ ...segment, words }] };
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => new SherpaEngine();
