import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import type { PageImages } from '../../../../runtime/documents/parsing/page-images.js';
import { FilesRoom } from '../../../../runtime/files/limits.js';
import { Pages } from '../../../../runtime/files/pages.js';

setLogLevel('error');
const root = await mkdtemp(join(tmpdir(), 'quern-pages-'));
after(() => rm(root, { recursive: true, force: true }));

type Render = PageImages['render'];

/** Two pages of a PDF in a folder of its own, rendered by `render`, and the room of 100 bytes that they are in. */
async function opened(render: Render) {
  const home = await mkdtemp(join(root, 'file-'));
  const room = new FilesRoom({ maxFiles: 1, totalBytes: 100 });
  const pages = new Pages({
    pageImages: { render } as PageImages,
    source: { path: join(home, 'content'), name: 'a.pdf', mimeType: 'application/pdf', sizeBytes: 1 },
    pages: 2,
    dpi: 72,
    folder: join(home, 'pages'),
    limits: { pages: 500, imageBytes: 1000 },
    take: (bytes) => room.take('pages', bytes, 7),
  });
  const free = (bytes: number): void => room.take('pages', bytes, 7).release();
  return { home, folder: join(home, 'pages'), pages, free };
}

describe('the pages of a file', () => {
  it('take room as they are rendered', async () => {
    const seen: number[] = [];
    const { pages, free } = await opened(async function* ({ folder }) {
      const fits = (bytes: number): boolean => {
        try {
          free(bytes);
          return true;
        } catch {
          return false;
        }
      };
      const left = () => Array.from({ length: 101 }, (_, bytes) => bytes).findLast(fits)!;
      seen.push(left());
      yield { page: 1, path: join(folder, 'page-1.png'), sizeBytes: 30 };
      seen.push(left());
      yield { page: 2, path: join(folder, 'page-2.png'), sizeBytes: 40 };
      seen.push(left());
    });
    assert.equal((await pages.pictures()).length, 2);
    assert.deepEqual(seen, [100, 70, 30]);
    pages.release();
    free(100);
  });

  it('are refused at the page that finds no room, and give back what they had', async () => {
    const { folder, pages, free } = await opened(async function* ({ folder }) {
      yield { page: 1, path: join(folder, 'page-1.png'), sizeBytes: 60 };
      yield { page: 2, path: join(folder, 'page-2.png'), sizeBytes: 60 };
    });
    await assert.rejects(pages.pictures(), { kind: 'busy', code: 'FilesFull', retryAfterS: 7 });
    free(100);
    assert.ok(!existsSync(folder));
  });

  it('give back their room where their folder cannot be removed, and are rendered into what is left', async () => {
    let round = 0;
    const { home, folder, pages, free } = await opened(async function* ({ folder }) {
      round += 1;
      yield { page: 1, path: join(folder, 'page-1.png'), sizeBytes: 30 };
      if (round > 1) return;
      // A folder below a file is one that `rm` fails on.
      await rm(home, { recursive: true });
      await writeFile(home, '');
      throw new Error('the host is gone');
    });
    await assert.rejects(pages.pictures(), /the host is gone/);
    free(100);
    await rm(home);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'page-1.png'), '');
    assert.equal((await pages.pictures()).length, 1);
  });
});
