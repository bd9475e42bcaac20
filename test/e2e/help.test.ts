import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runToEnd } from '../support/daemon.js';

describe('help', () => {
  for (const command of ['start', 'runtime', 'pull', 'models', 'rm', 'mcp', 'version', ''])
    it(`is what "quern ${command} --help" prints`, async () => {
      for (const flag of ['--help', '-h']) {
        const { code, output } = await runToEnd([...(command === '' ? [] : [command]), flag]);
        assert.equal(code, 0, output);
        assert.match(output, /quern pull MODEL[\s\S]*--runtime-url/);
        assert.match(output, /OTEL_EXPORTER_OTLP_ENDPOINT {2}send/);
      }
    });

  it('is not in the way of an unknown command', async () => {
    const { code, output } = await runToEnd(['dance', '--help']);
    assert.equal(code, 1);
    assert.match(output, /unknown command "dance"/);
  });

  it('comes beside other options and a name too', async () => {
    for (const args of [['pull', 'org/repo', '--help'], ['start', '--port', '0', '--help']]) // biome-ignore format: a row
      assert.match((await runToEnd(args)).output, /quern pull MODEL/);
  });
});
