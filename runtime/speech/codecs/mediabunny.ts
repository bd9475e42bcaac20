import { Failure } from '../../../schemas/errors.js';
import { SPEECH_RATE } from '../contract.js';
import type { AudioFormat, Encoding } from './contract.js';

type Mediabunny = typeof import('mediabunny');

/** What of mediabunny writes a format. */
interface MediabunnyFormat {
  readonly codec: 'aac' | 'flac';
  /** Without it the codec has none. */
  readonly bitsPerS?: number;
  /** The file around the frames. */
  container(library: Mediabunny): InstanceType<Mediabunny['AdtsOutputFormat' | 'FlacOutputFormat']>;
  /** Samples of a frame, where the last one is filled up with silence that nobody can tell from sound. */
  readonly frameSamples?: number;
  /** Samples of silence that the encoder puts before the sound; they take the place of the silence that speech begins with, as far as it has so much. */
  readonly priming?: number;
  /** Makes the codec known to mediabunny. */
  register(): Promise<void>;
}

/** Samples of the shortest file, for an utterance without any: neither format has a file without a frame. */
const LEAST_SAMPLES = 1024;

/** Samples are given to mediabunny in so many parts at once: it waits for its encoder where four wait for it, and what was given is encoded then. */
const PARTS = 8;

/** Of a last frame that is left out when it is hardly filled: the share of it at most, and the effective value of what is lost. */
const MOST_LEFT_OUT = 0.6;
const QUIET = 0.01;
/** Below this nothing is heard. */
const SILENT = 0.004;

function isQuiet(samples: Float32Array): boolean {
  return samples.reduce((sum, sample) => sum + sample * sample, 0) <= QUIET * QUIET * samples.length;
}

/** An encoding by mediabunny, whose encoder runs in a worker thread of its own. */
async function mediabunnyEncoding({
  codec,
  bitsPerS,
  container,
  frameSamples = 1,
  priming = 0,
  register,
}: MediabunnyFormat): Promise<Encoding> {
  const library = await import('mediabunny');
  await register();
  const ready: Uint8Array[] = [];
  const written = new WritableStream<Uint8Array>({ write: (bytes) => void ready.push(bytes.slice()) });
  const output = new library.Output({ format: container(library), target: new library.AppendOnlyStreamTarget(written) });
  const source = new library.AudioSampleSource({ codec, ...(bitsPerS === undefined ? {} : { bitrate: bitsPerS }) });
  output.addAudioTrack(source);
  await output.start();
  let taken = 0;
  const taking = (): Uint8Array => Buffer.concat(ready.splice(0));
  /** What does not fill a frame yet. */
  let rest = new Float32Array(0);
  const add = async (samples: Float32Array): Promise<Uint8Array> => {
    const part = Math.max(1, Math.ceil(samples.length / PARTS));
    const adding: Promise<void>[] = [];
    for (let at = 0; at < samples.length; at += part) {
      const sample = new library.AudioSample({
        data: samples.subarray(at, at + part),
        format: 'f32',
        numberOfChannels: 1,
        sampleRate: SPEECH_RATE,
        timestamp: (taken + at) / SPEECH_RATE,
      });
      adding.push(source.add(sample).finally(() => sample.close()));
    }
    taken += samples.length;
    await Promise.all(adding);
    return taking();
  };
  let replaced = priming;
  /** Samples without the silence at the beginning of the sound for which the encoder has its own. */
  const afterSilence = (samples: Float32Array): Float32Array => {
    const loud = samples.subarray(0, replaced).findIndex((sample) => Math.abs(sample) > SILENT);
    const silent = loud < 0 ? Math.min(replaced, samples.length) : loud;
    replaced = loud < 0 ? replaced - silent : 0;
    return samples.subarray(silent);
  };
  const push = (given: Float32Array): Promise<Uint8Array> => {
    const samples = afterSilence(given);
    const all = new Float32Array(rest.length + samples.length);
    all.set(rest);
    all.set(samples, rest.length);
    const whole = all.length - (all.length % frameSamples);
    rest = all.slice(whole);
    return add(all.subarray(0, whole));
  };
  return {
    push,
    end: async () => {
      if (rest.length > MOST_LEFT_OUT * frameSamples || !isQuiet(rest)) await add(rest);
      if (taken === 0) await add(new Float32Array(LEAST_SAMPLES));
      await output.finalize();
      return taking();
    },
    close: () => {
      if (output.state === 'finalized') return;
      output.cancel().catch((error: unknown) => {
        throw new Failure('internal', `The ${codec} encoder could not be ended.`, { cause: error });
      });
    },
  };
}

/** AAC-LC in ADTS frames, 128 kbit/s. */
export const aac: AudioFormat = {
  name: 'aac',
  cheap: false,
  begin: () =>
    mediabunnyEncoding({
      codec: 'aac',
      bitsPerS: 128_000,
      frameSamples: 1024,
      priming: 1024,
      container: ({ AdtsOutputFormat }) => new AdtsOutputFormat(),
      register: async () => (await import('@mediabunny/aac-encoder')).registerAacEncoder(),
    }),
};

/** FLAC of 16 bits, whose length nobody knows yet. */
export const flac: AudioFormat = {
  name: 'flac',
  cheap: false,
  begin: () =>
    mediabunnyEncoding({
      codec: 'flac',
      container: ({ FlacOutputFormat }) => new FlacOutputFormat({ appendOnly: true }),
      register: async () => (await import('@mediabunny/flac-encoder')).registerFlacEncoder(),
    }),
};
