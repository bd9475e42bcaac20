// `node scripts/spectrograms.mjs`: has each voice say one sentence and draws what it sounds like into docs/spectrograms.webp, four in a row: time from
// left to right (2.5 s), 0 to 8 kHz from the bottom up, the darker the louder. Needs a build, and the weights of scripts/speech-kit.mjs.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { root } from './steps.mjs';

const SENTENCE = 'The quick brown fox jumps over the lazy dog.';
/** The voices, in the order of the picture. */
const VOICES = [
  ...'af_heart af_bella af_nicole af_sarah af_sky am_adam am_michael bf_emma bf_isabella bm_george bm_lewis'
    .split(' ')
    .map((voice) => ['kokoro', voice]),
  ...'slt rms awb kal16'.split(' ').map((voice) => ['flite', voice]),
  ['piper', 'en_US-joe-medium'],
];
const RATE = 24_000;
const WINDOW = 512;
const [WIDTH, HEIGHT, GAP, COLUMNS] = [300, 170, 6, 4];
const SECONDS = 2.5;
/** Decibels below the loudest at which the paper stays white. */
const RANGE = 60;

/** Power of the frequencies of a window, from 0 Hz up, by a Fourier transform in place. */
function powers(samples, at) {
  const [real, imaginary] = [new Float64Array(WINDOW), new Float64Array(WINDOW)];
  for (let i = 0; i < WINDOW; i += 1) {
    let reversed = 0;
    for (let bit = 1, value = i; bit < WINDOW; bit <<= 1, value >>= 1) reversed = (reversed << 1) | (value & 1);
    real[reversed] = (samples[at + i] ?? 0) * Math.sin((Math.PI * (i + 0.5)) / WINDOW) ** 2;
  }
  for (let half = 1; half < WINDOW; half *= 2)
    for (let start = 0; start < WINDOW; start += 2 * half)
      for (let k = 0; k < half; k += 1) {
        const [cosine, sine] = [Math.cos((Math.PI * k) / half), -Math.sin((Math.PI * k) / half)];
        const [one, other] = [start + k, start + k + half];
        const [re, im] = [real[other] * cosine - imaginary[other] * sine, real[other] * sine + imaginary[other] * cosine];
        [real[other], imaginary[other]] = [real[one] - re, imaginary[one] - im];
        real[one] += re;
        imaginary[one] += im;
      }
  return Float64Array.from({ length: HEIGHT }, (_, k) => 10 * Math.log10(real[k] ** 2 + imaginary[k] ** 2 + 1e-9));
}

/** Draws a sound into its place of the picture. */
function draw(picture, width, index, samples) {
  const [left, top] = [(index % COLUMNS) * (WIDTH + GAP), Math.floor(index / COLUMNS) * (HEIGHT + GAP)];
  const columns = Array.from({ length: WIDTH }, (_, x) => powers(samples, Math.round((x * SECONDS * RATE) / WIDTH)));
  const most = Math.max(...columns.map((column) => Math.max(...column)));
  for (const [x, column] of columns.entries())
    for (let y = 0; y < HEIGHT; y += 1) {
      const level = Math.min(1, Math.max(0, 1 - (most - column[y]) / RANGE));
      picture[(top + HEIGHT - 1 - y) * width + left + x] = Math.round(255 * (1 - level));
    }
}

const { Models } = await import('../build/runtime/models/residency/models.js');
const { LocalSpeech } = await import('../build/runtime/speech/speak.js');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-spectrograms-'));
const models = new Models({ dataDir, places: { hub: join(root, 'build/speech-kit') } });
const speech = new LocalSpeech(models);
const width = COLUMNS * (WIDTH + GAP) - GAP;
const height = Math.ceil(VOICES.length / COLUMNS) * (HEIGHT + GAP) - GAP;
const picture = Buffer.alloc(width * height, 255);
try {
  for (const [index, [model, voice]] of VOICES.entries()) {
    const { engine, chunks } = await speech.speak({ text: SENTENCE, model, voice, speed: 1 }, new AbortController().signal);
    if (engine !== model) throw new Error(`${model} is not in build/speech-kit: run node scripts/speech-kit.mjs.`);
    const parts = [];
    for await (const { samples } of chunks) parts.push(...samples);
    draw(picture, width, index, parts);
    process.stderr.write(`quern: drew ${model} ${voice}, ${(parts.length / RATE).toFixed(2)} s\n`);
  }
  const file = join(root, 'docs/spectrograms.webp');
  await sharp(picture, { raw: { width, height, channels: 1 } })
    .webp({ quality: 45 })
    .toFile(file);
} finally {
  await models.close();
  rmSync(dataDir, { recursive: true, force: true });
}
