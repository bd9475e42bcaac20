import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isLoopback, readOptions, requireSafeBind } from '../../../../gateway/daemon/options.js';
import { Failure } from '../../../../schemas/errors.js';

describe('daemon options', () => {
  it('have the documented defaults', () => {
    const options = readOptions([], {});
    assert.deepEqual(
      [options.host, options.port, options.runtimeHost, options.runtimePort, options.dataDir],
      ['127.0.0.1', 14345, '127.0.0.1', 11540, join(homedir(), '.quern')],
    );
  });

  it('come from the environment, and flags win', () => {
    const env = {
      HOST: '127.0.0.2',
      PORT: '1',
      RUNTIME_HOST: '127.0.0.3',
      RUNTIME_PORT: '2',
      DATA_DIR: '/tmp/a',
      ALLOWED_HOSTS: 'a.example, b.example',
    };
    const options = readOptions(['--port', '3', '--data-dir=/tmp/b'], env);
    assert.deepEqual(
      [options.host, options.port, options.runtimeHost, options.runtimePort, options.dataDir],
      ['127.0.0.2', 3, '127.0.0.3', 2, '/tmp/b'],
    );
    assert.deepEqual(options.allowedHosts, ['a.example', 'b.example']);
    assert.deepEqual(
      [{ LF_DATA_DIR: '/tmp/lf' }, { LF_DATA_DIR: '/tmp/lf', DATA_DIR: '/tmp/a' }, { LF_DATA_DIR: '' }].map(
        (one) => readOptions([], one).dataDir,
      ),
      ['/tmp/lf', '/tmp/a', readOptions([], {}).dataDir],
    );
    assert.deepEqual([readOptions([], {}).deleteProjects, readOptions([], { QUERN_DELETE_PROJECTS: 'yes' }).deleteProjects], [false, true]);
    assert.deepEqual([readOptions([], {}).pinTemplates, readOptions(['--pin-templates'], {}).pinTemplates], [false, true]);
    assert.deepEqual(
      [
        readOptions([], {}).pullsOnUse,
        readOptions([], { QUERN_PULL: 'never' }).pullsOnUse,
        readOptions(['--pull', 'on-use'], { QUERN_PULL: 'never' }).pullsOnUse,
      ],
      [true, false, true],
    );
    assert.throws(() => readOptions(['--pull', 'always'], {}), {
      kind: 'bad_request',
      message: /--pull must be on-use or never, not "always"/,
    });
    assert.deepEqual(readOptions([], { QUERN_ALLOW_ENV: 'MY_KEY, OTHER' }).allowedEnv, ['MY_KEY', 'OTHER']);
    assert.equal(readOptions(['--dataset-quota-gb', '0.5'], {}).datasetQuotaBytes, 2 ** 29);
  });

  it('are refused with the flag and the value', () => {
    for (const args of [
      ['--port', '70000'],
      ['--dataset-quota-gb', '0'],
      ['--allow-env', 'MY-KEY'],
      ['--dataset-quota-gb', 'much'],
      ['--port', 'x'],
      ['--runtime-port', '-1'],
      ['--port', '1.5'],
      ['--nope'],
      ['stray'],
    ])
      assert.throws(() => readOptions(args, {}), Failure, args.join(' '));
  });

  it('allow a bind beyond loopback only with a key or the explicit flag', () => {
    for (const [args, allowed] of [
      [[], true],
      [['--host', 'localhost', '--runtime-host', '::1'], true],
      [['--host', '0.0.0.0'], false],
      [['--host', '192.168.1.4'], false],
      [['--runtime-host', '::'], false],
      [['--host', '127.evil.example'], false],
      [['--host', '0.0.0.0', '--api-key', 'k'], true],
      [['--host', '0.0.0.0', '--open-to-network'], true],
    ] as const) {
      const check = (): void => requireSafeBind(readOptions([...args], {}));
      if (allowed) assert.doesNotThrow(check, args.join(' '));
      else assert.throws(check, /--api-key.*--open-to-network/, args.join(' '));
    }
  });

  it('know loopback addresses', () => {
    assert.deepEqual(['127.0.0.1', '127.9.9.9', '::1', 'localhost', '0.0.0.0', '128.0.0.1', '127.0.0.1.example'].map(isLoopback), [
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
