import { createHash } from 'node:crypto';
import type { Encoding } from './contract.js';
import { pythonText } from './texts.js';

/** Hashes lie below this. */
const HASHES = 1_000_000;

/** The first 32 bits of the MD5 of the value's text, modulo a million; 0 for missing values. Needs no learning, and keeps no values. */
export const hash: Encoding = {
  columns: (field) => [field],
  isState: (state): state is object => typeof state === 'object',
  writer: (field) => (value, out, at, row) => {
    const text = pythonText(value, field, row);
    out[at] = text === undefined ? 0 : createHash('md5').update(text).digest().readUInt32BE(0) % HASHES;
  },
};
