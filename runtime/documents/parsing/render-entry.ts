import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { OpenEngine } from '../../hosts/engine.js';
import { countPages, pagesWithoutText, renderPages } from '../parsers/pdf/render.js';
import type { RenderRequest } from './page-images.js';

/** Makes the engine that renders pages of PDFs into a folder. */
export const openEngine: OpenEngine = () => ({
  async call(method, body) {
    const { file, pages, dpi, folder } = body as RenderRequest;
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
