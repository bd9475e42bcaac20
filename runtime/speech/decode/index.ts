import { aac } from './adts.js';
import type { AudioKind, AudioReader } from './contract.js';
import { mp3 } from './mp3.js';
import { mp4 } from './mp4.js';
import { ogg, webm } from './packets.js';
import { flac, raw, wav } from './pcm.js';

/** Every kind of audio that is read, and what reads it. */
export const AUDIO_READERS = { wav, flac, mp3, ogg, webm, mp4, aac, raw } as const satisfies Record<AudioKind, AudioReader>;
