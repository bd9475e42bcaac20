import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Packr } from 'msgpackr';
import { decodeRecord, encodeRecord } from '../../../../runtime/store/record-bytes.js';

const RECORDS: readonly unknown[] = [
  ...Array.from({ length: 300 }, (_, number) => number),
  2 ** 40,
  'text',
  '{',
  { id: 'a', text: 'Déjà vu \u0000 🍵', metadata: { list: [1, null, { deep: true }] } },
  {},
];

describe('records of the store', () => {
  it('are read as they were written, in either form', () => {
    for (const record of RECORDS) {
      assert.deepEqual(decodeRecord(encodeRecord('chunkIds', record)), record);
      if (typeof record === 'object') assert.deepEqual(decodeRecord(encodeRecord('chunks', record)), record);
    }
  });

  it('are bytes of their own, however large', () => {
    const records = [10, 300_000, 3_000_000, 20].map((length, at) => ({ at, bytes: new Uint8Array(length).fill(at) }));
    const written = records.map((record) => encodeRecord('detectorModels', record));
    for (const [at, record] of records.entries()) {
      const { bytes, ...rest } = decodeRecord(written[at]!) as (typeof records)[number];
      assert.deepEqual([rest.at, [...bytes]], [record.at, [...record.bytes]]);
      assert.ok(written[at]!.buffer.byteLength <= Math.max(written[at]!.byteLength, 8192));
    }
  });

  it('keep chunks as JSON, and read those that an older version has packed', () => {
    const chunk = { id: 'a', documentHash: 'h', text: 'words', metadata: { page: 1 } };
    assert.equal(Buffer.from(encodeRecord('chunks', chunk)).toString(), JSON.stringify(chunk));
    assert.deepEqual(decodeRecord(new Packr({ useRecords: false }).pack(chunk)), chunk);
  });
});
