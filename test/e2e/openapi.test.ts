import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** Where `.ci/run` puts schemathesis; `SCHEMATHESIS=/path/to/st` names another. */
const INSTALLED = join(ROOT, 'build', 'schemathesis');
const PROGRAM = process.env.SCHEMATHESIS ?? join(INSTALLED, 'bin', 'st');
/** `SCHEMATHESIS_SECONDS=600` runs all phases for that long, instead of the boundary cases alone. */
const SECONDS = process.env.SCHEMATHESIS_SECONDS;

/** Runs all checks against an API; resolves to what was found. */
function findings(url: string): Promise<{ code: number | null; output: string }> {
  const phases = SECONDS ? ['--max-time', SECONDS] : ['--phases', 'examples,coverage', '--max-time', '50'];
  const child = spawn(
    PROGRAM,
    [
      '--config-file',
      join(ROOT, 'test', 'e2e', 'schemathesis.toml'),
      'run',
      `${url}/openapi.json`,
      ...phases,
      '--seed',
      '1',
      '--no-shrink',
      '--request-timeout',
      '60',
      '--no-color',
    ],
    { env: { ...process.env, PYTHONPATH: INSTALLED }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

const timeout = Number(SECONDS ?? 0) * 1000 + 240_000;
const skip = existsSync(PROGRAM) ? false : `needs schemathesis, which .ci/run installs with pip: there is no ${PROGRAM}`;

describe('answers as its OpenAPI document says', { skip, timeout, concurrency: true }, () => {
  let daemon: DaemonUnderTest;
  before(async () => {
    daemon = await startDaemon({ env: { HF_ENDPOINT: 'http://127.0.0.1:9' } });
  });
  after(() => daemon.end('SIGKILL'));
  for (const api of ['core', 'runtime'] as const)
    it(api, { timeout }, async () => {
      const { code, output } = await findings(daemon[api]);
      assert.equal(code, 0, output.slice(output.indexOf('= FAILURES =')).slice(0, 8_000));
    });
});
