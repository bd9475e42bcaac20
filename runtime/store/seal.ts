import { crc32 } from 'node:zlib';
import type { StoredKey } from './environment.js';
import { keyBytes } from './environment.js';
import type { TableName } from './tables.js';

/** How a sealed record begins: a byte that neither MessagePack nor a text of JSON has there. Records of format 2 have no seal. */
const MARK = 0xc1;
/** The mark, and a CRC-32 of the table's name, the key and the value, little-endian. */
export const SEAL_BYTES = 5;

/** A record's value behind its seal: bytes that a disk changes are noticed, and so is a record that stands under a wrong key. */
export function sealed(table: TableName, key: StoredKey, value: Uint8Array): Uint8Array {
  const record = Buffer.allocUnsafeSlow(SEAL_BYTES + value.length);
  record[0] = MARK;
  record.writeUInt32LE(checksum(table, keyBytes(key), value), 1);
  record.set(value, SEAL_BYTES);
  return record;
}

/** Whether a record has a seal at all. */
export function isSealed(record: Uint8Array): boolean {
  return record.length >= SEAL_BYTES && record[0] === MARK;
}

/** Whether a sealed record is what was once stored in this table under this key. */
export function isIntact(table: TableName, key: Uint8Array, record: Uint8Array): boolean {
  const found = Buffer.from(record.buffer, record.byteOffset, record.byteLength).readUInt32LE(1);
  return found === checksum(table, key, record.subarray(SEAL_BYTES));
}

/** The value of a record. Throws an `Error` when its seal does not fit. */
export function unsealed(table: TableName, key: StoredKey, record: Uint8Array): Uint8Array {
  if (!isSealed(record)) return record;
  if (!isIntact(table, keyBytes(key), record)) throw new Error(`the record ${JSON.stringify(key)} of ${table} does not fit its checksum`);
  return record.subarray(SEAL_BYTES);
}

function checksum(table: TableName, key: Uint8Array, value: Uint8Array): number {
  return crc32(value, crc32(key, crc32(table)));
}
