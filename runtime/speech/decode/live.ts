import type { NativePacketReader, NativePcmReader, NativeSampleStream, StreamPart } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import { type OpusLibrary, OpusStream, opusLibrary } from './opus.js';
import { listenResampler, PcmStream } from './pcm.js';
import { kindOf } from './sniff.js';

/** The first bytes tell what a stream is. */
const TELLING_BYTES = 4;
/** Bytes that are worked on at a time. */
const PIECE_BYTES = 16 * 1024;
const WAV_TELLING_BYTES = 12;

/** What comes over a socket: WebM or Ogg of a browser's recorder, a WAV file, or samples. */
type LiveKind = 'webm' | 'ogg' | 'wav' | 'pcm';

/** Turns bytes of one kind into samples at 16 kHz. */
interface LiveSource {
  push(bytes: Uint8Array): AsyncGenerator<Float32Array> | Generator<Float32Array>;
}

/** Samples of 16 bits at 16 kHz. */
class PcmSource implements LiveSource {
  readonly #stream = new PcmStream();

  *push(bytes: Uint8Array): Generator<Float32Array> {
    yield this.#stream.push(bytes);
  }
}

class WavSource implements LiveSource {
  readonly #reader: NativePcmReader = loadCore().openPcmReader('wav');
  #resampler: NativeSampleStream | undefined;

  *push(bytes: Uint8Array): Generator<Float32Array> {
    this.#reader.push(bytes);
    for (let samples = this.#reader.read(); samples.length > 0; samples = this.#reader.read()) {
      this.#resampler ??= listenResampler(this.#reader.facts()!.rate);
      yield this.#resampler.push(samples);
    }
  }
}

class PacketSource implements LiveSource {
  readonly #library: OpusLibrary;
  readonly #reader: NativePacketReader;
  #opus: OpusStream | undefined;

  constructor(container: 'webm' | 'ogg', library: OpusLibrary) {
    this.#library = library;
    this.#reader = loadCore().openPacketReader(container);
  }

  async *push(bytes: Uint8Array): AsyncGenerator<Float32Array> {
    for (const part of this.#reader.push(bytes)) {
      const samples = this.#take(part);
      if (samples.length > 0) yield samples;
      await breathe();
    }
  }

  #take(part: StreamPart): Float32Array {
    const nothing = new Float32Array(0);
    if (part.kind === 'packet') return this.#opus?.decode(part.bytes) ?? nothing;
    if (part.kind === 'end') return nothing;
    if (part.codec !== 'opus')
      throw new Failure('bad_request', `The audio stream holds ${part.codec}; send Opus in WebM or Ogg, or samples of 16 bits at 16 kHz.`);
    this.#opus = new OpusStream(this.#library, part.channels, part.preSkip);
    return nothing;
  }
}

/**
 * The audio that one socket brings, decoded as it comes. The first four bytes tell what it is; a recorder that starts again with a new header is followed.
 * Calls come one after the other.
 */
export class LiveDecoder {
  #kind: LiveKind | undefined;
  #source: LiveSource | undefined;
  #first: Uint8Array = new Uint8Array(0);

  /** What the stream is; undefined until its first bytes have come. */
  get kind(): LiveKind | undefined {
    return this.#kind;
  }

  /**
   * Takes the next bytes, cut anywhere, and gives samples of one channel at 16 kHz, in stretches between which others get their turn. Throws
   * Failure('bad_request') for audio that cannot be read; what comes then is a new beginning.
   */
  async *push(bytes: Uint8Array): AsyncGenerator<Float32Array, void, undefined> {
    try {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        yield* this.#piece(bytes.subarray(at, at + PIECE_BYTES));
        await breathe();
      }
    } catch (error) {
      this.reset();
      throw error;
    }
  }

  /** What comes next is a new beginning. */
  reset(): void {
    this.#kind = undefined;
    this.#source = undefined;
    this.#first = new Uint8Array(0);
  }

  async *#piece(piece: Uint8Array): AsyncGenerator<Float32Array, void, undefined> {
    let bytes = piece;
    // A recorder that was started again, where the last one was of another kind.
    const begun = beginningOf(bytes);
    if (this.#source && begun !== undefined && begun !== this.#kind) this.reset();
    if (!this.#source) {
      bytes = this.#first.length > 0 ? Buffer.concat([this.#first, bytes]) : bytes;
      const isWav = bytes.length >= TELLING_BYTES && Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF';
      if (bytes.length < (isWav ? WAV_TELLING_BYTES : TELLING_BYTES)) {
        this.#first = bytes.slice();
        return;
      }
      this.#first = new Uint8Array(0);
      await this.#begin(bytes);
    }
    for await (const samples of this.#source!.push(bytes)) if (samples.length > 0) yield samples;
  }

  async #begin(bytes: Uint8Array): Promise<void> {
    const kind = kindOf(bytes);
    if (kind === 'flac' || kind === 'mp4' || isTagged(bytes))
      throw new Failure(
        'bad_request',
        'The audio stream is a file of a kind that is not read live; send Opus in WebM or Ogg, or samples of 16 bits at 16 kHz.',
      );
    if (kind === 'webm' || kind === 'ogg') this.#source = new PacketSource(kind, await opusLibrary());
    else if (kind === 'wav') this.#source = new WavSource();
    // What looks like a frame of mp3 or AAC may as well be a loud sample.
    else this.#source = new PcmSource();
    this.#kind = kind === 'webm' || kind === 'ogg' || kind === 'wav' ? kind : 'pcm';
  }
}

/** The kind of a stream that certainly begins with these bytes. */
function beginningOf(bytes: Uint8Array): 'webm' | 'ogg' | undefined {
  const kind = kindOf(bytes);
  // The first page of Ogg is marked; the others are not the beginning of anything.
  if (kind === 'ogg') return bytes[5] === 2 ? 'ogg' : undefined;
  return kind === 'webm' ? 'webm' : undefined;
}

function isTagged(bytes: Uint8Array): boolean {
  return ['ID3', 'FOR'].includes(Buffer.from(bytes.subarray(0, 3)).toString('latin1'));
}
