import type {
  AudioFunctions,
  NativeAacDecoder,
  NativeOggWriter,
  NativePacketReader,
  NativePcmReader,
  NativeSampleStream,
  NativeVoiceActivity,
  PcmFacts,
  StreamPart,
} from './contract.js';
import { raised } from './raised.js';

/** The C++ object with our failures. */
class SampleStream implements NativeSampleStream {
  readonly #native: NativeSampleStream;

  constructor(native: NativeSampleStream) {
    this.#native = native;
  }

  push(samples: Float32Array): Float32Array {
    return raised(() => this.#native.push(samples));
  }

  flush(): Float32Array {
    return raised(() => this.#native.flush());
  }
}

class OggWriter implements NativeOggWriter {
  readonly #native: NativeOggWriter;

  constructor(native: NativeOggWriter) {
    this.#native = native;
  }

  push(packet: Uint8Array, samples: number): Uint8Array {
    return raised(() => this.#native.push(packet, samples));
  }

  end(total: number): Uint8Array {
    return raised(() => this.#native.end(total));
  }
}

class VoiceActivity implements NativeVoiceActivity {
  readonly #native: NativeVoiceActivity;

  constructor(native: NativeVoiceActivity) {
    this.#native = native;
  }

  push(samples: Float32Array): Float32Array {
    return raised(() => this.#native.push(samples));
  }

  reset(): void {
    this.#native.reset();
  }
}

class PcmReader implements NativePcmReader {
  readonly #native: NativePcmReader;

  constructor(native: NativePcmReader) {
    this.#native = native;
  }

  push(bytes: Uint8Array): void {
    raised(() => this.#native.push(bytes));
  }

  end(): void {
    this.#native.end();
  }

  read(): Float32Array {
    return raised(() => this.#native.read());
  }

  facts(): PcmFacts | undefined {
    return this.#native.facts();
  }
}

class PacketReader implements NativePacketReader {
  readonly #native: NativePacketReader;

  constructor(native: NativePacketReader) {
    this.#native = native;
  }

  push(bytes: Uint8Array): StreamPart[] {
    return raised(() => this.#native.push(bytes));
  }
}

class AacDecoder implements NativeAacDecoder {
  readonly rate: number;
  readonly #native: NativeAacDecoder;

  constructor(native: NativeAacDecoder) {
    this.#native = native;
    this.rate = native.rate;
  }

  decode(frame: Uint8Array): Float32Array {
    return raised(() => this.#native.decode(frame));
  }
}

/** The audio functions of the addon with our failures. */
export function audioFunctions(native: AudioFunctions): AudioFunctions {
  return {
    encodeSamples: (samples, encoding) => raised(() => native.encodeSamples(samples, encoding)),
    decodeSamples: (bytes, encoding, channels) => raised(() => native.decodeSamples(bytes, encoding, channels)),
    mixChannels: (channels) => raised(() => native.mixChannels(channels)),
    wavHeader: (rate, encoding, dataBytes) => raised(() => native.wavHeader(rate, encoding, dataBytes)),
    openResampler: (from, to) => new SampleStream(raised(() => native.openResampler(from, to))),
    openTimeStretch: (rate, speed) => new SampleStream(raised(() => native.openTimeStretch(rate, speed))),
    openVoiceActivity: (frameSamples, threshold) => new VoiceActivity(raised(() => native.openVoiceActivity(frameSamples, threshold))),
    openPcmReader: (format) => new PcmReader(raised(() => native.openPcmReader(format))),
    openAacDecoder: (config) => new AacDecoder(raised(() => native.openAacDecoder(config))),
    openPacketReader: (container) => new PacketReader(raised(() => native.openPacketReader(container))),
    openOggWriter: (options) => new OggWriter(raised(() => native.openOggWriter(options))),
  };
}
