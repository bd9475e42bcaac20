import { binary } from './binary.js';
import type { Encoding } from './contract.js';
import { frequency } from './frequency.js';
import { hash } from './hash.js';
import { label } from './label.js';
import { numeric } from './numeric.js';
import { onehot } from './onehot.js';

// biome-ignore lint/suspicious/noExplicitAny: each encoding has a state of its own
type AnyEncoding = Encoding<any>;

/** The encodings of fields, by the names that a schema uses. */
export const ENCODINGS = { numeric, hash, label, onehot, binary, frequency } satisfies Record<string, AnyEncoding>;

/** The encoding of a name, `undefined` where there is none. */
export function encodingOf(name: string): AnyEncoding | undefined {
  return Object.hasOwn(ENCODINGS, name) ? ENCODINGS[name as keyof typeof ENCODINGS] : undefined;
}
