import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/ports.js';

const ROOT = join(import.meta.dirname, '../../..');
const LIMIT_MS = 600_000;

/** Bytes on the disk below a folder, as `du` counts them. */
const sizeOf = (folder: string): number => Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) * 1024;

describe('the package that npm pack makes', { timeout: LIMIT_MS * 2 }, () => {
  let folder: string;
  let daemon: ChildProcess | undefined;
  const program = (): string => join(folder, 'app/node_modules/.bin/quern');
  /** Node alone: no compiler, no cmake, no git, no npm. */
  const bare = (): NodeJS.ProcessEnv => ({ PATH: join(folder, 'bin'), HOME: folder, DATA_DIR: join(folder, 'data') });

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quern-package-'));
    mkdirSync(join(folder, 'bin'));
    symlinkSync(process.execPath, join(folder, 'bin/node'));
    const { status, stderr } = spawnSync('npm', ['pack', '--pack-destination', folder], { cwd: ROOT, encoding: 'utf8', timeout: LIMIT_MS });
    assert.equal(status, 0, stderr);
    mkdirSync(join(folder, 'app'));
    writeFileSync(join(folder, 'app/package.json'), '{"private":true}');
  });
  after(() => {
    daemon?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const install = (): ChildProcess => {
    const file = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
    return spawn('npm', ['install', '--no-audit', '--no-fund', join(folder, file)], { cwd: join(folder, 'app'), stdio: 'ignore' });
  };

  it('installs in less than 600 MB, also after an installation that was killed', async () => {
    const killed = install();
    await sleep(3_000);
    killed.kill('SIGKILL');
    await new Promise((resolve) => killed.once('exit', resolve));
    const code = await new Promise((resolve) => install().once('exit', resolve));
    assert.equal(code, 0);
    const bytes = sizeOf(join(folder, 'app/node_modules'));
    assert.ok(bytes < 600e6 * 1.048576, `${Math.round(bytes / 1e6)} MB`);
  });

  it('starts and answers without a compiler', async () => {
    const port = await freePort();
    const args = ['start', '--port', String(port), '--runtime-port', String(await freePort())];
    daemon = spawn(program(), args, { env: bare(), stdio: ['ignore', 'inherit', 'inherit'] });
    const base = `http://127.0.0.1:${port}`;
    const isThere = (): Promise<boolean> =>
      fetch(`${base}/health/liveness`).then(
        ({ ok }) => ok,
        () => false,
      );
    for (let tries = 0; !(await isThere()) && tries < 300; tries++) await sleep(100);
    const answer = await fetch(`${base}/v1/projects/default/quickstart/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 8 }),
    });
    assert.equal(answer.status, 200);
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] };
    assert.notEqual(choices[0]?.message.content, '');
    daemon.kill('SIGTERM');
    const code = await new Promise((resolve) => daemon?.once('exit', resolve));
    assert.equal(code, 0);
  });

  it('refuses addons that are not those that were packed, where it cannot build others', () => {
    appendFileSync(join(folder, 'app/node_modules/quern/build/native/Release/quern_core.node'), 'x');
    const { status, stderr } = spawnSync(program(), ['start', '--port', '0', '--runtime-port', '0'], { env: bare(), encoding: 'utf8' });
    assert.equal(status, 5);
    assert.match(stderr, /quern_core\.node is not the file that was packed.*install g\+\+, cmake and git/s);
  });
});
