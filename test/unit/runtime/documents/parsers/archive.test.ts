import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { zipSync } from 'fflate';
import { unpacked } from '../../../../../runtime/documents/parsers/archive.js';

const MEBIBYTE = 1024 * 1024;
const LIMITS = { textBytes: MEBIBYTE, pages: 10, unpackedBytes: 64 * MEBIBYTE };
const all = (): boolean => true;

function archive(parts: Record<string, Uint8Array>): Uint8Array {
  return zipSync(parts, { level: 1 });
}

/** Where the directory of an archive begins. */
function directory(bytes: Uint8Array): number {
  return Buffer.from(bytes).indexOf('PK\x01\x02', 0, 'latin1');
}

describe('unpacked', () => {
  it('gives the wanted parts', () => {
    const { parts, paths } = unpacked('a.zip', archive({ 'a.xml': Buffer.from('<a/>'), 'b.png': Buffer.from('b') }), LIMITS, (path) =>
      path.endsWith('.xml'),
    );
    assert.deepEqual([...parts.keys()], ['a.xml']);
    assert.deepEqual(paths, ['a.xml', 'b.png']);
  });

  it('refuses by the size that the directory tells, and by the ratio', () => {
    const zeros = archive({ 'a.xml': new Uint8Array(32 * MEBIBYTE) });
    assert.throws(() => unpacked('bomb.docx', zeros, { ...LIMITS, unpackedBytes: 16 * MEBIBYTE }, all), {
      code: 'archive_bomb',
      message: /bomb\.docx.*32 MiB.*16 MiB/,
    });
    assert.throws(() => unpacked('bomb.docx', zeros, LIMITS, all), { code: 'archive_bomb', message: /times its size/ });
  });

  it('gives an entry no more room than its directory promised', () => {
    const bytes = Buffer.from(archive({ 'a.txt': new Uint8Array(8 * MEBIBYTE) }));
    bytes.writeUInt32LE(10, directory(bytes) + 24);
    try {
      const { parts } = unpacked('liar.docx', bytes, LIMITS, all);
      assert.equal(parts.get('a.txt')!.length, 10);
    } catch (error) {
      assert.match((error as Error).message, /liar\.docx is damaged/);
    }
  });

  it('refuses encrypted, cut and over-full archives', () => {
    const bytes = Buffer.from(archive({ 'a.txt': Buffer.from('a') }));
    const locked = Buffer.from(bytes);
    locked.writeUInt16LE(1, directory(bytes) + 8);
    assert.throws(() => unpacked('a.docx', locked, LIMITS, all), { code: 'password_protected' });
    assert.throws(() => unpacked('a.docx', bytes.subarray(0, bytes.length - 30), LIMITS, all), { code: 'damaged' });
    const many = archive(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`${at}`, new Uint8Array()])));
    assert.throws(() => unpacked('a.docx', many, LIMITS, all), { code: 'archive_bomb' });
  });
});
