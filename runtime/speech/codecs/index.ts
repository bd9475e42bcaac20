import type { AudioFormat, AudioFormatName } from './contract.js';
import { aac, flac } from './mediabunny.js';
import { mp3 } from './mp3.js';
import { opus } from './opus.js';
import { pcm, wav } from './wav.js';

/** Every format that speech is written in. */
export const AUDIO_FORMATS = { mp3, opus, aac, flac, wav, pcm } as const satisfies Record<AudioFormatName, AudioFormat>;
