import { type PictureHead, pictureHead } from './head.js';
import { PIXEL_LIMIT, type Picture, type Pixels, pictureRefused, readPicture } from './picture.js';

/** Side of the square whose middle value takes a dot's place. */
const MEDIAN_SIDE = 3;

async function library(): Promise<typeof import('sharp').default> {
  const { default: sharp } = await import('sharp');
  // A host process looks at one image after the other.
  sharp.cache(false);
  sharp.concurrency(1);
  return sharp;
}

/** What an image's header says. Throws `bad_request` that names the image where it is of no known format or too large to decode. */
export function checkHead(name: string, content: Uint8Array): PictureHead {
  const head = pictureHead(content);
  if (!head) throw pictureRefused(name, 'is not an image that can be read: PNG, JPEG, GIF, WebP, BMP and TIFF can.');
  const { width, height } = head;
  if (width < 1 || height < 1) throw pictureRefused(name, `claims a size of ${width} x ${height} pixels.`);
  if (width * height > PIXEL_LIMIT)
    throw pictureRefused(name, `has ${width} x ${height} pixels; at most ${PIXEL_LIMIT} are decoded. Make it smaller.`);
  return head;
}

/** Decodes an image as RGB, upright and on white; of an animation the first frame. Throws `bad_request` that names the image. */
export async function decodePicture(picture: Picture): Promise<Pixels> {
  const content = await readPicture(picture);
  const { format } = checkHead(picture.name, content);
  if (format === 'bmp') {
    const pixels = readBmp(content);
    if (!pixels) throw pictureRefused(picture.name, 'is a BMP that is cut off, compressed or of an unusual kind; save it as PNG.');
    return pixels;
  }
  const sharp = await library();
  try {
    const { data, info } = await sharp(content, { limitInputPixels: PIXEL_LIMIT, failOn: 'error', pages: 1 })
      .rotate()
      .flatten({ background: '#ffffff' })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true });
    return rgb({ width: info.width, height: info.height, data }, info.channels);
  } catch (cause) {
    throw pictureRefused(picture.name, `is a damaged ${format.toUpperCase()} image.`, cause);
  }
}

function rgb({ width, height, data }: { width: number; height: number; data: Uint8Array }, channels: number): Pixels {
  if (channels === 3) return { width, height, channels: 3, data };
  const colour = channels >= 3 ? [0, 1, 2] : [0, 0, 0];
  const out = new Uint8Array(width * height * 3);
  for (let index = 0; index < width * height; index += 1) {
    for (let channel = 0; channel < 3; channel += 1) out[index * 3 + channel] = data[index * channels + colour[channel]!]!;
  }
  return { width, height, channels: 3, data: out };
}

/** Another size of an image, averaged where it shrinks. */
export async function scalePixels(pixels: Pixels, width: number, height: number): Promise<Pixels> {
  if (width === pixels.width && height === pixels.height) return pixels;
  const sharp = await library();
  const raw = { width: pixels.width, height: pixels.height, channels: pixels.channels };
  const { data, info } = await sharp(pixels.data, { raw, limitInputPixels: PIXEL_LIMIT })
    .resize(width, height, { fit: 'fill', kernel: 'linear' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return rgb({ width, height, data }, info.channels);
}

/** An image turned with the clock. */
export async function rotatePixels(pixels: Pixels, degrees: 90 | 180 | 270): Promise<Pixels> {
  const sharp = await library();
  const raw = { width: pixels.width, height: pixels.height, channels: pixels.channels };
  const { data, info } = await sharp(pixels.data, { raw, limitInputPixels: PIXEL_LIMIT })
    .rotate(degrees)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return rgb({ width: info.width, height: info.height, data }, info.channels);
}

/** An image as PNG; `quick` costs bytes instead of time. */
export async function encodePng(
  { data, ...raw }: { width: number; height: number; channels: 1 | 3 | 4; data: Uint8Array },
  { quick = false } = {},
): Promise<Uint8Array> {
  const sharp = await library();
  return sharp(data, { raw: { width: raw.width, height: raw.height, channels: raw.channels } })
    .png({ compressionLevel: quick ? 0 : 6 })
    .toBuffer();
}

/** An image made easier to read, as PNG: gray, without single dots, its full range of brightness used. */
export async function encodeCleanPng({ width, height, channels, data }: Pixels): Promise<Uint8Array> {
  const sharp = await library();
  const gray = sharp(data, { raw: { width, height, channels } }).grayscale();
  const smooth = Math.min(width, height) < MEDIAN_SIDE ? gray : gray.median(MEDIAN_SIDE);
  return smooth.normalise().png({ compressionLevel: 0 }).toBuffer();
}

/** Qualities of the formats that lose something. */
const JPEG_QUALITY = 95;
const WEBP_QUALITY = 90;

/** An image in a format for clients; `quality` (1 to 100) is that of jpeg and webp. */
export async function encodePixels(
  { width, height, channels, data }: Pixels,
  format: 'png' | 'jpeg' | 'webp',
  quality?: number,
): Promise<Uint8Array> {
  const sharp = await library();
  const image = sharp(data, { raw: { width, height, channels } });
  if (format === 'jpeg') return image.jpeg({ quality: quality ?? JPEG_QUALITY }).toBuffer();
  return format === 'webp' ? image.webp({ quality: quality ?? WEBP_QUALITY }).toBuffer() : image.png({ compressionLevel: 6 }).toBuffer();
}

/** Another size of an image by Lanczos's method, stretched where the proportions differ. */
export async function resamplePixels({ width, height, channels, data }: Pixels, toWidth: number, toHeight: number): Promise<Pixels> {
  const sharp = await library();
  const image = sharp(data, { raw: { width, height, channels }, limitInputPixels: PIXEL_LIMIT });
  const out = await image.resize(toWidth, toHeight, { fit: 'fill', kernel: 'lanczos3' }).raw().toBuffer({ resolveWithObject: true });
  return rgb({ width: toWidth, height: toHeight, data: out.data }, out.info.channels);
}

/** Where an image is transparent, as RGB in white on black; undefined where nothing of it is. Throws `bad_request` that names the image. */
export async function transparencyMask(picture: Picture): Promise<Pixels | undefined> {
  const content = await readPicture(picture);
  const { format } = checkHead(picture.name, content);
  if (format === 'bmp' || format === 'jpeg') return undefined;
  const sharp = await library();
  try {
    const image = sharp(content, { limitInputPixels: PIXEL_LIMIT, failOn: 'error', pages: 1 });
    if (!(await image.metadata()).hasAlpha) return undefined;
    const { data, info } = await image
      .rotate()
      .extractChannel('alpha')
      .negate()
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true });
    if (!data.some((value) => value > 0)) return undefined;
    return rgb({ width: info.width, height: info.height, data }, info.channels);
  } catch (cause) {
    throw pictureRefused(picture.name, `is a damaged ${format.toUpperCase()} image.`, cause);
  }
}

/** Reads an uncompressed BMP of 1, 4, 8, 24 or 32 bits a pixel as RGB; undefined for other kinds and for files that are cut off. */
function readBmp(content: Uint8Array): Pixels | undefined {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const [offset, headerBytes] = [view.getUint32(10, true), view.getUint32(14, true)];
  const [width, signedHeight] = [view.getInt32(18, true), view.getInt32(22, true)];
  const [bits, compression] = [view.getUint16(28, true), view.getUint32(30, true)];
  const height = Math.abs(signedHeight);
  // 3 gives masks of the channels, which are the usual ones wherever 32 bits are written.
  const readable = compression === 0 || (compression === 3 && bits === 32);
  if (!readable || ![1, 4, 8, 24, 32].includes(bits)) return undefined;
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  if (width <= 0 || height <= 0 || offset + rowBytes * height > content.length) return undefined;
  const palette = 14 + headerBytes;
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row += 1) {
    // Rows stand from the bottom unless the height is negative.
    const from = offset + (signedHeight < 0 ? row : height - 1 - row) * rowBytes;
    for (let column = 0; column < width; column += 1) {
      const at =
        bits >= 24
          ? from + column * (bits / 8)
          : palette + 4 * ((content[from + ((column * bits) >> 3)]! >> (8 - bits - ((column * bits) & 7))) & (2 ** bits - 1));
      const to = (row * width + column) * 3;
      data[to] = content[at + 2] ?? 0;
      data[to + 1] = content[at + 1] ?? 0;
      data[to + 2] = content[at] ?? 0;
    }
  }
  return { width, height, channels: 3, data };
}
