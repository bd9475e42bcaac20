import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { emptyDataDir, runToEnd, startDaemon } from '../support/daemon.js';
import { entriesOf } from '../support/files-below.js';
import { until } from '../support/until.js';

/** Files and folders below a folder, itself included, that somebody else may read, write or enter. */
function open(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  // What the daemon is at work on comes and goes.
  if (!stats) return [];
  const own = (stats.mode & 0o077) === 0 || stats.isSymbolicLink() ? [] : [`${path} ${(stats.mode & 0o777).toString(8)}`];
  return stats.isDirectory() ? [...own, ...entriesOf(path).flatMap(({ name }) => open(join(path, name)))] : own;
}

it('lets only its owner at the data directory, whatever the rights were before', async (test) => {
  const dataDir = emptyDataDir();
  const old = join(dataDir, 'projects', 'default', 'old');
  mkdirSync(join(old, 'lf_data', 'datasets', 'd', 'raw'), { recursive: true, mode: 0o755 });
  writeFileSync(join(old, 'project.yaml'), 'name: old\nnamespace: default\nversion: v1\nruntime: {models: []}\n', { mode: 0o644 });
  writeFileSync(join(old, 'lf_data', 'datasets', 'd', 'raw', 'bytes'), 'x', { mode: 0o666 });
  const script = join(dataDir, 'run.sh');
  writeFileSync(script, 'exit 0\n');
  for (const path of [dataDir, join(dataDir, 'projects'), old, script]) chmodSync(path, 0o755);
  const daemon = await startDaemon({ dataDir });
  test.after(() => daemon.end('SIGKILL'));
  const project = `${daemon.core}/v1/projects/default`;
  const made = await fetch(project, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"fresh"}' });
  assert.equal(made.ok, true);
  const asked = await fetch(`${project}/quickstart/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], max_tokens: 2 }),
  });
  assert.equal(asked.ok, true);
  await until(() => open(dataDir).length === 0);
  assert.equal(lstatSync(script).mode & 0o777, 0o700, 'its owner may still run it');
  await daemon.end();
  assert.deepEqual(open(dataDir), []);
});

it('says in a sentence that a folder is in the place of its state file', async () => {
  const dataDir = emptyDataDir();
  mkdirSync(join(dataDir, 'state', 'data.mdb'), { recursive: true });
  const { code, output } = await runToEnd(['start', '--port', '0', '--runtime-port', '0', '--data-dir', dataDir]);
  assert.notEqual(code, 0);
  assert.match(output, /data\.mdb is a folder, and should be a file of the state store: move it away/);
  assert.doesNotMatch(output, /\n\s+at /);
  rmSync(dataDir, { recursive: true });
});
