import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import { strayCounter } from '../../../../gateway/daemon/process.js';

const MODULE = new URL('../../../../gateway/daemon/process.js', import.meta.url).href;

/** Runs a script in a process that survives stray errors; resolves to its exit code and what it wrote to standard error. */
function run(script: string, onEnd = '', { closeOutput = false } = {}): Promise<{ code: number | null; log: string }> {
  const source = `import { surviveStrayErrors } from ${JSON.stringify(MODULE)}; surviveStrayErrors((reason) => { ${onEnd} }); ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  if (closeOutput) for (const stream of [child.stdout, child.stderr]) stream.destroy();
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, log })));
}

describe('errors that nobody caught', () => {
  it('are logged with their cause, and the process goes on', async () => {
    const { code, log } = await run(
      `setTimeout(() => { throw new Error('first stray'); }); Promise.reject(new Error('second stray')); setTimeout(() => process.exit(3), 50);`,
    );
    assert.equal(code, 3, log);
    assert.match(log, /error an error that nobody caught.*first stray/);
    assert.match(log, /error a rejection that nobody handled.*second stray/);
  });

  it('ask once for the end when there are too many', async () => {
    const { code, log } = await run(
      `let left = 60; setInterval(() => { if (--left === 0) process.exit(3); throw new Error('stray'); }, 1);`,
      'process.stderr.write(reason + "\\n")',
    );
    assert.equal(code, 3);
    assert.equal(log.match(/more than 20 errors that nobody caught/g)?.length, 1, log);
  });

  it('do not come from an output that has lost its reader', async () => {
    const writes = `let left = 100; setInterval(() => { process.stdout.write('line\\n'); process.stderr.write('line\\n'); if (--left === 0) process.exit(3); }, 2);`;
    assert.equal((await run(writes, '', { closeOutput: true })).code, 3);
  });

  it('count for a minute', () => {
    let now = 0;
    const tooMany = strayCounter(() => now);
    for (let index = 0; index < 100; index++) {
      now += 3_100;
      assert.equal(tooMany(), false);
    }
    const results = Array.from({ length: 21 }, () => tooMany());
    assert.ok(results.at(-1));
  });
});
