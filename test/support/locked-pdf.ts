import { createHash } from 'node:crypto';
import { pdfFile } from './documents.js';

/** What passwords are filled up with, of the standard security handler. */
const FILLING = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');
const KEY_BYTES = 5;
const PERMISSIONS = -4;
const ID = Buffer.from('0123456789abcdef');

const md5 = (...parts: Uint8Array[]): Buffer => createHash('md5').update(Buffer.concat(parts)).digest();
const filled = (password: string): Buffer => Buffer.concat([Buffer.from(password, 'latin1'), FILLING]).subarray(0, 32);
const hex = (bytes: Buffer): string => `<${bytes.toString('hex')}>`;

function rc4(key: Uint8Array, input: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, at) => at);
  for (let at = 0, other = 0; at < 256; at += 1) {
    other = (other + state[at]! + key[at % key.length]!) & 255;
    [state[at], state[other]] = [state[other]!, state[at]!];
  }
  let first = 0;
  let second = 0;
  const output = Uint8Array.from(input, (byte) => {
    first = (first + 1) & 255;
    second = (second + state[first]!) & 255;
    [state[first], state[second]] = [state[second]!, state[first]!];
    return byte ^ state[(state[first]! + state[second]!) & 255]!;
  });
  return Buffer.from(output);
}

/** A PDF of one page, encrypted with RC4 of 40 bits (ISO 32000-1, 7.6.3); opens with `password`, which may be empty. */
export function lockedPdf(draw: string, password: string): Uint8Array {
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE(PERMISSIONS);
  const owner = rc4(md5(filled('owner')).subarray(0, KEY_BYTES), filled(password));
  const key = md5(filled(password), owner, permissions, ID).subarray(0, KEY_BYTES);
  const user = rc4(key, FILLING);
  const content = 5;
  const drawn = rc4(md5(key, Uint8Array.of(content, 0, 0, 0, 0)).subarray(0, KEY_BYTES + 5), Buffer.from(draw, 'latin1'));
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[4 0 R]/Count 1>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Resources<</Font<</F1 3 0 R>>>>/Contents ${content} 0 R>>`,
    `<</Length ${drawn.length}>>stream\n${drawn.toString('latin1')}\nendstream`,
    `<</Filter/Standard/V 1/R 2/P ${PERMISSIONS}/O${hex(owner)}/U${hex(user)}>>`,
  ];
  return pdfFile(objects, `/Encrypt 6 0 R/ID[${hex(ID)}${hex(ID)}]`);
}
