import { Failure } from '../../schemas/errors.js';
import { bytesOfBase64 } from '../pictures/base64.js';

const DATA_URL = /^data:image\/[a-z0-9.+-]+;base64,/i;

/** The bytes of an image that came as base64 or a data: URL. Throws `bad_request` naming `field`; paths and addresses are never followed. */
export async function imageBytes(field: string, text: string): Promise<Uint8Array> {
  const bytes = await bytesOfBase64(text.replace(DATA_URL, ''));
  if (bytes) return bytes;
  const shown = text.length > 60 ? `${text.slice(0, 60)}...` : text;
  throw new Failure(
    'bad_request',
    `${field} is ${JSON.stringify(shown)}, which is no image; send its bytes in base64 or as a data: URL. Files and addresses are not read.`,
    { code: 'BadImage' },
  );
}
