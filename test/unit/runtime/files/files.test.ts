import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { PageImages } from '../../../../runtime/documents/parsing/page-images.js';
import { Files } from '../../../../runtime/files/files.js';
import { until } from '../../../support/until.js';

const root = await mkdtemp(join(tmpdir(), 'quern-files-'));
after(() => rm(root, { recursive: true, force: true }));

describe('uploaded files', () => {
  it('of a process that was killed go without an upload to wait for', async () => {
    const folder = join(root, 'files');
    await mkdir(join(folder, 'file_1'), { recursive: true });
    await writeFile(join(folder, 'file_1/content'), 'of an earlier process');
    const files = new Files({ folder, pageImages: new PageImages(), limits: { sweepMs: 5 } });
    await until(() => !existsSync(folder));
    await files.close();
  });
});
