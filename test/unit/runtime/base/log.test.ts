import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { log, redact, setLogLevel } from '../../../../runtime/base/log.js';

const SECRETS: [text: string, shown: string][] = [
  ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
  ['{"authorization":"Basic abc"}', '{"authorization":"Basic [redacted]"}'],
  ['authorization=abc', 'authorization=[redacted]'],
  ['sent bearer abc', 'sent bearer [redacted]'],
  ['api_key=abc, model=m', 'api_key=[redacted], model=m'],
  ['{"apiKey":"abc","a":1}', '{"apiKey":"[redacted]","a":1}'],
  ["password: 'abc'", "password: '[redacted]'"],
  ['nothing of the kind', 'nothing of the kind'],
];

describe('the log', () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    mock.method(process.stderr, 'write', (line: string) => lines.push(line) > 0);
  });
  afterEach(() => {
    mock.restoreAll();
    setLogLevel('info');
  });

  for (const [text, shown] of SECRETS) it(`shows ${shown}`, () => assert.equal(redact(text), shown));

  it('writes the time, the level, the message and the fields in one line, without secrets', () => {
    log('warn', 'it is late', { path: '/x', count: 2, token: 'abc' });
    assert.match(lines.join(''), /^\d{4}-\d\d-\d\dT[\d:.]+Z warn it is late path=\/x count=2 token=\[redacted\]\n$/);
  });

  it('writes the stack of an error', () => {
    log('error', 'it failed', { cause: new Error('deep') });
    assert.match(lines.join(''), /cause=Error: deep\n\s+at /);
  });

  it('writes from the given level upwards', () => {
    setLogLevel('warn');
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log(level, level);
    assert.deepEqual(
      lines.map((line) => line.trim().split(' ').at(-1)),
      ['warn', 'error'],
    );
  });
});
