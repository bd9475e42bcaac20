import { createRequire } from 'node:module';
import { Failure } from '../../../schemas/errors.js';

/** Sound as sherpa-onnx takes and gives it: mono, -1 to 1. */
interface SherpaSound {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** A stream of a recogniser that hears all at once. */
interface SherpaStream {
  acceptWaveform(sound: SherpaSound): void;
}

/** A stream of one that hears as it comes. */
interface SherpaLiveStream extends SherpaStream {
  inputFinished(): void;
}

/** What was heard; times are seconds, one for each token. */
export interface SherpaText {
  readonly text: string;
  readonly tokens?: readonly string[];
  readonly timestamps?: readonly number[];
  readonly lang?: string;
}

/** The part of the package that is used. */
interface Sherpa {
  readonly OfflineTts: new (
    config: object,
  ) => {
    readonly sampleRate: number;
    readonly numSpeakers: number;
    generate(request: { text: string; sid: number; speed: number; enableExternalBuffer: boolean }): SherpaSound;
  };
  readonly OfflineRecognizer: new (
    config: object,
  ) => {
    createStream(): SherpaStream;
    setConfig(config: object): void;
    decode(stream: SherpaStream): void;
    getResult(stream: SherpaStream): SherpaText;
  };
  readonly OnlineRecognizer: new (
    config: object,
  ) => {
    createStream(): SherpaLiveStream;
    isReady(stream: SherpaLiveStream): boolean;
    decode(stream: SherpaLiveStream): void;
    getResult(stream: SherpaLiveStream): SherpaText;
  };
}

/** A model that writes down what it is given whole. */
export type SherpaRecognizer = InstanceType<Sherpa['OfflineRecognizer']>;
/** A model that writes down speech as it comes. */
export type SherpaLiveRecognizer = InstanceType<Sherpa['OnlineRecognizer']>;

/** The package that is asked for, as `npm install` takes it. */
const PACKAGE = 'sherpa-onnx-node';

/**
 * Loads sherpa-onnx; for host processes only, because it ends its process for a file that it cannot use. Throws `unavailable` with the line that
 * installs it where it is not there.
 */
export function loadSherpa(): Sherpa {
  try {
    return createRequire(import.meta.url)(PACKAGE) as Sherpa;
  } catch (cause) {
    const message = `This model runs on sherpa-onnx, which is not installed: run "npm install ${PACKAGE}" in the folder of Quern and ask again.`;
    throw new Failure('unavailable', message, { code: 'EngineMissing', cause });
  }
}
