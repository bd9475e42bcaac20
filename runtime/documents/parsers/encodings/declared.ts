import { isUtf8 } from 'node:buffer';
import { encodingOf } from './names.js';

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
