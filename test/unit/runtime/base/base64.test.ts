import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { base64Length, base64OfFile, bytesOfBase64 } from '../../../../runtime/base/base64.js';

describe('bytes of base64', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quern-base64-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const length of [1, 2, 3, 4, 98_303, 98_304, 98_305, 98_306, 196_607, 196_608, 196_609, 400_000])
    it(`are ${length} that were written, in each of its forms, and as a file`, async () => {
      const bytes = randomBytes(length);
      const text = bytes.toString('base64');
      const lines = text.replace(/.{1,76}/g, '$&\r\n');
      const path = join(folder, `${length}`);
      writeFileSync(path, bytes);
      let read = '';
      for await (const piece of base64OfFile(path)) read += piece.toString('latin1');
      assert.equal(read, text);
      assert.equal(read.length, base64Length(length));
      for (const form of [text, bytes.toString('base64url'), lines, ` ${text}\n`]) assert.deepEqual(await bytesOfBase64(form), bytes);
    });

  const long = 'A'.repeat(128 * 1024);
  const wrong: [string, string][] = [
    ['nothing', ''],
    ['white space', ' \n'],
    ['padding alone', '=='],
    ['another alphabet', 'AAAA*AAA'],
    ['too much padding', 'AAAA==='],
    ['padding inside', 'AA==AAAA'],
    ['padding between two pieces', `${long.slice(2)}==${long}`],
    ['padding over two pieces', `${long.slice(1)}===`],
    ['a sign in a later piece', `${long}AAAA!`],
  ];
  for (const [what, text] of wrong) it(`are none of ${what}`, async () => assert.equal(await bytesOfBase64(text), undefined));

  it('come in turns with others', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    await bytesOfBase64('A'.repeat(32 * 1024 * 1024));
    clearInterval(timer);
    assert.ok(turns > 2, `${turns} turns of others`);
  });
});
