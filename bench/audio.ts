import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCore } from '../native/loader.js';
import type { AudioFormatName } from '../runtime/speech/codecs/contract.js';
import { AUDIO_FORMATS, encodeAudio } from '../runtime/speech/codecs/encode.js';
import { SPEECH_RATE } from '../runtime/speech/contract.js';
import { LISTEN_RATE } from '../runtime/speech/decode/contract.js';
import { decodeAudio } from '../runtime/speech/decode/decode.js';
import { VoiceDetectors } from '../runtime/speech/voice-activity.js';
import { syllables } from '../test/support/audio/signals.js';
import { Lacking, unlessLacking } from './lacking.js';
import { median, ROOT, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

/** Seconds of sound that are encoded and decoded. */
const SECONDS = sizeOf('BENCH_AUDIO_SECONDS', 60, 10);
const ROUNDS = sizeOf('BENCH_ROUNDS', 3, 1);
const PIECE_S = 0.1;
const SPEEX_QUALITY = 5;
const RATES = [
  [48_000, 16_000],
  [44_100, 16_000],
  [24_000, 16_000],
  [16_000, 24_000],
] as const;
/** The options by which ffmpeg does the same. */
const FFMPEG: Record<AudioFormatName, readonly string[]> = {
  mp3: ['-c:a', 'libmp3lame', '-b:a', '128k', '-f', 'mp3'],
  opus: ['-c:a', 'libopus', '-b:a', '64k', '-f', 'ogg'],
  aac: ['-c:a', 'aac', '-b:a', '128k', '-f', 'adts'],
  flac: ['-c:a', 'flac', '-f', 'flac'],
  wav: ['-f', 'wav'],
  pcm: ['-f', 's16le'],
};

/** Processor seconds of this process and its threads. */
async function processorS(work: () => Promise<unknown> | unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

/** Times as fast as the sound: the median of the rounds. */
async function timesRealTime(seconds: number, work: () => Promise<unknown> | unknown): Promise<number> {
  const spent: number[] = [];
  for (let round = 0; round < ROUNDS; round++) spent.push(await processorS(work));
  return seconds / median(spent);
}

/** Runs speexdsp, which is compiled here where its headers are. */
function speex(folder: string): (from: number, to: number) => number {
  const program = join(folder, 'speex-resample');
  const built = spawnSync('cc', ['-O2', join(ROOT, 'bench/speex-resample.c'), '-o', program, '-lspeexdsp', '-lm'], { encoding: 'utf8' });
  if (built.status !== 0) throw new Lacking('speexdsp', 'apt install libspeexdsp-dev');
  return (from, to) => {
    const { stdout } = spawnSync(program, [String(from), String(to), String(SPEEX_QUALITY), String(SECONDS)], { encoding: 'utf8' });
    return SECONDS / Number(stdout);
  };
}

/** Runs ffmpeg on a file of samples of 32 bits at 24 kHz. */
function ffmpeg(folder: string): (format: AudioFormatName) => number {
  if (spawnSync('ffmpeg', ['-version']).status !== 0) throw new Lacking('ffmpeg', 'apt install ffmpeg');
  const input = join(folder, 'input.f32');
  writeFileSync(input, new Uint8Array(syllables(SECONDS, SPEECH_RATE).buffer));
  return (format) => {
    const words = ['-benchmark', '-y', '-f', 'f32le', '-ar', String(SPEECH_RATE), '-ac', '1', '-i', input, ...FFMPEG[format], '/dev/null'];
    const { stderr } = spawnSync('ffmpeg', words, { encoding: 'utf8' });
    return SECONDS / (Number(/utime=([\d.]+)s/.exec(stderr)?.[1]) + Number(/stime=([\d.]+)s/.exec(stderr)?.[1]));
  };
}

const shown = (times: number): string => `${times >= 100 ? Math.round(times) : times.toFixed(1)}x`;

function row(what: string, ours: number, peer: readonly [string, number] | undefined, goal: string): Row {
  const ratio = peer ? `${(ours / peer[1]).toFixed(2)}x` : '';
  return { what, ours: shown(ours), peer: peer ? `${peer[0]} ${shown(peer[1])}` : '', ratio, goal: peer ? goal : '' };
}

async function resampled(peer: ReturnType<typeof speex> | undefined): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [from, to] of RATES) {
    const sound = syllables(1, from);
    const piece = from * PIECE_S;
    const ours = await timesRealTime(SECONDS, () => {
      const resampler = loadCore().openResampler(from, to);
      for (let second = 0; second < SECONDS; second++)
        for (let at = 0; at < sound.length; at += piece) resampler.push(sound.subarray(at, at + piece));
    });
    const theirs = peer && ([`speexdsp ${SPEEX_QUALITY}`, peer(from, to)] as const);
    rows.push(row(`resampling ${from} to ${to} Hz`, ours, theirs, '>= 1x'));
  }
  return rows;
}

async function* spoken(sound: Float32Array): AsyncGenerator<Float32Array> {
  for (let at = 0; at < sound.length; at += SPEECH_RATE) yield sound.subarray(at, at + SPEECH_RATE);
}

async function coded(peer: ReturnType<typeof ffmpeg> | undefined): Promise<Row[]> {
  const sound = syllables(SECONDS, SPEECH_RATE);
  const [rows, decodedRows]: Row[][] = [[], []];
  for (const name of Object.keys(AUDIO_FORMATS) as AudioFormatName[]) {
    let bytes: Uint8Array[] = [];
    const firsts: number[] = [];
    const encode = async (): Promise<void> => {
      bytes = [];
      const began = performance.now();
      for await (const piece of encodeAudio(name, spoken(sound))) {
        if (bytes.length === 0) firsts.push(performance.now() - began);
        bytes.push(piece);
      }
    };
    await encode();
    // The first call starts the thread, and is not counted.
    firsts.length = 0;
    const ours = await timesRealTime(SECONDS, encode);
    const theirs = peer && (['ffmpeg', peer(name)] as const);
    rows!.push(row(`${name}: encoding; first bytes of 1 s after ${median(firsts).toFixed(1)} ms`, ours, theirs, ''));
    if (name === 'pcm') continue;
    const file = Buffer.concat(bytes);
    const read = async (): Promise<void> => {
      for await (const _ of decodeAudio(file)) void _;
    };
    await read();
    decodedRows!.push(row(`${name}: decoding to ${LISTEN_RATE} Hz`, await timesRealTime(SECONDS, read), undefined, ''));
  }
  return [...rows!, ...decodedRows!];
}

/** How many times as fast as the sound audio is resampled, stretched, encoded and decoded, on one processor; and the detector of speech. */
export async function benchAudio(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quern-bench-audio-'));
  try {
    const rows = await resampled(await unlessLacking('audio against speexdsp', () => speex(folder)));
    rows.push(...(await coded(await unlessLacking('audio against ffmpeg', () => ffmpeg(folder)))));
    const sound = syllables(SECONDS, SPEECH_RATE).subarray(0, 2 ** 20);
    const stretch = await timesRealTime(sound.length / SPEECH_RATE, () => loadCore().openTimeStretch(SPEECH_RATE, 1.5).push(sound));
    rows.push(row('speech 1.5 times as fast', stretch, undefined, ''));
    const detectors = new VoiceDetectors();
    await detectors.warm();
    const activity = detectors.open();
    const frames = syllables(10, LISTEN_RATE).subarray(0, 312 * 512);
    const began = performance.now();
    await activity.hear(frames);
    const times = frames.length / LISTEN_RATE / ((performance.now() - began) / 1000);
    rows.push(row(`detector of speech (${activity.detector}), in its process, by the clock`, times, undefined, ''));
    activity.close();
    await detectors.close();
    table(`Audio: times real time for each second of processor, ${SECONDS} s of sound, medians of ${ROUNDS}`, rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
