import { Failure } from '../../../schemas/errors.js';
import type { AudioKind, FileBytes } from './contract.js';

/** What is read, for messages. */
const READ_FORMATS = 'mp3, m4a, mp4, aac, webm, flac, ogg (Opus, Vorbis or FLAC), opus and wav';

const TAG_BYTES = 10;
const MOST_TAGS = 8;

const text = (bytes: Uint8Array, from: number, to: number): string => Buffer.from(bytes.subarray(from, to)).toString('latin1');

/** Formats that are known by their first bytes, and not read. */
const OTHERS: readonly (readonly [string, string])[] = [
  ['FORM', 'AIFF'],
  ['#!AM', 'AMR'],
  ['0&\xb2u', 'WMA'],
  ['MThd', 'MIDI'],
  ['caff', 'CAF'],
  ['.snd', 'AU'],
  ['%PDF', 'PDF'],
  ['PK\x03\x04', 'a ZIP archive'],
  ['\x89PNG', 'an image'],
  ['\xff\xd8\xff', 'an image'],
  ['GIF8', 'an image'],
];

/** The kind of audio that begins with these bytes; undefined where they are of none that is read. */
export function kindOf(bytes: Uint8Array): Exclude<AudioKind, 'raw'> | undefined {
  const four = text(bytes, 0, 4);
  if ((four === 'RIFF' || four === 'RF64') && text(bytes, 8, 12) === 'WAVE') return 'wav';
  if (four === 'fLaC') return 'flac';
  if (four === 'OggS') return 'ogg';
  if (four === '\x1a\x45\xdf\xa3') return 'webm';
  if (['ftyp', 'moov', 'mdat', 'wide'].includes(text(bytes, 4, 8))) return 'mp4';
  if (bytes[0] !== 0xff || bytes[1] === undefined || (bytes[1] & 0xe0) !== 0xe0) return undefined;
  const layer = (bytes[1] >> 1) & 3;
  if (layer === 0) return (bytes[1] & 0xf0) === 0xf0 ? 'aac' : undefined;
  // Versions, rates and sizes that do not exist: no frame of MPEG begins so.
  const impossible = ((bytes[1] >> 3) & 3) === 1 || (bytes[2]! & 0xf0) === 0xf0 || (bytes[2]! & 0x0c) === 0x0c;
  return impossible ? undefined : 'mp3';
}

/** Where a file begins behind its ID3 tags. */
function behindTags(file: FileBytes): number {
  let at = 0;
  for (let tag = 0; tag < MOST_TAGS; tag++) {
    const head = file.read(at, TAG_BYTES);
    if (head.length < TAG_BYTES || text(head, 0, 3) !== 'ID3') return at;
    const size = head.subarray(6).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
    at += TAG_BYTES + size + (head[5]! & 0x10 ? TAG_BYTES : 0);
  }
  return at;
}

/** What a file is, and where its audio begins. Throws Failure('bad_request') for what is no audio that is read, naming what it seems to be. */
export function sniff(file: FileBytes): { readonly kind: Exclude<AudioKind, 'raw'>; readonly at: number } {
  if (file.size === 0) throw new Failure('bad_request', 'The audio file is empty.');
  const at = behindTags(file);
  const head = file.read(at, 16);
  const kind = kindOf(head);
  if (kind) return { kind, at };
  const other = OTHERS.find(([begin]) => text(head, 0, 4).startsWith(begin))?.[1];
  const what = other === undefined ? 'is of no known audio format' : `is ${other}`;
  throw new Failure('bad_request', `The file ${what}; send one of ${READ_FORMATS}.`, { code: 'unsupported_audio' });
}
