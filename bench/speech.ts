import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadCore } from '../native/loader.js';
import { Models } from '../runtime/models/residency/models.js';
import { SPEECH_RATE } from '../runtime/speech/contract.js';
import { LocalSpeech } from '../runtime/speech/speak.js';
import { Transcription } from '../runtime/speech/transcription/transcription.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { SENTENCES } from '../test/support/speech/sentences.js';
import { whole } from '../test/support/speech/sound.js';
import { wordErrors } from '../test/support/speech/word-errors.js';
import { Lacking } from './lacking.js';
import { median, ROOT, type Row, table } from './measure.js';
import { processorMs } from './processes.js';
import { sizeOf } from './size.js';

/** Sentences that are spoken; all hundred in a full run. */
const COUNT = sizeOf('BENCH_SENTENCES', 100, 4);
const KIT = join(ROOT, 'build', 'speech-kit');
const HEARD_RATE = 16_000;
const VOICES = { flite: 'slt', kokoro: 'af_heart', piper: 'en_US-joe-medium' } as const;
const GOALS = { flite: '<= 8 %', kokoro: '<= 6 %', piper: '' } as const;

/** Measures how fast each engine speaks, how soon it is heard, and how much of it Whisper tiny.en understands; prints the table. */
export async function benchSpeech(): Promise<void> {
  if (!existsSync(join(KIT, 'models--Systran--faster-whisper-tiny.en')))
    throw new Lacking('the weights of speech', 'run node scripts/speech-kit.mjs');
  const dataDir = emptyDataDir();
  const models = new Models({ dataDir, places: { hub: KIT } });
  const speech = new LocalSpeech(models);
  const ears = new Transcription(models, dataDir);
  const rows: Row[] = [];
  for (const model of ['flite', 'kokoro', 'piper'] as const) rows.push(...(await measured(model, { models, speech, ears })));
  table(`Text to speech: ${COUNT} sentences, one after the other`, rows);
  await models.close();
}

async function measured(
  model: keyof typeof VOICES,
  { models, speech, ears }: { models: Models; speech: LocalSpeech; ears: Transcription },
): Promise<Row[]> {
  const never = new AbortController().signal;
  const ask = (text: string) => speech.speak({ text, model, voice: VOICES[model], speed: 1 }, never);
  await whole((await ask('Hello.')).chunks);
  const { pid } = models.loaded().find(({ key }) => key.startsWith(`tts:${model}`))!;
  const before = processorMs(pid!);
  const [firstMs, took]: [number[], number[]] = [[], []];
  const sounds: Float32Array[] = [];
  for (const sentence of SENTENCES.slice(0, COUNT)) {
    const started = performance.now();
    const { chunks } = await ask(sentence);
    let first: number | undefined;
    const timed = (async function* () {
      for await (const chunk of chunks) {
        first ??= performance.now() - started;
        yield chunk;
      }
    })();
    sounds.push((await whole(timed)).samples);
    firstMs.push(first!);
    took.push(performance.now() - started);
  }
  const seconds = sounds.reduce((sum, { length }) => sum + length, 0) / SPEECH_RATE;
  const worked = processorMs(pid!) - before;
  let [errors, words] = [0, 0];
  for (const [index, sound] of sounds.entries()) {
    const resampler = loadCore().openResampler(SPEECH_RATE, HEARD_RATE);
    const samples = Float32Array.from([...resampler.push(sound), ...resampler.flush()]);
    const { segments } = await ears.transcribe({ samples, model: 'tiny.en', task: 'transcribe' }, never);
    let heard = '';
    for await (const { text } of segments) heard += text;
    const counted = wordErrors(SENTENCES[index]!, heard);
    errors += counted.wrong;
    words += counted.words;
  }
  const row = (what: string, ours: string, goal = ''): Row => ({ what: `${model}: ${what}`, ours, peer: '', ratio: '', goal });
  return [
    row('seconds of speech for a second of the clock', (seconds / (took.reduce((sum, ms) => sum + ms, 0) / 1000)).toFixed(2)),
    row('seconds of speech for a second of a processor', ((1000 * seconds) / worked).toFixed(2)),
    row('first sound, p50 ms', median(firstMs).toFixed(0)),
    row('words that tiny.en hears wrong', `${((100 * errors) / words).toFixed(1)} %`, GOALS[model]),
  ];
}
