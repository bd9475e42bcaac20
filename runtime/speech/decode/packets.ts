import { createRequire } from 'node:module';
import type { NativePcmReader } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { type AudioReader, type DecodedAudio, LISTEN_RATE, piecesOf } from './contract.js';
import { OpusStream, opusLibrary } from './opus.js';

/** libvorbis as the package has it; each call has its answer before it returns. */
interface VorbisModule {
  readonly audioFormat: { readonly channels: number; readonly rate: number } | null;
  /** The channels of the last packet. */
  readonly audioBuffer: readonly Float32Array[] | null;
  init(done: () => void): void;
  processHeader(packet: ArrayBuffer, done: (isRead: number) => void): void;
  processAudio(packet: ArrayBuffer, done: (isRead: number) => void): void;
}

/** Packets before the audio: what the stream is, remarks, and the books of its codes. */
const HEADERS = 3;
const RATES = [4000, 192_000] as const;
const MOST_CHANNELS = 8;
/** Packets that cannot be decoded are passed over; so many in a row are no Vorbis. */
const MOST_BAD = 50;

/** Vorbis packets to samples. */
export class VorbisStream {
  readonly #module: VorbisModule;
  #headers = 0;
  #bad = 0;
  #made = 0;

  private constructor(module: VorbisModule) {
    this.#module = module;
  }

  /** Compiles the decoder. */
  static async open(): Promise<VorbisStream> {
    const require = createRequire(import.meta.url);
    const make = require('ogv/dist/ogv-decoder-audio-vorbis-wasm.js') as (options: object) => Promise<VorbisModule>;
    const module = await make({ print: () => {}, printErr: () => {} });
    module.init(() => {});
    return new VorbisStream(module);
  }

  /** The samples of a packet; none of a header. Throws Failure('bad_request') for headers and packets that are no Vorbis. */
  decode(packet: Uint8Array): DecodedAudio | undefined {
    const bytes = packet.slice().buffer;
    if (this.#headers < HEADERS) {
      this.#header(bytes);
      return undefined;
    }
    let isRead = 0;
    this.#guarded(() => this.#module.processAudio(bytes, (result) => (isRead = result)));
    const channels = isRead ? this.#module.audioBuffer : null;
    this.#bad = isRead ? 0 : this.#bad + 1;
    if (this.#bad >= MOST_BAD) throw damagedVorbis();
    if (!channels?.[0]?.length) return undefined;
    this.#made += channels[0].length;
    return { rate: this.#module.audioFormat!.rate, samples: loadCore().mixChannels(channels) };
  }

  /** How many of the samples so far lie behind the end; `total` is at the stream's rate, 0 where nobody says. */
  beyond(total: number): number {
    return total === 0 ? 0 : Math.max(0, this.#made - total);
  }

  #header(bytes: ArrayBuffer): void {
    let isRead = 0;
    this.#guarded(() => this.#module.processHeader(bytes, (result) => (isRead = result)));
    if (!isRead) throw damagedVorbis();
    this.#headers += 1;
    if (this.#headers < HEADERS) return;
    const { channels = 0, rate = 0 } = this.#module.audioFormat ?? {};
    if (channels < 1 || channels > MOST_CHANNELS || rate < RATES[0] || rate > RATES[1])
      throw new Failure(
        'bad_request',
        `The Vorbis audio has ${channels} channels and ${rate} samples a second; 1 to ${MOST_CHANNELS} and ${RATES[0]} to ${RATES[1]} are read.`,
      );
  }

  /** What traps in the decoder is a damaged file. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw damagedVorbis(error);
    }
  }
}

const damagedVorbis = (cause?: unknown): Failure => new Failure('bad_request', 'The Vorbis audio is damaged.', { cause });

/** What stands before the header of FLAC in Ogg. */
const FLAC_IN_OGG_BYTES = 9;

const NAMES = { ogg: 'Ogg', webm: 'WebM' } as const;

/** Reads Ogg and WebM. The last samples are kept until it is known where the audio ends. */
function reader(container: 'ogg' | 'webm'): AudioReader {
  return {
    async *read(file): AsyncGenerator<DecodedAudio> {
      const library = await opusLibrary();
      const packets = loadCore().openPacketReader(container);
      let opus: OpusStream | undefined;
      let flac: NativePcmReader | undefined;
      let vorbis: VorbisStream | undefined;
      let kept: DecodedAudio | undefined;
      const losslessly = function* (source: NativePcmReader): Generator<DecodedAudio> {
        for (let samples = source.read(); samples.length > 0; samples = source.read()) yield { rate: source.facts()!.rate, samples };
      };
      for (const bytes of piecesOf(file)) {
        for (const part of packets.push(bytes)) {
          if (part.kind === 'begin') {
            vorbis = part.codec === 'vorbis' ? await VorbisStream.open() : undefined;
            opus = part.codec === 'opus' ? new OpusStream(library, part.channels, part.preSkip) : undefined;
            flac = part.codec === 'flac' ? loadCore().openPcmReader('flac') : undefined;
            flac?.push(part.bytes.subarray(FLAC_IN_OGG_BYTES));
          } else if (part.kind === 'packet') {
            if (kept?.samples.length) yield kept;
            kept = opus ? { rate: LISTEN_RATE, samples: opus.decode(part.bytes) } : vorbis?.decode(part.bytes);
            flac?.push(part.bytes);
            if (flac) yield* losslessly(flac);
          } else if (kept) {
            const beyond = (opus ?? vorbis)?.beyond(part.total) ?? 0;
            kept = { rate: kept.rate, samples: kept.samples.subarray(0, Math.max(0, kept.samples.length - beyond)) };
          }
        }
      }
      if (kept?.samples.length) yield kept;
      flac?.end();
      if (flac) yield* losslessly(flac);
      if (!opus && !flac && !vorbis)
        throw new Failure('bad_request', `The ${NAMES[container]} file holds no Opus audio, or is cut off before it begins.`);
    },
  };
}

/** Opus, Vorbis or FLAC in Ogg. */
export const ogg = reader('ogg');
/** Opus in WebM. */
export const webm = reader('webm');
