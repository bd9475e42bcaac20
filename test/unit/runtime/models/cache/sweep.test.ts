import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { lockFile, RepositoryLayout } from '../../../../../runtime/models/cache/layout.js';
import { sweepCache } from '../../../../../runtime/models/cache/sweep.js';
import { bytesOf, hubStage } from '../fetch/stage.js';

const HOUR_MS = 3600 * 1000;
const NEVER = new AbortController().signal;
const root = mkdtempSync(join(tmpdir(), 'quern-sweep-'));
let caches = 0;

describe('a sweep of the hub cache', () => {
  let cache: string;
  let layout: RepositoryLayout;
  const etag = (digit: string): string => digit.repeat(64);
  const put = (path: string, content = 'bytes'): void => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
  };
  const show = (one: RepositoryLayout, file: string, digit: string): void => {
    mkdirSync(join(one.snapshot('c1'), 'onnx'), { recursive: true });
    symlinkSync(`${file.includes('/') ? '../' : ''}../../blobs/${etag(digit)}`, join(one.snapshot('c1'), file));
  };
  /** What a sweep leaves that runs so many hours from now. */
  const left = async (hours = 25): Promise<string[]> => {
    await sweepCache(cache, NEVER, Date.now() + hours * HOUR_MS);
    return readdirSync(layout.blobs).sort();
  };

  beforeEach(async () => {
    caches += 1;
    cache = join(root, String(caches));
    layout = new RepositoryLayout(cache, 'org/name');
    await layout.make();
    for (const digit of ['a', 'b']) put(layout.blob(etag(digit)));
    show(layout, 'onnx/model.onnx', 'a');
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it('takes blobs that no snapshot shows, unfinished files of ours and what an earlier sweep was taking, after a day', async () => {
    put(layout.incomplete(etag('c')));
    put(`${layout.incomplete(etag('c'))}.parts`);
    put(layout.incomplete(`${etag('d')}.0123abcd`));
    put(layout.blob('e'.repeat(40)));
    assert.equal((await left(23)).length, 6);
    assert.deepEqual(await left(), [etag('a')]);
    assert.equal(readFileSync(join(layout.snapshot('c1'), 'onnx/model.onnx'), 'utf8'), 'bytes');
  });

  it('tells how many bytes that freed', async () => {
    assert.equal(await sweepCache(cache, NEVER, Date.now() + 25 * HOUR_MS), 5);
    assert.equal(await sweepCache(cache, NEVER, Date.now() + 25 * HOUR_MS), 0);
    assert.equal(await sweepCache(join(cache, 'nowhere'), NEVER), 0);
  });

  it('takes what the first download of a repository left, of which no snapshot tells', async () => {
    rmSync(layout.snapshots, { recursive: true });
    assert.deepEqual(await left(), []);
  });

  it('leaves alone what other programs have not finished, and what it does not know', async () => {
    const others = [`${etag('c')}.incomplete`, `${etag('d')}.0a1b.incomplete`, 'readme', etag('A'), `${etag('e')}.tmp`];
    for (const name of others) put(join(layout.blobs, name));
    assert.deepEqual(await left(), [...others, etag('a')].sort());
  });

  it('leaves a blob alone that is a link to the store of all repositories, and a repository that is a link', async () => {
    put(join(cache, 'blobs/ab', etag('f')));
    symlinkSync(`../../blobs/ab/${etag('f')}`, layout.blob(etag('f')));
    const elsewhere = join(root, `elsewhere-${caches}`);
    put(join(elsewhere, 'blobs', etag('1')));
    symlinkSync(elsewhere, join(cache, 'models--linked'));
    assert.deepEqual(await left(), [etag('a'), etag('f')]);
    assert.ok(existsSync(join(elsewhere, 'blobs', etag('1'))));
    assert.equal(readlinkSync(layout.blob(etag('f'))), `../../blobs/ab/${etag('f')}`);
  });

  it('leaves a repository alone whose snapshots have files of their own', async () => {
    put(join(layout.snapshot('c2'), 'config.json'));
    assert.deepEqual(await left(), [etag('a'), etag('b')]);
  });

  it('leaves a blob alone that a download has claimed, and takes one whose download died', async () => {
    put(layout.blob(etag('c')));
    writeFileSync(layout.lock(etag('b')), JSON.stringify({ pid: 2 ** 22 - 1, started: 'long ago' }));
    const release = await lockFile(layout.lock(etag('c')), NEVER);
    assert.deepEqual(await left(), [etag('a'), etag('c')]);
    await release();
    assert.deepEqual(await left(), [etag('a')]);
    assert.deepEqual(readdirSync(layout.locks), []);
  });

  it('waits for a day after a download began', async () => {
    const stage = await hubStage();
    stage.server.put('org/name', { 'model.gguf': bytesOf(1000) });
    await stage.pull('org/name');
    await sweepCache(stage.cache, NEVER, Date.now() + 23 * HOUR_MS);
    assert.equal(readdirSync(new RepositoryLayout(stage.cache, 'org/name').blobs).length, 1);
    await sweepCache(stage.cache, NEVER, Date.now() + 25 * HOUR_MS);
    const [file] = readdirSync(join(stage.cache, 'models--org--name', 'snapshots'));
    assert.ok(existsSync(join(stage.cache, 'models--org--name', 'snapshots', file!, 'model.gguf')));
    await stage.close();
  });

  it('ends when it is told to', async () => {
    assert.equal(await sweepCache(cache, AbortSignal.abort(), Date.now() + 25 * HOUR_MS), 0);
    assert.equal(readdirSync(layout.blobs).length, 2);
  });
});
