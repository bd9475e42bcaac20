/** Samples of a frame at 16 kHz: 32 ms. */
export const VOICE_FRAME = 512;

/** Tells speech from other sound in one stream. */
export interface VoiceActivity {
  /** What judges, for logs. */
  readonly detector: 'silero' | 'energy';
  /** How likely each frame is speech, 0 to 1; 0.5 and more is taken for speech. `samples` are whole frames of `VOICE_FRAME` at 16 kHz, in order. */
  hear(samples: Float32Array): Promise<Float32Array>;
  /** The next sound has nothing to do with the last. */
  reset(): void;
  close(): void;
}
