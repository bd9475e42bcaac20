import { Encoder } from '@evan/opus';
import {
  AudioSample,
  AudioSampleSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  FlacOutputFormat,
  Mp4OutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  WebMOutputFormat,
} from 'mediabunny';
import { createMp3Encoder } from 'wasm-media-encoders';

/** How the samples of a WAV file lie. */
export type WavDepth = 'u8' | 's16' | 's24' | 's32' | 'f32' | 'f64';

/** What a WAV file is like besides. */
export interface WavShape {
  readonly depth: WavDepth;
  readonly channels: number;
  /** Whether the format is told the long way. */
  readonly extensible?: boolean;
  /** Whether its sizes are those of a stream. */
  readonly endless?: boolean;
}

const BYTES: Record<WavDepth, number> = { u8: 1, s16: 2, s24: 3, s32: 4, f32: 4, f64: 8 };

function put(into: Buffer, at: number, value: number, depth: WavDepth): void {
  if (depth === 'u8') into.writeUInt8(Math.round(value * 127) + 128, at);
  else if (depth === 'f32') into.writeFloatLE(value, at);
  else if (depth === 'f64') into.writeDoubleLE(value, at);
  else into.writeIntLE(Math.round(value * (2 ** (8 * BYTES[depth] - 1) - 1)), at, BYTES[depth]);
}

/** A WAV file with the same samples in each channel, with a chunk before the samples that nobody knows. */
export function wavOf(samples: Float32Array, rate: number, { depth, channels, extensible = false, endless = false }: WavShape): Buffer {
  const kind = depth.startsWith('f') ? 3 : 1;
  const format = Buffer.alloc(extensible ? 40 : 16);
  format.writeUInt16LE(extensible ? 0xfffe : kind, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(rate * channels * BYTES[depth], 8);
  format.writeUInt16LE(channels * BYTES[depth], 12);
  format.writeUInt16LE(8 * BYTES[depth], 14);
  if (extensible) format.writeUInt16LE(kind, 24);
  const data = Buffer.alloc(samples.length * channels * BYTES[depth]);
  samples.forEach((sample, index) => {
    for (let channel = 0; channel < channels; channel++) put(data, (index * channels + channel) * BYTES[depth], sample, depth);
  });
  const chunk = (name: string, content: Buffer, size = content.length) => {
    const head = Buffer.alloc(8);
    head.write(name, 0, 'latin1');
    head.writeUInt32LE(size, 4);
    return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
  };
  const chunks = [chunk('LIST', Buffer.from('odd')), chunk('fmt ', format), chunk('data', data, endless ? 0xffffffff : data.length)];
  const body = Buffer.concat([Buffer.from('WAVE'), ...chunks]);
  return chunk('RIFF', body, endless ? 0xffffffff : body.length);
}

/** An mp3 file of 128 kbit/s. */
export async function mp3Of(samples: Float32Array, rate: number, channels: 1 | 2): Promise<Buffer> {
  const encoder = await createMp3Encoder();
  encoder.configure({ channels, sampleRate: rate, bitrate: 128 });
  const first = Buffer.from(encoder.encode(Array.from({ length: channels }, () => samples)));
  return Buffer.concat([first, Buffer.from(encoder.finalize())]);
}

/** Opus packets of 20 ms at 48 kHz, the samples in each channel. */
export function opusPackets(samples: Float32Array, channels: 1 | 2): Uint8Array[] {
  const encoder = new Encoder({ channels, sample_rate: 48_000, application: 'audio' });
  const packets: Uint8Array[] = [];
  for (let at = 0; at < samples.length; at += 960) {
    const frame = new Int16Array(960 * channels);
    for (let i = 0; i < frame.length; i++) frame[i] = Math.round(32767 * (samples[at + Math.floor(i / channels)] ?? 0));
    packets.push(encoder.encode(frame).slice());
  }
  return packets;
}

function opusHead(channels: number): Uint8Array {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head.writeUInt8(1, 8);
  head.writeUInt8(channels, 9);
  head.writeUInt16LE(312, 10);
  head.writeUInt32LE(48_000, 12);
  return head;
}

async function written(format: OutputFormat, fill: (output: Output<OutputFormat, BufferTarget>) => Promise<void>): Promise<Buffer> {
  const output = new Output({ format, target: new BufferTarget() });
  await fill(output);
  await output.finalize();
  return Buffer.from(output.target.buffer!);
}

/** Opus in a container; the samples are of 48 kHz. */
export function opusFile(container: 'webm' | 'ogg' | 'mp4', samples: Float32Array, channels: 1 | 2 = 1): Promise<Buffer> {
  const formats = {
    webm: () => new WebMOutputFormat({ appendOnly: true }),
    ogg: () => new OggOutputFormat(),
    mp4: () => new Mp4OutputFormat(),
  };
  return written(formats[container](), async (output) => {
    const source = new EncodedAudioPacketSource('opus');
    output.addAudioTrack(source);
    await output.start();
    const decoderConfig = { codec: 'opus', numberOfChannels: channels, sampleRate: 48_000, description: opusHead(channels) };
    for (const [index, packet] of opusPackets(samples, channels).entries())
      await source.add(new EncodedPacket(packet, 'key', index / 50, 1 / 50), { decoderConfig });
  });
}

/** AAC in MP4, or FLAC, by mediabunny's encoders. */
export async function encodedFile(kind: 'm4a' | 'flac', samples: Float32Array, rate: number, channels: 1 | 2): Promise<Buffer> {
  (await import('@mediabunny/aac-encoder')).registerAacEncoder();
  (await import('@mediabunny/flac-encoder')).registerFlacEncoder();
  return written(kind === 'm4a' ? new Mp4OutputFormat() : new FlacOutputFormat(), async (output) => {
    const source = new AudioSampleSource(kind === 'm4a' ? { codec: 'aac', bitrate: 96_000 } : { codec: 'flac' });
    output.addAudioTrack(source);
    await output.start();
    const data = new Float32Array(samples.length * channels);
    for (let i = 0; i < data.length; i++) data[i] = samples[Math.floor(i / channels)]!;
    const sample = new AudioSample({ data, format: 'f32', numberOfChannels: channels, sampleRate: rate, timestamp: 0 });
    await source.add(sample);
    sample.close();
    source.close();
  });
}
