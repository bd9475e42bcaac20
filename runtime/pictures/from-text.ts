import { Failure } from '../../schemas/errors.js';
import { base64In, bytesOfBase64 } from '../base/base64.js';
import { PICTURE_BYTES, type Picture } from './picture.js';

/** Characters of a text that a message repeats. */
const SHOWN_CHARACTERS = 60;

/** Images given as base64 or data: URLs, named by their place in the request. Throws `bad_request` that names the one at fault. */
export async function picturesOf(images: readonly string[]): Promise<Picture[]> {
  const pictures: Picture[] = [];
  for (const [index, text] of images.entries()) pictures.push(await readPicture(text, `images[${index}]`));
  return pictures;
}

async function readPicture(text: string, name: string): Promise<Picture> {
  const code = base64In(text);
  if (code.length > PICTURE_BYTES * (4 / 3) + 4)
    throw new Failure('bad_request', `${name} is longer than an image may be (${PICTURE_BYTES} bytes).`, { code: 'BadImage' });
  const bytes = await bytesOfBase64(code);
  if (bytes) return { name, bytes };
  throw new Failure('bad_request', `${name} is not base64; give the bytes of an image as base64 or as a data URI.`, { code: 'BadImage' });
}

/** The bytes of an image given as base64 or as a data: URL. Throws `bad_request` naming `field`; paths and addresses are never followed. */
export async function imageBytes(field: string, text: string): Promise<Uint8Array> {
  const bytes = await bytesOfBase64(base64In(text, 'image/'));
  if (bytes) return bytes;
  const begin = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
  throw new Failure(
    'bad_request',
    `${field} is ${JSON.stringify(begin)}, which is no image; send its bytes in base64 or as a data: URL. Files and addresses are not read.`,
    { code: 'BadImage' },
  );
}
