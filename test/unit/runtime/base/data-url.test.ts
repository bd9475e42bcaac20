import assert from 'node:assert/strict';
import { it } from 'node:test';
import { base64In, readDataUrl } from '../../../../runtime/base/base64.js';

for (const [text, expected] of [
  ['data:image/PNG;base64,aGk=', { mediaType: 'image/png', isBase64: true, data: 'aGk=' }],
  ['DATA:text/plain;charset=utf-8;base64,aGk=', { mediaType: 'text/plain', isBase64: true, data: 'aGk=' }],
  ['data:text/plain;charset=utf-8,a%20b,c', { mediaType: 'text/plain', isBase64: false, data: 'a%20b,c' }],
  ['data:;base64,', { mediaType: '', isBase64: true, data: '' }],
  ['data:,', { mediaType: '', isBase64: false, data: '' }],
  ['data:text/plain', undefined],
  [`data:${'a'.repeat(300)},x`, undefined],
  ['data:a/b;1=1;2=2;3=3;4=4;5=5,x', undefined],
  [' data:,x', undefined],
  ['https://host/data:,x', undefined],
  ['', undefined],
] as const)
  it(`a data: URL is taken apart: ${JSON.stringify(text.slice(0, 50))}`, () => assert.deepEqual(readDataUrl(text), expected));

for (const [text, kind, expected] of [
  [' aGk= ', '', 'aGk='],
  ['data:audio/wav;base64, aGk=\n', '', 'aGk='],
  ['data:image/png;base64,aGk=', 'image/', 'aGk='],
  ['data:audio/wav;base64,aGk=', 'image/', 'data:audio/wav;base64,aGk='],
  ['data:image/svg+xml,<svg/>', 'image/', 'data:image/svg+xml,<svg/>'],
] as const)
  it(`base64 is found in ${JSON.stringify(text)} of ${kind || 'any kind'}`, () => assert.equal(base64In(text, kind), expected));
