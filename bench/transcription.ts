import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Models } from '../runtime/models/residency/models.js';
import { SPEECH_RATE } from '../runtime/speech/contract.js';
import { decodeWhole } from '../runtime/speech/decode/decode.js';
import { LocalSpeech } from '../runtime/speech/speak.js';
import { Transcription } from '../runtime/speech/transcription/transcription.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { SENTENCES } from '../test/support/speech/sentences.js';
import { whole } from '../test/support/speech/sound.js';
import { wavOf } from '../test/support/speech/sounds.js';
import { edgeErrors, pausedSpeech, type TimedWord } from '../test/support/speech/word-times.js';
import { Lacking, unlessLacking } from './lacking.js';
import { median, quantile, ROOT, type Row, table } from './measure.js';
import { spentMs } from './processes.js';
import { sizeOf } from './size.js';

const KIT = join(ROOT, 'build/speech-kit');
const MODEL = 'tiny.en';
/** Sentences of the long audio: a minute and a half. */
const COUNT = sizeOf('BENCH_HEARD_SENTENCES', 20, 4);
const ROUNDS = sizeOf('BENCH_ROUNDS', 3, 1);
const RATE = 16_000;
/** A Python with faster-whisper, such as that of a virtual environment. */
const PYTHON = process.env.QUERN_BENCH_PYTHON ?? 'python3';
const WHISPER = join(ROOT, 'node_modules/@fugood/whisper.node/whisper.cpp');
const LIBRARIES = join(ROOT, 'node_modules/@node-llama-cpp/linux-x64/bins/linux-x64');

/** whisper.cpp's own program, compiled from the sources that the addon has, against the libraries that it uses. */
function ownProgram(): string {
  const folder = join(ROOT, 'build/bench-peers/whisper-cli');
  const program = join(folder, 'whisper-cli');
  if (existsSync(program)) return program;
  if (!existsSync(LIBRARIES)) throw new Lacking("whisper.cpp's own program", 'it is compiled on linux-x64 only');
  mkdirSync(folder, { recursive: true });
  const libraries = readdirSync(LIBRARIES);
  const linked = libraries.filter((name) => /^libggml(?:-base)?(?:\.v[\d.]+)?\.so$/.test(name)).map((name) => join(LIBRARIES, name));
  const sources = [
    'examples/cli/cli.cpp',
    'examples/common.cpp',
    'examples/common-whisper.cpp',
    'examples/grammar-parser.cpp',
    'src/whisper.cpp',
  ];
  const headers = ['include', 'src', 'examples'].map((name) => join(WHISPER, name));
  const { status, error } = spawnSync('c++', [
    ...['-std=c++17', '-O2', '-DWHISPER_VERSION=""'],
    ...[...headers, join(ROOT, 'build/native/llama-headers/ggml/include')].map((name) => `-I${name}`),
    ...sources.map((name) => join(WHISPER, name)),
    ...['-o', program, ...linked, `-Wl,-rpath,${LIBRARIES}`, '-lpthread'],
  ]);
  if (error || status !== 0) throw new Lacking("whisper.cpp's own program", 'install a C++ compiler and run npm start once');
  // The program looks for the processor's library beside itself.
  for (const name of libraries.filter((one) => one.startsWith('libggml-cpu-'))) symlinkSync(join(LIBRARIES, name), join(folder, name));
  return program;
}

/** Seconds of a processor that the program needs for a file, without loading the model. */
function programSeconds(program: string, model: string, wav: string): number {
  const before = spentMs('self').waitedFor;
  const { stderr, status } = spawnSync(program, ['-m', model, '-f', wav, '-t', '1', '-bs', '1', '-bo', '1'], { encoding: 'utf8' });
  const load = Number(/load time =\s+([\d.]+) ms/.exec(stderr)?.[1]);
  if (status !== 0 || !Number.isFinite(load)) throw new Lacking("whisper.cpp's own program", stderr.slice(-200));
  return (spentMs('self').waitedFor - before - load) / 1000;
}

/** Seconds of a processor that faster-whisper needs for a file, with 8-bit weights. */
function fasterSeconds(folder: string, wav: string): number {
  const code = [
    'import sys, time',
    'from faster_whisper import WhisperModel',
    'model = WhisperModel(sys.argv[1], device="cpu", compute_type="int8", cpu_threads=1)',
    'begun = time.process_time()',
    'list(model.transcribe(sys.argv[2], language="en", beam_size=1, best_of=1)[0])',
    'print(time.process_time() - begun)',
  ].join('\n');
  const { status, stdout } = spawnSync(PYTHON, ['-c', code, folder, wav], { encoding: 'utf8' });
  const seconds = Number(stdout);
  if (status === 0 && seconds > 0) return seconds;
  throw new Lacking('faster-whisper', 'python3 -m venv V && V/bin/pip install faster-whisper, then set QUERN_BENCH_PYTHON=V/bin/python');
}

/** Measures how far the words of speech with known pauses are heard from where they sound, in milliseconds, for each engine that speaks. */
async function wordTimes(speech: LocalSpeech, transcription: Transcription, signal: AbortSignal): Promise<Row[]> {
  const rows: Row[] = [];
  for (const voice of [
    { model: 'flite', voice: 'slt' },
    { model: 'kokoro', voice: 'af_heart' },
  ]) {
    const say = async (text: string): Promise<Float32Array> => {
      const { samples } = await whole((await speech.speak({ text, ...voice, speed: 1 }, signal)).chunks);
      return decodeWhole(wavOf(samples, SPEECH_RATE));
    };
    const paused = await pausedSpeech(say, SENTENCES.slice(20, 20 + COUNT));
    const { segments } = await transcription.transcribe({ samples: paused.samples, model: MODEL, task: 'transcribe', words: true }, signal);
    const words: TimedWord[] = [];
    for await (const segment of segments) words.push(...(segment.words ?? []));
    const errors = edgeErrors(paused, words).map((seconds) => seconds * 1000);
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    const [middle, most, last] = [median(errors), quantile(errors, 0.95), Math.max(...errors)].map((error) => error.toFixed(0));
    rows.push({
      what: `${voice.model}: ${errors.length} edges of words at pauses, ms off: mean (middle, 95 %, most)`,
      ours: `${mean.toFixed(0)} (${middle}, ${most}, ${last})`,
      peer: '',
      ratio: '',
      goal: '',
    });
  }
  return rows;
}

/** Measures how fast speech is written down, and prints the table; how right, the part of text to speech tells. */
export async function benchTranscription(): Promise<void> {
  const kit = join(KIT, `models--Systran--faster-whisper-${MODEL}/snapshots`);
  if (!existsSync(kit)) throw new Lacking('real weights of Whisper', 'node scripts/speech-kit.mjs');
  const dataDir = emptyDataDir();
  const models = new Models({ dataDir, places: { hub: KIT } });
  const [speech, transcription] = [new LocalSpeech(models), new Transcription(models, dataDir)];
  const { signal } = new AbortController();
  const release = await transcription.keepTranscriber(MODEL, signal);
  const { pid } = models.loaded().find(({ key }) => key.startsWith('speech:'))!;
  const seconds = async (samples: Float32Array): Promise<number> => {
    const before = spentMs(pid!).own;
    const { segments } = await transcription.transcribe({ samples, model: MODEL, task: 'transcribe' }, signal);
    for await (const _segment of segments);
    return (spentMs(pid!).own - before) / 1000;
  };
  const spoken: Float32Array[] = [];
  for (const text of SENTENCES.slice(0, COUNT)) {
    const { samples } = await whole((await speech.speak({ text, model: 'flite', voice: 'slt', speed: 1 }, signal)).chunks);
    spoken.push(await decodeWhole(wavOf(samples, SPEECH_RATE)), new Float32Array(RATE / 2));
  }
  const long = Float32Array.from(spoken.flatMap((samples) => [...samples]));
  const wav = join(dataDir, 'long.wav');
  writeFileSync(wav, wavOf(long));
  const duration = long.length / RATE;
  const short = spoken[0]!;
  const converted = join(dataDir, 'converted-models');
  const file = join(converted, readdirSync(converted).find((name) => name.endsWith('.bin'))!);
  const program = await unlessLacking("transcription against whisper.cpp's own program", async () => ownProgram());
  const faster = await unlessLacking('transcription against faster-whisper', async () => {
    const folder = join(kit, readdirSync(kit)[0]!);
    fasterSeconds(folder, wav);
    return folder;
  });
  const spent: Record<'own' | 'utterance' | 'program' | 'faster', number[]> = { own: [], utterance: [], program: [], faster: [] };
  // The contestants take turns, so that what else the machine does meets all of them.
  for (let round = 0; round < ROUNDS; round += 1) {
    spent.own.push(await seconds(long));
    spent.utterance.push(await seconds(short));
    if (program !== undefined) spent.program.push(programSeconds(program, file, wav));
    if (faster !== undefined) spent.faster.push(fasterSeconds(faster, wav));
  }
  const times = await wordTimes(speech, transcription, signal);
  release();
  await models.close();
  const own = median(spent.own);
  const against = (name: string, rounds: number[], goal: string): Row => ({
    what: `${duration.toFixed(0)} s of speech, x real time for a second of a processor (${MODEL}), against ${name}`,
    ours: (duration / own).toFixed(1),
    peer: rounds.length === 0 ? '-' : (duration / median(rounds)).toFixed(1),
    ratio: rounds.length === 0 ? '-' : (median(rounds) / own).toFixed(2),
    goal,
  });
  table('Speech to text', [
    against("whisper.cpp's own program", spent.program, '>= 1.0'),
    against('faster-whisper', spent.faster, ''),
    {
      what: `one sentence of ${(short.length / RATE).toFixed(1)} s, ms of a processor`,
      ours: (median(spent.utterance) * 1000).toFixed(0),
      peer: '',
      ratio: '',
      goal: '',
    },
    ...times,
  ]);
}
