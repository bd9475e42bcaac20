import { isUtf8 } from 'node:buffer';
import { encodingOf } from './names.js';

const SAMPLE_BYTES = 4096;
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
  const sample = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, SAMPLE_BYTES) & ~1);
  if (sample.length < 2 || !sample.includes(0)) return undefined;
  const [best, other] = [reading(sample, 'utf-16le'), reading(sample, 'utf-16be')].sort(
    (one, two) => one.strange - two.strange || one.scripts - two.scripts,
  ) as [Reading, Reading];
  if (best.strange > (sample.length / 2) * STRANGE_SHARE) return undefined;
  return best.strange < other.strange || best.scripts < other.scripts ? best.encoding : undefined;
}

/** How far into a file a declaration may stand. */
const LOOKED_AT = 64 * 1024;
const FIRST_LINES = 1024;
const XML = /^\s{0,100}<\?xml\s[^>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.:-]{1,40})["']/;
const META = /<meta\s[^>]{0,500}?charset\s{0,10}=\s{0,10}["']?\s{0,10}([\w.:-]{1,40})/i;
/** What editors and languages read in the first two lines of a source: Emacs, Vim, Python, Ruby. */
const MODE_LINE = /^(?:[^\n]{0,500}\n)?[^\n]{0,500}?\b(?:file)?(?:en)?coding[:=][ \t]{0,10}([\w.-]{1,40})/;
const STYLE = /^@charset "([\w.:-]{1,40})";/i;
const LATEX = /\\usepackage\s{0,10}\[([\w-]{1,40})\]\s{0,10}\{inputenc\}/;
const LATEX_NAMES: Readonly<Record<string, string>> = { ansinew: 'windows-1252', applemac: 'macintosh', utf8x: 'utf-8' };

/** The encoding that an XML declaration at the start names; undefined for none and for one that is not read. */
export function xmlEncoding(bytes: Uint8Array): string | undefined {
  const label = XML.exec(Buffer.from(bytes.subarray(0, FIRST_LINES)).toString('latin1'))?.[1];
  return label === undefined ? undefined : ofBytes(encodingOf(label));
}

/** The encoding that a page names, in its XML declaration or in a `<meta>` anywhere in its first 64 KiB. */
export function htmlEncoding(bytes: Uint8Array): string | undefined {
  const meta = META.exec(Buffer.from(bytes.subarray(0, LOOKED_AT)).toString('latin1'))?.[1];
  return xmlEncoding(bytes) ?? (meta === undefined ? undefined : ofBytes(encodingOf(meta)));
}

/**
 * The encoding that a text names in the way of its kind: XML, CSS, LaTeX, or a mode line of a source. Editors save LaTeX and sources in UTF-8
 * whatever these say, so that what is UTF-8 stays that.
 */
export function textEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, LOOKED_AT)).toString('latin1');
  const start = head.slice(0, FIRST_LINES);
  const latex = LATEX.exec(head)?.[1];
  const hint = latex === undefined ? MODE_LINE.exec(start)?.[1] : (LATEX_NAMES[latex] ?? latex);
  const label = STYLE.exec(start)?.[1] ?? (hint === undefined || isUtf8(bytes) ? undefined : hint);
  return xmlEncoding(bytes) ?? (label === undefined ? undefined : ofBytes(encodingOf(label)));
}

/** A declaration that can be read byte by byte is in no encoding of two bytes, whatever it says. */
function ofBytes(encoding: string | undefined): string | undefined {
  return encoding?.startsWith('utf-16') || encoding?.startsWith('utf-32') ? undefined : encoding;
}
