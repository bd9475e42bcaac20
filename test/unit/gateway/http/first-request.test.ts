import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isOneWholeRequest } from '../../../../gateway/http/uws-reads.js';
import { processorMs } from '../../../support/processor-time.js';

const head = (...lines: string[]): string => ['POST /a HTTP/1.1', 'Host: a', ...lines, '', ''].join('\r\n');

const CASES: [what: string, first: string, ordinary: boolean][] = [
  ['a request without a body', head(), true],
  ['a head whose body is still to come', head('Content-Length: 4'), true],
  ['a part of a body', `${head('content-length:4 ')}ab`, true],
  ['a whole body', `${head('CONTENT-LENGTH: 4')}abcd`, true],
  ['a request behind the body', `${head('Content-Length: 4')}abcdGET`, false],
  ['a request behind one without a body', `${head()}GET`, false],
  ['a body of unknown length', head('Transfer-Encoding: chunked'), false],
  ['the same in other letters', head('transfer-encoding :\tgzip'), false],
  ['the word in a value', head('X-About: transfer-encoding'), true],
  ['a client that waits to be asked for its body', head('Content-Length: 4', 'Expect: 100-continue'), false],
  ['two lengths', head('Content-Length: 4', 'Content-Length: 4'), false],
  ['a length that is none, with bytes behind it', `${head('Content-Length: 4x')}abcd`, false],
  ['a head that goes on', 'GET / HTTP/1.1\r\nHost: a\r\n', false],
  ['nothing', '', false],
  ['bytes that are no HTTP', '\r\n\r\n', false],
  ['another version', head().replace('1.1', '1.0'), false],
  ['the version elsewhere', head().replace('HTTP/1.1', 'HTTP/2.0\tHTTP/1.1 '), false],
];

for (const [what, first, ordinary] of CASES)
  it(`takes ${what} for ${ordinary ? 'ordinary' : 'unusual'}`, () => assert.equal(isOneWholeRequest(Buffer.from(first)), ordinary));

it('looks at a long head in time that grows with its length', () => {
  for (const [name, filling] of [
    ['Content-Length:', ' '],
    ['Content-Length: ', '4'],
    ['Content-Length', ' '],
    ['\r', '\n'],
    ['', '\r\nContent-Length:1'],
  ] as const) {
    const first = Buffer.from(head(`${name}${filling.repeat(60_000 / filling.length)}x`));
    const ms = processorMs(() => isOneWholeRequest(first));
    assert.ok(ms < 50, `${JSON.stringify(name + filling)} took ${ms} ms`);
  }
});
