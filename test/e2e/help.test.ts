import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VERBS } from '../../cli/verbs.js';
import { runToEnd } from '../support/daemon.js';

describe('help', () => {
  it('lists the commands and the options', async () => {
    for (const args of [['help'], ['--help'], ['-h'], ['--port', '0', '--help']]) {
      const { code, output } = await runToEnd(args);
      assert.equal(code, 0, output);
      assert.match(output, /quern pull \[MODEL\][\s\S]*--runtime-url/);
      assert.match(output, /OTEL_EXPORTER_OTLP_ENDPOINT {2}send/);
      for (const { name } of VERBS) assert.match(output, new RegExp(`^ {2}quern ${name}\\b`, 'm'));
    }
  });

  it('tells how one command is used, wherever the flag stands', async () => {
    for (const [args, says] of [
      [['pull', '--help'], /^quern pull \[MODEL\]/],
      [['pull', 'org/repo', '-h'], /^quern pull \[MODEL\]/],
      [['start', '--port', '0', '--help'], /^quern start/],
      [['datasets', 'add', '--help'], /^quern datasets add DATASET FILE[\s\S]*-p, --project NAMESPACE\/NAME/],
      [['help', 'mcp'], /quern mcp list[\s\S]*quern mcp serve/],
      [['ls', '--help'], /^quern models/],
      [['config', '--help'], /^quern config validate[\s\S]*quern config restore/],
    ] as const) {
      const { code, output } = await runToEnd([...args]);
      assert.equal(code, 0, output);
      assert.match(output, says);
    }
  });

  it('is not in the way of an unknown command', async () => {
    for (const args of [
      ['dance', '--help'],
      ['help', 'dance'],
    ]) {
      const { code, output } = await runToEnd(args);
      assert.equal(code, 2);
      assert.match(output, /unknown command "dance"/);
    }
  });
});
