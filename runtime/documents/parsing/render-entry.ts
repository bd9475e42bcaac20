import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { OpenEngine } from '../../hosts/protocol.js';
import { decodePicture, encodePixels, resamplePixels } from '../../pictures/codec.js';
import type { SourceFile } from '../parsers/contract.js';
import { countPages, pagePixels, pagesWithoutText, renderPages } from '../parsers/pdf/render.js';
import type { PagePicture, PictureRequest, RenderRequest } from './page-images.js';

/** Of WebP: letters stay sharp. */
const PICTURE_QUALITY = 85;

/** One page in the format of browsers, no wider than wanted. */
async function pagePicture({ file, page, width, isPdf }: PictureRequest): Promise<PagePicture> {
  const { pages, pixels } = isPdf
    ? await pagePixels(file, page, width)
    : { pages: 1, pixels: page === 1 ? await shrinkPicture(file, width) : undefined };
  return { pages, bytes: pixels && (await encodePixels(pixels, 'webp', PICTURE_QUALITY)) };
}

async function shrinkPicture({ name, path, bytes }: SourceFile, width: number) {
  const pixels = await decodePicture({ name, path, ...(bytes ? { bytes } : {}) });
  return pixels.width <= width ? pixels : resamplePixels(pixels, width, Math.max(1, Math.round((pixels.height * width) / pixels.width)));
}

/** Makes the engine that renders pages of PDFs, into a folder or one by one. */
export const openEngine: OpenEngine = () => ({
  async call(method, body) {
    const { file, pages, dpi, folder } = body as RenderRequest;
    if (method === 'picture') return pagePicture(body as PictureRequest);
    if (method === 'count') return countPages(file);
    if (method === 'without-text') return pagesWithoutText(file);
    if (method !== 'render') throw new Failure('internal', `A render host has no method ${method}.`);
    const rendered: { path: string; sizeBytes: number }[] = [];
    await renderPages(file, { pages, dpi }, async (page, png) => {
      const path = join(folder, `page-${page}.png`);
      await writeFile(path, png, { mode: 0o600 });
      rendered.push({ path, sizeBytes: png.length });
    });
    return rendered;
  },
  close: () => {},
});
