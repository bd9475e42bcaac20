import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

describe('the documentation page', { skip: CHROMIUM ? false : 'no Chromium is installed' }, () => {
  let daemon: DaemonUnderTest;
  before(async () => {
    daemon = await startDaemon();
  });
  after(() => daemon.end('SIGKILL'));

  for (const [api, operation] of [
    ['core', '/v1/projects/{namespace}/{project}/chat/completions'],
    ['runtime', '/v1/chat/completions'],
  ] as const)
    it(`lists the operations of the ${api} API in a real browser`, async () => {
      const profile = mkdtempSync(join(tmpdir(), 'quern-chromium-'));
      const { stdout } = await promisify(execFile)(
        CHROMIUM!,
        [...QUIET, `--user-data-dir=${profile}`, '--virtual-time-budget=5000', '--dump-dom', `${daemon[api]}/docs`],
        { maxBuffer: 32 * 1024 * 1024 },
      );
      assert.ok(stdout.includes(operation), stdout.slice(0, 2000));
    });
});
