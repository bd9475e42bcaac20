import { Failure } from '../../schemas/errors.js';

const DATA_URL = /^data:image\/[a-z0-9.+-]+;base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const SPACE = /\s+/g;

/** The bytes of an image that came as base64 or a data: URL. Throws `bad_request` naming `field`; paths and addresses are never followed. */
export function imageBytes(field: string, text: string): Uint8Array {
  const base64 = text.replace(DATA_URL, '').replace(SPACE, '');
  if (base64 === '' || !BASE64.test(base64)) {
    const shown = text.length > 60 ? `${text.slice(0, 60)}...` : text;
    throw new Failure(
      'bad_request',
      `${field} is ${JSON.stringify(shown)}, which is no image; send its bytes in base64 or as a data: URL. Files and addresses are not read.`,
      { code: 'BadImage' },
    );
  }
  return Buffer.from(base64, 'base64');
}
