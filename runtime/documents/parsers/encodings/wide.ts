const LOOKED_AT = 4096;
/** Beyond this share of code units that no text has, bytes with zeros among them are no UTF-16. */
const STRANGE_SHARE = 0.01;
// Controls but blanks and line ends, halves of pairs, private and unassigned characters.
const STRANGE = /[^\P{C}\t\n\r\f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/gu;

/** The encoding that a byte order mark names. */
export function markedEncoding(bytes: Uint8Array): string | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'utf-32le' : 'utf-16le';
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'utf-32be';
  return a === 0xfe && b === 0xff ? 'utf-16be' : undefined;
}

interface Reading {
  readonly encoding: 'utf-16le' | 'utf-16be';
  readonly strange: number;
  /** Different values of the byte that tells the script: a text has few. */
  readonly scripts: number;
}

function reading(sample: Buffer, encoding: Reading['encoding']): Reading {
  const ordered = encoding === 'utf-16le' ? sample : Buffer.from(sample).swap16();
  const text = ordered.toString('utf16le');
  const scripts = new Set<number>();
  for (let at = 1; at < ordered.length; at += 2) scripts.add(ordered[at]!);
  return { encoding, strange: text.match(STRANGE)?.length ?? 0, scripts: scripts.size };
}

/** UTF-16 without a byte order mark: zero bytes among letters of any script, and code units that make sense in one of the two orders. */
export function unmarkedUtf16(bytes: Uint8Array): Reading['encoding'] | undefined {
  // An odd byte at the end is that of a file that was cut; a pair that the sample cuts is left to the share.
  const sample = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, LOOKED_AT) & ~1);
  if (sample.length < 2 || !sample.includes(0)) return undefined;
  const [best, other] = [reading(sample, 'utf-16le'), reading(sample, 'utf-16be')].sort(
    (one, two) => one.strange - two.strange || one.scripts - two.scripts,
  ) as [Reading, Reading];
  if (best.strange > (sample.length / 2) * STRANGE_SHARE) return undefined;
  return best.strange < other.strange || best.scripts < other.scripts ? best.encoding : undefined;
}
