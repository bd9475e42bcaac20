import { Failure } from '../../schemas/errors.js';
import { PICTURE_BYTES, type Picture } from '../pictures/picture.js';

const PREFIX = /^data:[^,]{0,200};base64,/i;
const ALPHABET = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Images given as base64 or data URIs, named by their place in the request. Throws `bad_request` that names the one at fault. */
export function picturesOf(images: readonly string[]): Picture[] {
  return images.map((text, index) => {
    const name = `images[${index}]`;
    const code = text.replace(PREFIX, '').trim();
    if (code.length > PICTURE_BYTES * (4 / 3) + 4)
      throw new Failure('bad_request', `${name} is longer than an image may be (${PICTURE_BYTES} bytes).`, { code: 'BadImage' });
    const plain = /\s/.test(code) ? code.replace(/\s+/g, '') : code;
    if (!ALPHABET.test(plain))
      throw new Failure('bad_request', `${name} is not base64; give the bytes of an image as base64 or as a data URI.`, {
        code: 'BadImage',
      });
    return { name, bytes: Buffer.from(plain, 'base64') };
  });
}
