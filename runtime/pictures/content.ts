import { readFile, stat } from 'node:fs/promises';
import { Failure } from '../../schemas/errors.js';
import { PICTURE_BYTES, type Picture } from './picture.js';

/** The 400 of a picture; `why` follows its name. */
export function refusedPicture(name: string, why: string, cause?: unknown): Failure {
  return new Failure('bad_request', `${name} ${why}`, { code: 'BadImage', cause });
}

/** Encoded bytes of a picture, told without reading it. */
export async function sizeOfPicture({ bytes, path }: Picture): Promise<number> {
  return bytes?.length ?? (await stat(path!)).size;
}

/** What a picture holds, encoded. Throws `bad_request` that names it where it is empty or larger than a picture may be. */
export async function contentOf(picture: Picture): Promise<Uint8Array> {
  const { name, bytes, path } = picture;
  const size = await sizeOfPicture(picture);
  if (size > PICTURE_BYTES) throw refusedPicture(name, `has ${size} bytes; an image may have ${PICTURE_BYTES}.`);
  if (size === 0) throw refusedPicture(name, 'is empty.');
  return bytes ?? readFile(path!);
}
