import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { writeProject } from '../support/dataset-stage.js';
import { RETRIEVAL_PROJECT, Refusal, RetrievalClient } from '../support/retrieval-client.js';
import { type CorpusFile, fileOf, proseOf, randomOf } from '../support/retrieval-corpus.js';
import { KillLoop } from '../support/retrieval-kills.js';
import { SmallDisk, skipWithout } from '../support/small-disk.js';

/** Committed number of kills; `KILLS=300` runs the long loop. */
const KILLS = Number(process.env.KILLS ?? 6);
/** Files of the dataset that is cancelled; `FILES=1000` runs the large one. */
const FILES = Number(process.env.FILES ?? 60);
/** Tasks that are begun until one is cancelled in time. */
const MOST_TRIES = 10;
const UPLOADS = 50;
const LIMIT_MS = 3_600_000;
/** The most that one question may bring. */
const ALL = 1000;

const started: DaemonUnderTest[] = [];

async function open(dataDir = emptyDataDir()): Promise<{ daemon: DaemonUnderTest; client: RetrievalClient }> {
  writeProject(dataDir, 'ns', 'p', RETRIEVAL_PROJECT);
  const daemon = await startDaemon({ dataDir });
  started.push(daemon);
  return { daemon, client: new RetrievalClient(daemon.core) };
}

async function close(daemon: DaemonUnderTest): Promise<void> {
  assert.equal(await daemon.end(), 0, daemon.output());
  rmSync(daemon.dataDir, { recursive: true, force: true });
}

/** All that can be seen of a database: its documents with their counts, and every chunk that the vectors and the words know, with scores. */
async function seen(client: RetrievalClient, database: string): Promise<{ found: Record<string, string[]>; [fact: string]: unknown }> {
  await client.indexed(database);
  const { chunk_count, vector_count, document_count } = await client.stats(database);
  const documents = (await client.documents(database)).map(({ id, filename, chunk_count: chunks }) => ({ id, filename, chunks }));
  const found: Record<string, string[]> = { dense: [], lexical: [], hybrid: [] };
  for (const portion of portions(documents)) {
    const metadata_filters = { file_hash: { $in: portion } };
    for (const strategy of Object.keys(found)) {
      const { results } = await client.ask({ query: 'common', database, retrieval_strategy: strategy, top_k: ALL, metadata_filters });
      found[strategy]!.push(...results.map(({ chunk_id, score }) => `${chunk_id} ${score.toFixed(4)}`));
    }
  }
  for (const lines of Object.values(found)) lines.sort();
  return { chunk_count, vector_count, document_count, documents: documents.sort((a, b) => (a.id < b.id ? -1 : 1)), found };
}

/** The ids of documents, as many together as one question can bring all chunks of. */
function portions(documents: readonly { id: string; chunks: number }[]): string[][] {
  const made: string[][] = [];
  let room = 0;
  for (const { id, chunks } of [...documents].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (chunks > room) {
      made.push([]);
      room = ALL;
    }
    made.at(-1)!.push(id);
    room -= chunks;
  }
  return made;
}

/** The same files taken in undisturbed by the other dataset must look alike, both as it is and with indexes made anew. */
async function checkAgainstUndisturbed(client: RetrievalClient, files: readonly CorpusFile[]): Promise<number> {
  for (const { name, content } of files) await client.upload('other', name, content);
  assert.equal((await client.settled(await client.process('other'))).state, 'SUCCESS');
  const expected = await seen(client, 'other_db');
  const { chunk_count } = await client.stats('other_db');
  assert.deepEqual(await seen(client, 'main_db'), expected);
  assert.deepEqual([expected.found.dense!.length, expected.found.lexical!.length], [chunk_count, chunk_count]);
  await client.reindex('main_db');
  assert.deepEqual(await seen(client, 'main_db'), expected);
  return chunk_count;
}

function leftovers(daemon: DaemonUnderTest): string[] {
  const uploads = join(daemon.dataDir, 'uploads');
  return existsSync(uploads) ? readdirSync(uploads) : [];
}

async function uploadsGone(daemon: DaemonUnderTest): Promise<void> {
  for (const until = Date.now() + 120_000; leftovers(daemon).length > 0; await sleep(20))
    assert.ok(Date.now() < until, `left: ${leftovers(daemon)}`);
}

/** A task over all files that was cancelled half way: another one where it had ended before the cancellation came. */
async function cancelledHalfWay(files: readonly CorpusFile[]) {
  for (let tries = 1; ; tries += 1) {
    const { daemon, client } = await open();
    for (const { name, content } of files) await client.upload('docs', name, content);
    const id = await client.process('docs');
    for (let task = await client.task(id); Number(task.meta?.current ?? 0) < FILES / 2; task = await client.task(id)) await sleep(1);
    const reply = await client.cancel(id);
    if (!reply.already_completed) return { daemon, client, id, reply };
    assert.ok(tries < MOST_TRIES, `${tries} tasks had ended before they were cancelled`);
    await close(daemon);
  }
}

/** Ends what a failed test has left running. */
async function endAll(): Promise<void> {
  for (const daemon of started.splice(0)) await daemon.end('SIGKILL');
}

describe('retrieval end to end', () => {
  after(endAll);

  it(`${KILLS} kills during upload, ingest, query and delete lose and double nothing`, { timeout: LIMIT_MS }, async (test) => {
    const dataDir = emptyDataDir();
    const loop = new KillLoop(Number(process.env.SEED ?? Date.now() % 1_000_000));
    test.diagnostic(`seed ${loop.seed}`);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { daemon, client } = await open(dataDir);
      await loop.check(client);
      await loop.work(client, () => daemon.end('SIGKILL'));
    }
    const { daemon, client } = await open(dataDir);
    await loop.check(client);
    const files = await loop.finish(client);
    assert.deepEqual((await client.files('docs')).map(({ hash }) => hash).sort(), files.map(({ hash }) => hash).sort());
    await uploadsGone(daemon);
    const chunks = await checkAgainstUndisturbed(client, files);
    test.diagnostic(`${loop.summary()}; ${files.length} files and ${chunks} chunks at the end`);
    const before = await seen(client, 'main_db');
    assert.equal(await daemon.end(), 0);
    const again = await open(dataDir);
    assert.deepEqual(await seen(again.client, 'main_db'), before);
    await close(again.daemon);
  });

  it(`takes ${UPLOADS} uploads at once`, async () => {
    const { daemon, client } = await open();
    const files = Array.from({ length: UPLOADS }, () => randomBytes(200_000));
    const hashes = files.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
    const replies = await Promise.all(files.map((bytes, at) => client.upload('docs', `${at}.bin`, new Uint8Array(bytes))));
    assert.deepEqual(
      replies.map(({ hash, status }) => [hash, status]),
      hashes.map((hash) => [hash, 'uploaded']),
    );
    const listed = await client.files('docs');
    assert.deepEqual(listed.map(({ hash }) => hash).sort(), [...hashes].sort());
    for (const [at, hash] of hashes.entries())
      assert.ok(readFileSync(join(daemon.dataDir, 'projects/ns/p/lf_data/datasets/docs/raw', hash)).equals(files[at]!));
    await uploadsGone(daemon);
    await close(daemon);
  });

  it(`takes back a task over ${FILES} files that is cancelled half way, and does it again`, { timeout: LIMIT_MS }, async () => {
    const files = Array.from({ length: FILES }, (_, number) => fileOf(number));
    const { daemon, client, id, reply } = await cancelledHalfWay(files);
    assert.equal(reply.files_failed_to_revert, 0, JSON.stringify(reply));
    assert.equal((await client.settled(id)).state, 'REVOKED');
    for (const until = Date.now() + 120_000; (await client.stats('main_db')).chunk_count > 0; await sleep(20))
      assert.ok(Date.now() < until);
    const { results } = await client.ask({ query: 'common', database: 'main_db', retrieval_strategy: 'lexical' });
    assert.deepEqual(results, []);
    assert.deepEqual(await client.documents('main_db'), []);
    assert.equal((await client.settled(await client.process('docs'))).state, 'SUCCESS');
    await checkAgainstUndisturbed(client, files);
    await close(daemon);
  });

  it('leaves no chunk of a file that is removed while a task takes it in', async () => {
    const { daemon, client } = await open();
    const { hash } = await client.upload('docs', 'long.txt', proseOf(randomOf(7), 400_000));
    const id = await client.process('docs');
    while ((await client.stats('main_db')).chunk_count === 0) await sleep(1);
    await client.remove('docs', hash);
    await client.settled(id);
    assert.deepEqual(await client.files('docs'), []);
    assert.equal((await client.stats('main_db')).chunk_count, 0);
    await close(daemon);
  });

  it('leaves nothing of an upload whose client vanishes', async () => {
    const { daemon, client } = await open();
    const { hostname, port } = new URL(daemon.core);
    const boundary = 'quern-test';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n`;
    for (const politely of [true, false]) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        `POST /v1/projects/ns/p/datasets/docs/data HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: 9000000\r\n\r\n${head}`,
      );
      socket.write(Buffer.alloc(3_000_000, 'x'));
      for (const until = Date.now() + 120_000; leftovers(daemon).length === 0; await sleep(5))
        assert.ok(Date.now() < until, 'nothing arrived');
      if (politely) socket.destroy();
      else socket.resetAndDestroy();
      await uploadsGone(daemon);
    }
    assert.deepEqual(await client.files('docs'), []);
    await close(daemon);
  });
});

const disk = SmallDisk.mount(64);

describe('retrieval on a full disk', { skip: skipWithout(disk) }, () => {
  const fill = (spareBytes?: number): void => disk!.fill(spareBytes);
  const free = (): void => disk!.free();
  after(async () => {
    await endAll();
    disk!.unmount();
  });

  it('refuses uploads with 507, goes on with a task when there is room, and leaves nothing half-written', {
    timeout: LIMIT_MS,
  }, async () => {
    const { daemon, client } = await open(disk!.folder);
    const refused = (failure: unknown): boolean => {
      assert.ok(failure instanceof Refusal, String(failure));
      assert.equal(failure.status, 507, failure.text);
      assert.match(failure.text, /Free some space/);
      return true;
    };
    const files = Array.from({ length: 30 }, (_, number) => fileOf(number));
    for (const { name, content } of files) await client.upload('docs', name, content);

    fill();
    await assert.rejects(client.upload('docs', 'late.txt', 'late'), refused);
    await assert.rejects(client.process('docs'), refused);
    free();

    // Room for the check before an upload, but not for its bytes: it does not say how many come.
    fill(18 * 1024 * 1024);
    const bytes = new ReadableStream({
      start(stream) {
        stream.enqueue(Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n'));
        for (let at = 0; at < 24; at += 1) stream.enqueue(Buffer.alloc(1024 * 1024, at));
        stream.enqueue(Buffer.from('\r\n--b--\r\n'));
        stream.close();
      },
    });
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await fetch(`${client.project}/datasets/docs/data`, { method: 'POST', headers, body: bytes, duplex: 'half' });
    assert.equal(answer.status, 507, await answer.text());
    await uploadsGone(daemon);
    free();
    assert.deepEqual((await client.files('docs')).map(({ hash }) => hash).sort(), files.map(({ hash }) => hash).sort());

    const id = await client.process('docs');
    while ((await client.stats('main_db')).chunk_count === 0) await sleep(1);
    fill();
    await sleep(1000);
    free();
    const task = await client.settled(id);
    assert.equal(task.state, 'SUCCESS', JSON.stringify(task));
    await client.upload('docs', 'after.txt', fileOf(1000).content);
    assert.equal((await client.settled(await client.process('docs'))).state, 'SUCCESS');
    await checkAgainstUndisturbed(client, [...files, { ...fileOf(1000), name: 'after.txt' }]);
    assert.equal(await daemon.end(), 0, daemon.output());
  });
});
