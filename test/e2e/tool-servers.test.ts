import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Server } from '../../schemas/generated/core/tool-servers.js';
import { type DaemonUnderTest, runToEnd, startDaemon } from '../support/daemon.js';
import { scripted } from '../support/mcp/tool-stage.js';
import { isGone } from '../support/processes.js';
import { until } from '../support/until.js';

const PROJECT = '/v1/projects/default/quickstart';
const KEY = 'a-key-of-this-test';

describe('tool servers of a daemon', () => {
  let daemon: DaemonUnderTest;
  let pidsFile: string;
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const ask = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${daemon.core}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    assert.equal(answer.ok, true, `${path}: ${answer.status}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const quern = (...args: string[]) => runToEnd(['mcp', ...args, '--port', new URL(daemon.core).port], { QUERN_API_KEY: KEY });

  before(async () => {
    daemon = await startDaemon({ args: ['--api-key', KEY] });
    pidsFile = join(daemon.dataDir, 'pids');
    const { project } = (await ask('GET', PROJECT)) as { project: { config: object } };
    const servers = [scripted('forks', { env: { PIDS: pidsFile } }), { ...scripted('hangs'), connect_timeout_s: 600 }];
    await ask('PUT', PROJECT, { config: { ...project.config, mcp: { servers } } });
  });
  after(() => daemon.end('SIGKILL'));

  it('are listed and approved on the command line', async () => {
    const before = await quern('list');
    assert.equal(before.code, 0, before.output);
    assert.match(before.output, /^default\/quickstart\/forks +waits for approval +0 tools +[0-9a-f]{12} +.*scripted-server\.js forks$/m);
    assert.equal((await quern()).output, before.output);
    const approved = await quern('approve', 'default/quickstart/forks');
    assert.match(approved.output, /^default\/quickstart\/forks runs or calls: .*\ndefault\/quickstart\/forks is ready, with 12 tools\n$/);
    const other = await quern('restart', 'default/quickstart/other');
    assert.equal(other.code, 3);
    assert.match(other.output, /quern: Project default\/quickstart has no tool server 'other'/);
  });

  it('leave no process behind when the daemon is killed, with all that they started', async () => {
    const pids = JSON.parse(readFileSync(pidsFile, 'utf8')) as number[];
    assert.deepEqual(pids.map(isGone), [false, false]);
    // Another one is just being started.
    void ask('POST', `${PROJECT}/mcp/servers/hangs/approve`).catch(() => undefined);
    await until(async () => {
      const { servers } = (await ask('GET', `${PROJECT}/mcp/servers`)) as { servers: Server[] };
      return servers[1]!.state === 'starting';
    }, 'another one is being started');
    await daemon.end('SIGKILL');
    await until(() => pids.every(isGone), 'all of them are gone');
  });
});
