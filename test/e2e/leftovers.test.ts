import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { filesBelow } from '../support/files-below.js';
import { randomOf } from '../support/retrieval-corpus.js';
import { until } from '../support/until.js';

/** Committed number of kills; `KILLS=100` runs the long loop. */
const KILLS = Number(process.env.KILLS ?? 6);
/** The kill comes at a random moment up to here. */
const LONGEST_MS = 500;
const AT_ONCE = 6;
const PROJECT = 'v1/projects/default/kept';
/** Which the daemon has as long as it runs. */
const LOCK = 'quern.lock';
const DATA = `${PROJECT}/datasets/docs/data`;

function json(method: string, body: unknown): RequestInit {
  return { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

async function listed(daemon: DaemonUnderTest): Promise<string[]> {
  const answer = await fetch(`${daemon.core}/${PROJECT}/datasets?include_extra_details=true`);
  const { datasets } = (await answer.json()) as { datasets: { name: string; files: string[] }[] };
  return datasets.find(({ name }) => name === 'docs')!.files;
}

/** Uploads and removes files until the daemon is gone. */
async function work(daemon: DaemonUnderTest, worker: number, round: number): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const form = new FormData();
    form.append('file', new Blob([`${round}/${worker}/${turn} ${'text '.repeat(2_000)}`]), `file-${worker}-${turn}.txt`);
    // Every other one is taken into the database at once.
    const answer = await fetch(`${daemon.core}/${DATA}?auto_process=${turn % 2 === 0}`, { method: 'POST', body: form });
    const { hash } = (await answer.json()) as { hash: string };
    if (turn % 3 > 0) await fetch(`${daemon.core}/${DATA}/${hash}?remove_from_disk=true`, { method: 'DELETE' });
  }
}

it(`leaves nothing of uploads, of what was made of them and of removals that ${KILLS} kills have cut off, once every file is removed`, {
  timeout: 900_000,
}, async (test) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  test.diagnostic(`seed ${seed}`);
  const random = randomOf(seed);
  const dataDir = emptyDataDir();
  let daemon = await startDaemon({ dataDir });
  test.after(() => daemon.end('SIGKILL'));
  await fetch(`${daemon.core}/v1/projects/default`, json('POST', { name: 'kept' }));
  const made = await fetch(
    `${daemon.core}/${PROJECT}/datasets`,
    json('POST', { name: 'docs', data_processing_strategy: 'universal_processor', database: 'main_database' }),
  );
  assert.equal(made.ok, true, await made.text());
  for (let round = 0; round < KILLS; round += 1) {
    const workers = Array.from({ length: AT_ONCE }, (_, worker) => work(daemon, worker, round).catch(() => undefined));
    await sleep(random() * LONGEST_MS);
    await daemon.end('SIGKILL');
    await Promise.all(workers);
    daemon = await startDaemon({ dataDir });
  }
  for (const hash of await listed(daemon)) {
    const removed = await fetch(`${daemon.core}/${DATA}/${hash}?remove_from_disk=true`, { method: 'DELETE' });
    assert.equal(removed.ok, true, await removed.text());
  }
  assert.deepEqual(await listed(daemon), []);
  const left = (): string[] =>
    filesBelow(dataDir).filter(
      (path) =>
        !/^(state\/|cache\/kv\/index\.json$|chat-templates\.json$|(?:projects|built-in)\/\w+\/\w+\/(?:project\.|lf_data\/generations\/))/.test(
          path,
        ),
    );
  // Tasks that lost their files end, and a start sweeps beside its first requests.
  await until(() => left().every((path) => path === LOCK), 'nothing but the lock is left').catch(() => undefined);
  await daemon.end();
  assert.deepEqual(left(), []);
});
