import { LISTEN_RATE } from '../speech/decode/contract.js';
import { LiveDecoder } from '../speech/decode/live.js';
import { VOICE_FRAME, type VoiceActivity, VoiceDetectors } from '../speech/voice-activity.js';
import type { Ears, Hearing, VoiceFrame } from './contract.js';

/** Samples that the detector is asked about at once: one second. */
const ASKED_SAMPLES = Math.floor(LISTEN_RATE / VOICE_FRAME) * VOICE_FRAME;

function levelOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / samples.length);
}

/** Hears with one detector of speech for all clients. */
export class LiveEars implements Ears {
  readonly #detectors = new VoiceDetectors();

  /** Loads the detector, too, so that the first sound does not wait for it. */
  open(): Hearing {
    void this.#detectors.warm();
    return new LiveHearing(this.#detectors.open());
  }

  close(): Promise<void> {
    return this.#detectors.close();
  }
}

/** What one client's microphone sends, in whatever form, as frames of 32 ms with what the detector of speech says of them. */
export class LiveHearing implements Hearing {
  readonly #activity: VoiceActivity;
  readonly #decoder = new LiveDecoder();
  #waiting = new Float32Array(0);

  /** Takes the detector over. */
  constructor(activity: VoiceActivity) {
    this.#activity = activity;
  }

  async *hear(bytes: Uint8Array): AsyncGenerator<VoiceFrame> {
    for await (const samples of this.#decoder.push(bytes)) {
      const all = new Float32Array(this.#waiting.length + samples.length);
      all.set(this.#waiting);
      all.set(samples, this.#waiting.length);
      const whole = all.length - (all.length % VOICE_FRAME);
      this.#waiting = all.slice(whole);
      yield* this.#frames(all.subarray(0, whole));
    }
  }

  async *end(): AsyncGenerator<VoiceFrame> {
    this.#decoder.reset();
    if (this.#waiting.length > 0) {
      const last = new Float32Array(VOICE_FRAME);
      last.set(this.#waiting);
      this.#waiting = new Float32Array(0);
      yield* this.#frames(last);
    }
    this.#activity.reset();
  }

  close(): void {
    this.#activity.close();
  }

  async *#frames(samples: Float32Array): AsyncGenerator<VoiceFrame> {
    for (let from = 0; from < samples.length; from += ASKED_SAMPLES) {
      const asked = samples.slice(from, from + ASKED_SAMPLES);
      const heard = await this.#activity.hear(asked);
      for (const [index, speech] of heard.entries()) {
        const frame = asked.subarray(index * VOICE_FRAME, (index + 1) * VOICE_FRAME);
        yield { samples: frame, speech, level: levelOf(frame) };
      }
    }
  }
}
