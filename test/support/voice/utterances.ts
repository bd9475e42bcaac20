import { loadCore } from '../../../native/loader.js';

/** Utterances of a voice of the daemon, as 16 kHz PCM: what a microphone would hear of them. */
export async function utterance(runtime: string, text: string): Promise<Int16Array> {
  const response = await fetch(`${runtime}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: text, model: 'flite', voice: 'slt', response_format: 'pcm' }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const core = loadCore();
  const samples = core.decodeSamples(new Uint8Array(await response.arrayBuffer()), 's16', 1);
  const resampler = core.openResampler(24_000, 16_000);
  return pcmOf([resampler.push(samples), resampler.flush()]);
}

/** Silence of 16 kHz. */
export function silence(seconds: number): Int16Array {
  return new Int16Array(Math.round(seconds * 16_000));
}

/** Pieces one behind the other. */
export function joined(pieces: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** A WAV file of 16 kHz. */
export function wavOf(pcm: Int16Array): Uint8Array {
  const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return Buffer.concat([loadCore().wavHeader(16_000, 's16', bytes.length), bytes]);
}

function pcmOf(pieces: readonly Float32Array[]): Int16Array {
  return joined(pieces.map((piece) => Int16Array.from(piece, (sample) => Math.max(-1, Math.min(1, sample)) * 32767)));
}
