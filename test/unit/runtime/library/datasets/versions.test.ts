import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { datasetEndpoints } from '../../../../../gateway/core/datasets.js';
import { dispatch } from '../../../../../gateway/http/dispatch.js';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import type { Task } from '../../../../../schemas/generated/core/tasks.js';
import { type DatasetStage, formOf, hashOf, openDatasetStage, PROJECT, writeProject } from '../../../../support/dataset-stage.js';
import { send } from '../../../../support/scenario.js';

setLogLevel('error');
const NEVER = new AbortController().signal;
const VERSIONED = PROJECT.replace('{name: empty, ', '{name: empty, same_name: keep, ');
const [ONE, TWO, THREE] = ['one', 'two\nlines', 'a\nb\nc'].map(hashOf) as [string, string, string];

/** Uploads, tasks and what is left of them, on one data directory. */
class Bench {
  stage!: DatasetStage;
  project = '';
  static count = 0;

  async open(): Promise<void> {
    this.stage ??= await openDatasetStage();
    Bench.count += 1;
    this.project = `p${Bench.count}`;
    writeProject(this.stage.dataDir, 'ns', this.project, VERSIONED);
  }

  /** Closes the stage as a crash would leave it, and opens it again. */
  async reopen(): Promise<void> {
    const { dataDir } = this.stage;
    await this.stage.tasks.close();
    await this.stage.store.close();
    this.stage = await openDatasetStage({ dataDir });
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  async upload(name: string, content: string, dataset = 'docs'): Promise<any> {
    return this.#send(`${dataset}/data?auto_process=false`, formOf([['file', name, content]]));
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async bulk(files: readonly (readonly [string, string])[]): Promise<any> {
    return this.#send('docs/data/bulk', formOf(files.map(([name, content]) => ['files', name, content] as const)));
  }

  async process(dataset = 'docs'): Promise<Task> {
    const id = await this.stage.datasets.processing.start('ns', this.project, dataset, {});
    return this.stage.tasks.finished('ns', this.project, id, NEVER);
  }

  async listed(dataset = 'docs'): Promise<string[]> {
    const { datasets } = await this.stage.datasets.list('ns', this.project, { details: true });
    return datasets.find(({ name }) => name === dataset)!.files;
  }

  chunks(hash: string): Promise<number> {
    return this.stage.ingest.chunks('main_db', hash);
  }

  path(...names: string[]): string {
    return join(this.stage.dataDir, 'projects/ns', this.project, 'lf_data/datasets/docs', ...names);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  async #send(path: string, form: { headers: Record<string, string>; body: Buffer }): Promise<any> {
    const application = dispatch({ endpoints: datasetEndpoints, context: this.stage, access: { bindHost: '127.0.0.1' } });
    const answer = await send(application, { method: 'POST', path: `/v1/projects/ns/${this.project}/datasets/${path}`, ...form });
    assert.equal(answer.status, 200, answer.text);
    return JSON.parse(answer.text);
  }
}

describe('an upload of a name that a dataset has', () => {
  const bench = new Bench();
  beforeEach(() => bench.open());
  afterEach(async () => {
    bench.stage.ingest.locked.clear();
    for (const hash of [ONE, TWO, THREE]) await bench.stage.ingest.removeDocument({ database: 'main_db', documentHash: hash });
  });
  after(() => bench.stage.close());

  it('takes the place of the file, and of its chunks when it is processed', async () => {
    await bench.upload('r.txt', 'one');
    await bench.process();
    const { replaced, version, status } = await bench.upload('r.txt', 'two\nlines');
    assert.deepEqual([replaced, version, status], [[ONE], 2, 'uploaded']);
    assert.deepEqual(await bench.listed(), [TWO]);
    assert.ok(!existsSync(bench.path('raw', ONE)));
    // Until then questions are answered by the old content.
    assert.deepEqual([await bench.chunks(ONE), await bench.chunks(TWO)], [1, 0]);
    const task = await bench.process();
    const result = task.result as { details: [boolean, { replaced_chunks: number }][] };
    assert.equal(result.details[0]![1].replaced_chunks, 1);
    assert.deepEqual([await bench.chunks(ONE), await bench.chunks(TWO)], [0, 2]);
    assert.ok(!('replaces' in JSON.parse(readFileSync(bench.path('meta', `${TWO}.json`), 'utf8'))));
    assert.equal(bench.stage.ingest.requests.at(-1)!.file.version, 2);
  });

  it('takes the place of all that were not processed in between', async () => {
    await bench.upload('r.txt', 'one');
    await bench.process();
    await bench.upload('r.txt', 'two\nlines');
    const { replaced, version } = await bench.upload('r.txt', 'a\nb\nc');
    assert.deepEqual([replaced, version], [[TWO], 3]);
    await bench.process();
    assert.deepEqual([await bench.chunks(ONE), await bench.chunks(TWO), await bench.chunks(THREE)], [0, 0, 3]);
  });

  it('can bring an older content back', async () => {
    for (const content of ['one', 'two\nlines', 'one']) {
      await bench.upload('r.txt', content);
      await bench.process();
    }
    assert.deepEqual([await bench.listed(), await bench.chunks(ONE), await bench.chunks(TWO)], [[ONE], 1, 0]);
    // Both at once: none of them hides the other for ever.
    await bench.upload('r.txt', 'two\nlines');
    await bench.upload('r.txt', 'one');
    await bench.process();
    assert.deepEqual([await bench.listed(), await bench.chunks(ONE), await bench.chunks(TWO)], [[ONE], 1, 0]);
  });

  it('stays beside the file where the dataset keeps both', async () => {
    await bench.upload('r.txt', 'one', 'empty');
    const { replaced, version } = await bench.upload('r.txt', 'two\nlines', 'empty');
    assert.deepEqual([replaced, version], [undefined, 2]);
    await bench.process('empty');
    assert.deepEqual([await bench.listed('empty'), await bench.chunks(ONE), await bench.chunks(TWO)], [[ONE, TWO], 1, 2]);
  });

  it('replaces the file also where its bytes are there under another name', async () => {
    await bench.upload('a.txt', 'one');
    await bench.upload('b.txt', 'two\nlines');
    await bench.process();
    const { skipped, replaced } = await bench.upload('b.txt', 'one');
    assert.deepEqual([skipped, replaced], [true, [TWO]]);
    assert.deepEqual([await bench.listed(), await bench.chunks(ONE), await bench.chunks(TWO)], [[ONE], 1, 0]);
  });

  it('keeps the old chunks while it cannot be read itself; they go with it', async () => {
    await bench.upload('r.txt', 'one');
    await bench.process();
    await bench.upload('r.txt', '%broken');
    const task = await bench.process();
    assert.equal((task.result as { failed_files: number }).failed_files, 1);
    assert.equal(await bench.chunks(ONE), 1);
    const { deleted_chunks: deleted } = await bench.stage.datasets.removal.file('ns', bench.project, 'docs', hashOf('%broken'), {
      bytes: true,
    });
    assert.deepEqual([deleted, await bench.chunks(ONE)], [1, 0]);
  });

  it('leaves chunks alone that another dataset put there', async () => {
    await bench.upload('r.txt', 'one');
    await bench.upload('other.txt', 'one', 'twin');
    await bench.process();
    await bench.upload('r.txt', 'two\nlines');
    await bench.process();
    assert.deepEqual([await bench.chunks(ONE), await bench.chunks(TWO)], [1, 2]);
  });

  it('is another file where it lies in another folder, or came in the same request', async () => {
    assert.equal((await bench.upload('x/a/r.txt', 'one')).filename, 'r.txt');
    assert.equal((await bench.upload('x/b/r.txt', 'two\nlines')).replaced, undefined);
    assert.deepEqual((await bench.upload('x/b/r.txt', 'a\nb\nc')).replaced, [TWO]);
    assert.deepEqual(await bench.listed(), [ONE, THREE]);
    const first = await bench.bulk([
      ['s.txt', '1'],
      ['s.txt', '2'],
    ]);
    assert.deepEqual(
      first.files.map(({ replaced }: { replaced?: string[] }) => replaced),
      [undefined, undefined],
    );
    const again = await bench.bulk([
      ['s.txt', '2'],
      ['s.txt', '3'],
    ]);
    assert.deepEqual(
      again.files.map(({ status, replaced }: { status: string; replaced?: string[] }) => [status, replaced]),
      [
        ['skipped', [hashOf('1')]],
        ['uploaded', undefined],
      ],
    );
    assert.deepEqual(await bench.listed(), [ONE, THREE, hashOf('2'), hashOf('3')]);
  });

  it('is whole after a crash that left the entry of the old file, or its chunks beside the new ones', async () => {
    await bench.upload('r.txt', 'one');
    await bench.process();
    const entry = readFileSync(bench.path('meta', `${ONE}.json`));
    await bench.upload('r.txt', 'two\nlines');
    writeFileSync(bench.path('meta', `${ONE}.json`), entry);
    writeFileSync(bench.path('raw', ONE), 'one');
    // All chunks of the new file are stored already, as the daemon died before those of the old one went.
    mkdirSync(join(bench.stage.dataDir, 'chunks/main_db', TWO), { recursive: true });
    for (const at of ['0', '1']) writeFileSync(join(bench.stage.dataDir, 'chunks/main_db', TWO, at), 'x');
    await bench.reopen();
    assert.deepEqual(await bench.listed(), [TWO]);
    await bench.process();
    assert.deepEqual([await bench.listed(), await bench.chunks(ONE), await bench.chunks(TWO)], [[TWO], 0, 2]);
    assert.ok(!existsSync(bench.path('meta', `${ONE}.json`)) && !existsSync(bench.path('raw', ONE)));
  });

  it('takes along what a crash left of the old file when it is removed itself', async () => {
    await bench.upload('r.txt', 'one');
    const entry = readFileSync(bench.path('meta', `${ONE}.json`));
    await bench.upload('r.txt', 'two\nlines');
    writeFileSync(bench.path('meta', `${ONE}.json`), entry);
    writeFileSync(bench.path('raw', ONE), 'one');
    await bench.reopen();
    await bench.stage.datasets.removal.file('ns', bench.project, 'docs', TWO, { bytes: true });
    assert.deepEqual(await bench.listed(), []);
    assert.ok(!existsSync(bench.path('meta', `${ONE}.json`)) && !existsSync(bench.path('raw', ONE)));
  });

  it('tries again to remove the old chunks when the database could not', async () => {
    await bench.upload('r.txt', 'one');
    await bench.process();
    await bench.upload('r.txt', 'two\nlines');
    bench.stage.ingest.locked.add('main_db');
    assert.equal((await bench.process()).state, 'FAILURE');
    assert.deepEqual([await bench.chunks(ONE), await bench.chunks(TWO)], [1, 2]);
    bench.stage.ingest.locked.clear();
    assert.equal((await bench.process()).state, 'SUCCESS');
    assert.deepEqual([await bench.chunks(ONE), await bench.chunks(TWO)], [0, 2]);
  });
});
