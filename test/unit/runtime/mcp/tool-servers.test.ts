import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import type { Toolbox } from '../../../../runtime/mcp/contract.js';
import type { ServerState } from '../../../../runtime/mcp/server.js';
import type { McpServer } from '../../../../schemas/generated/config/project.js';
import { call, openToolStage, scripted, type ToolStage } from '../../../support/mcp/tool-stage.js';
import { until } from '../../../support/until.js';

setLogLevel('error');
const never = new AbortController().signal;

describe('tool servers', () => {
  let stage: ToolStage;
  let toolbox: Toolbox;
  before(async () => {
    stage = await openToolStage();
  });
  after(() => stage.close());

  const server = async () => (await stage.servers.list('ns', 'p'))[0]!;
  const isGone = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  };

  it('starts a server for the first turn that asks, and not before', async () => {
    const project = stage.configure(scripted('good', { env: { GREETING: 'hello' } }));
    assert.equal((await server()).state, 'off');
    assert.deepEqual((await stage.open(project, [])).tools, []);
    assert.deepEqual((await stage.open(project, ['other'])).tools, []);
    assert.equal((await server()).state, 'off');
    toolbox = await stage.open(project);
    assert.deepEqual(toolbox.notes, []);
    assert.equal((await server()).state, 'ready');
    assert.deepEqual(await call(toolbox, 'echo', { text: 'hi' }), { text: 'hi', failed: false });
    assert.equal(toolbox.tools[0]!.name, 'good__echo');
  });

  it('gives a server its configured environment and what runs programs, and nothing else of the daemon', async () => {
    const env = JSON.parse((await call(toolbox, 'env')).text) as Record<string, string>;
    assert.equal(env.GREETING, 'hello');
    const others = Object.keys(env).filter(
      (name) => !/^(GREETING|HOME|LANG|LOGNAME|PATH|PWD|OLDPWD|SHELL|SHLVL|TERM|TMPDIR|TZ|USER|_)$/.test(name),
    );
    assert.deepEqual(others, []);
  });

  it('tells of progress, and cancels at the server', async () => {
    const told: unknown[] = [];
    const wait = toolbox.tools.find(({ tool }) => tool === 'wait')!.name;
    const done = await toolbox.call(wait, { steps: 2, stepMs: 5 }, { signal: never, onProgress: (one) => told.push(one) });
    assert.deepEqual(done, { text: 'waited', failed: false });
    assert.deepEqual(told, [
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
    ]);
    const control = new AbortController();
    const reason = new Error('enough');
    // The server works by now.
    const onProgress = (): void => control.abort(reason);
    await assert.rejects(toolbox.call(wait, { steps: 1_000, stepMs: 50 }, { signal: control.signal, onProgress }), reason);
    assert.equal((await call(toolbox, 'cancelled')).text, '1');
  });

  it('cuts a long result, and refuses one that is too long to be read, and goes on', async () => {
    const { text, failed } = await call(toolbox, 'big');
    assert.equal(failed, false);
    assert.equal(text.length, 64 * 1024);
    assert.match(text, /\[Cut here: the whole has 1000000 characters\.\]$/);
    const longer = await call(toolbox, 'bigger');
    assert.equal(longer.failed, true);
    assert.match(
      longer.text,
      /^Error: tool server 'good' answered with an error: sent a message of 1000\d+ bytes or more; at most 2097152 are read\.$/,
    );
    assert.equal((await call(toolbox, 'echo', { text: 'still here' })).text, 'still here');
  });

  it('turns every error of a call into text', async () => {
    assert.deepEqual(await call(toolbox, 'fail'), { text: 'It did not work.', failed: true });
    for (const args of [undefined, null, 'text', [1]]) {
      assert.deepEqual(await toolbox.call('good__echo', args, { signal: never }), {
        text: 'Error: the arguments of echo must be a JSON object.',
        failed: true,
      });
    }
    assert.deepEqual(await call(toolbox, 'nothing'), { text: 'Error: there is no tool nothing.', failed: true });
  });

  it('keeps an event of each call', async () => {
    await stage.events.flush();
    const { events } = await stage.events.list('ns', 'p', { type: 'mcp_call', limit: 100 });
    const failed = events.filter(({ status }) => status === 'failed');
    assert.ok(events.length >= 8, String(events.length));
    assert.ok(failed.length >= 3, String(failed.length));
    const record = await stage.events.get('ns', 'p', events.at(-1)!.event_id);
    assert.match(JSON.stringify(record), /"server":"good".*"tool":"echo"/s);
  });

  it('fails what is under way at once when a server dies, and starts it again', async () => {
    const waiting = call(toolbox, 'wait', { stepMs: 60_000 });
    const startedMs = performance.now();
    const died = await call(toolbox, 'die');
    assert.deepEqual(died, { text: "Error: tool server 'good' exited with code 9.", failed: true });
    assert.deepEqual(await waiting, died);
    assert.ok(performance.now() - startedMs < 30_000, `${performance.now() - startedMs} ms of the 60 s that the call takes`);
    assert.equal((await server()).state, 'restarting');
    assert.equal((await call(toolbox, 'echo', { text: 'again' })).text, 'again');
    const pid = Number((await call(toolbox, 'pid')).text);
    const killed = call(toolbox, 'wait', { stepMs: 60_000 });
    await call(toolbox, 'echo');
    process.kill(pid, 'SIGKILL');
    assert.deepEqual(await killed, { text: "Error: tool server 'good' was ended by SIGKILL.", failed: true });
    await stage.servers.restart('ns', 'p', 'good', never);
  });

  it('takes changed tools for the next turn, and tells this one of a tool that is gone', async () => {
    assert.equal((await call(toolbox, 'change')).text, 'changed');
    await until(async () => (await server()).tools.length === 2, 'the tools are listed again');
    assert.deepEqual(await call(toolbox, 'wait'), { text: "Error: tool server 'good' has no tool wait any more.", failed: true });
    const next = await stage.open(stage.configure(scripted('good', { env: { GREETING: 'hello' } })));
    assert.deepEqual(
      next.tools.map(({ tool }) => tool),
      ['echo', 'born'],
    );
  });

  it('ends a server with other settings, and everything that it started', async () => {
    toolbox = await stage.open(stage.configure(scripted('forks')));
    const pids = JSON.parse((await call(toolbox, 'pids')).text) as number[];
    assert.equal(pids.length, 2);
    assert.deepEqual(pids.map(isGone), [false, false]);
    await stage.servers.restart('ns', 'p', 'forks', never);
    await until(() => pids.every(isGone), 'the server and its child are gone');
  });

  it('starts no server again for a turn that began with other settings, or before it was forbidden', async () => {
    const project = stage.configure(scripted('good', { env: { A: '1' } }));
    toolbox = await stage.open(project);
    await stage.open(stage.configure(scripted('good', { env: { A: '2' } })));
    assert.deepEqual(await call(toolbox, 'pid'), {
      text: "Error: tool server 'good' is not in the project any more, or has other settings by now.",
      failed: true,
    });
    const { state } = await server();
    assert.equal(state, 'ready');
    toolbox = await stage.open(stage.configure(scripted('good', { env: { A: '2' } })));
    await stage.servers.revoke('ns', 'p', 'good');
    assert.deepEqual(await call(toolbox, 'pid'), {
      text: "Error: tool server 'good' may not run: its approval was taken back.",
      failed: true,
    });
    assert.equal((await server()).state, 'off');
  });

  it('bounds the memory of a server and keeps no copy of it', { skip: process.platform !== 'linux' }, async () => {
    toolbox = await stage.open(stage.configure(scripted('good')));
    const limits = readFileSync(`/proc/${(await call(toolbox, 'pid')).text}/limits`, 'utf8');
    assert.match(limits, /^Max data size +2147483648 +2147483648 /m);
    assert.match(limits, /^Max core file size +0 +0 /m);
  });

  it('offers the allowed tools only, with the marks of the settings', async () => {
    const marks = { tools: ['echo', 'pid', 'lost'], read_only: ['echo'], ask: true };
    const { tools, notes } = await stage.open(stage.configure(scripted('good', marks)));
    assert.deepEqual(
      tools.map(({ tool, readOnly, ask }) => [tool, readOnly, ask]),
      [
        ['echo', true, true],
        ['pid', false, true],
      ],
    );
    assert.deepEqual(notes, ["Tool server 'good': It has no tool lost, which its settings name."]);
  });

  it('goes on without bad servers, and says of each what is wrong', async () => {
    const bad: readonly [mode: string, more: Partial<McpServer>, note: RegExp, state: ServerState][] = [
      ['exits', {}, /it exited with code 3; it said last: The licence has expired\.$/, 'restarting'],
      ['hangs', { connect_timeout_s: 1 }, /it did not answer within 1 s\.$/, 'restarting'],
      ['floods', {}, /it sent more than 32 MiB without answering a request/, 'restarting'],
      ['absent', { command: 'no-such-program' }, /it cannot be started: no folder of PATH has a program 'no-such-program'\./, 'failed'],
      [
        'unset',
        { env: { A: '${env:QUERN_NOT_SET}' } },
        /it cannot be started: The environment variable QUERN_NOT_SET.*is not set/,
        'failed',
      ],
      ['refused', { transport: 'http', base_url: 'http://169.254.169.254/mcp' }, /its address is metadata/, 'failed'],
      ['nobody', { transport: 'sse', base_url: 'http://127.0.0.1:9/sse' }, /No connection to http:\/\/127\.0\.0\.1:9/, 'restarting'],
    ];
    const servers = bad.map(([mode, more]) => scripted(mode, more));
    toolbox = await stage.open(stage.configure(...servers, scripted('garbage'), scripted('old')));
    const states = (await stage.servers.list('ns', 'p')).map(({ state }) => state);
    for (const [at, [mode, , note, state]] of bad.entries()) {
      assert.match(toolbox.notes.find((one) => one.includes(`'${mode}'`)) ?? '', note);
      assert.equal(states[at], state, mode);
    }
    assert.equal((await toolbox.call('garbage__echo', { text: 'a' }, { signal: never })).text, 'a');
    assert.equal((await toolbox.call('old__echo', { text: 'b' }, { signal: never })).text, 'b');
  });

  it('ends a server that floods in the middle of a call', async () => {
    toolbox = await stage.open(stage.configure(scripted('good')));
    const flooded = await call(toolbox, 'flood');
    assert.equal(flooded.failed, true);
    assert.match(flooded.text, /sent more than 32 MiB without answering a request/);
    await until(async () => (await server()).state === 'ready', 'it runs again');
  });
});
