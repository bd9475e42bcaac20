import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { datasetFileEndpoints } from '../../../../../gateway/core/dataset-files.js';
import { dispatch } from '../../../../../gateway/http/dispatch.js';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { DatasetFolder, resolvedName } from '../../../../../runtime/library/datasets/folder.js';
import type { UploadedFile } from '../../../../../schemas/endpoint.js';
import { formOf, hashOf, openDatasetStage, PROJECT, writeProject } from '../../../../support/dataset-stage.js';
import { send } from '../../../../support/scenario.js';

setLogLevel('error');
const root = mkdtempSync(join(tmpdir(), 'quern-folder-'));
after(() => rmSync(root, { recursive: true, force: true }));
let count = 0;

function upload(name: string, content: string): UploadedFile {
  count += 1;
  const path = join(root, `upload-${count}`);
  writeFileSync(path, content);
  return { field: 'file', name, mimeType: '', path, sizeBytes: content.length, sha256: hashOf(content) };
}

describe('the folder of a dataset', () => {
  it('shows what another process puts into it', async () => {
    const path = join(root, 'shared');
    const mine = new DatasetFolder(path);
    assert.deepEqual(await mine.list(), []);
    await new DatasetFolder(path).add(upload('a.txt', 'a'));
    assert.deepEqual(
      (await mine.list()).map((file) => file.original_file_name),
      ['a.txt'],
    );
    await mine.remove(hashOf('a'), { bytes: true });
    assert.deepEqual(await new DatasetFolder(path).list(), []);
  });

  it('ignores what a crash left half done, and a later upload completes it', async () => {
    const path = join(root, 'crashed');
    for (const folder of ['raw', 'meta', 'index/by_name']) mkdirSync(join(path, folder), { recursive: true });
    const hash = hashOf('content');
    writeFileSync(join(path, 'raw', hash), 'content');
    writeFileSync(join(path, 'meta', `.${hash}.tmp`), '{"half');
    const folder = new DatasetFolder(path);
    assert.deepEqual(await folder.list(), []);
    await folder.add(upload('c.txt', 'content'));
    assert.equal((await folder.list()).length, 1);
    assert.deepEqual(readdirSync(join(path, 'meta')), [`${hash}.json`]);
  });

  it('keeps names within what file systems take', () => {
    assert.equal(resolvedName('test.pdf', 12.5), 'test_12.5.pdf');
    assert.equal(resolvedName('test', 12.5), 'test_12.5');
    const long = resolvedName(`${'ü'.repeat(200)}.txt`, 12.5);
    assert.ok(Buffer.byteLength(long) <= 255 && long.endsWith('_12.5.txt'));
  });

  it('gives files of one name different links', async () => {
    const path = join(root, 'same-name');
    const folder = new DatasetFolder(path);
    for (let at = 0; at < 20; at += 1) await folder.add(upload('same.txt', `content ${at}`));
    assert.equal(readdirSync(join(path, 'index/by_name')).length, 20);
  });
});

/** A small file system of its own; undefined where none may be mounted. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'quern-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
}

const disk = smallDisk();

describe('uploads on a full disk', { skip: disk === undefined ? 'needs the right to mount a file system' : false }, () => {
  after(() => {
    if (disk) execFileSync('umount', [disk]);
  });

  it('are refused with 507, leave nothing, and work again when there is room', async () => {
    writeProject(disk!, 'ns', 'p', PROJECT);
    const stage = await openDatasetStage({ dataDir: disk! });
    const application = dispatch({
      endpoints: datasetFileEndpoints,
      context: stage,
      access: { bindHost: '127.0.0.1' },
      uploadFolder: join(disk!, 'uploads'),
    });
    const post = (content: string) =>
      send(application, { method: 'POST', path: '/v1/projects/ns/p/datasets/docs/data', ...formOf([['file', 'f.txt', content]]) });
    assert.equal((await post('before')).status, 200);
    const ballast = join(disk!, 'ballast');
    const { bavail, bsize } = statfsSync(disk!);
    // Room for the check at the start, not for the file: the writing fails.
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - 17 * 1024 * 1024));
    const full = await post('x'.repeat(19 * 1024 * 1024));
    assert.equal(full.status, 507, full.text);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    const none = await post('y');
    assert.equal(none.status, 507, none.text);
    assert.deepEqual(readdirSync(join(disk!, 'uploads')), []);
    assert.equal(readdirSync(join(disk!, 'projects/ns/p/lf_data/datasets/docs/raw')).length, 1);
    rmSync(ballast);
    assert.equal((await post('after')).status, 200);
    assert.ok(existsSync(join(disk!, 'projects/ns/p/lf_data/datasets/docs/raw', hashOf('after'))));
    await stage.close();
  });
});
