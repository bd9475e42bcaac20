import { Failure } from '../../schemas/errors.js';
import { bytesOfBase64 } from '../pictures/base64.js';
import { PICTURE_BYTES, type Picture } from '../pictures/picture.js';

const PREFIX = /^data:[^,]{0,200};base64,/i;

async function picture(text: string, index: number): Promise<Picture> {
  const name = `images[${index}]`;
  const code = text.replace(PREFIX, '').trim();
  if (code.length > PICTURE_BYTES * (4 / 3) + 4)
    throw new Failure('bad_request', `${name} is longer than an image may be (${PICTURE_BYTES} bytes).`, { code: 'BadImage' });
  const bytes = await bytesOfBase64(code);
  if (bytes) return { name, bytes };
  throw new Failure('bad_request', `${name} is not base64; give the bytes of an image as base64 or as a data URI.`, { code: 'BadImage' });
}

/** Images given as base64 or data URIs, named by their place in the request. Throws `bad_request` that names the one at fault. */
export async function picturesOf(images: readonly string[]): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (const [index, text] of images.entries()) pictures.push(await picture(text, index));
  return pictures;
}
