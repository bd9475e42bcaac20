import { crc32 } from 'node:zlib';
import { Packr, unpack } from 'msgpackr';
import { keyBytes, type StoredKey } from './environment.js';
import type { TableName } from './tables.js';

const packr = new Packr({ useRecords: false });
/**
 * Records are made here and copied. Buffers of the packer's own hold several records, outlive most of them, and are four times as large
 * as the largest: what models of a few hundred kilobytes left to the collector made it come twice as often.
 */
const SCRATCH = Buffer.allocUnsafeSlow(1024 * 1024);
/** How every text of JSON that is stored begins. As MessagePack it is the number 123, which has no second byte. */
const BRACE = 0x7b;
/** Their records are large, many and made of JSON anyway: V8 reads and writes those several times as fast as MessagePack. */
const JSON_TABLES: ReadonlySet<TableName> = new Set<TableName>([
  'chunks',
  'events',
  'eventConfigs',
  'pausedTurns',
  'pausedStates',
  'responses',
  'memories',
  'conversationMessages',
]);

/** The bytes of a record. */
export function encodeRecord(table: TableName, value: unknown): Uint8Array {
  if (JSON_TABLES.has(table)) return Buffer.from(JSON.stringify(value));
  packr.useBuffer(SCRATCH);
  return Buffer.from(packr.pack(value));
}

/** The record of bytes, whichever way they were written. Throws for bytes that are neither. */
export function decodeRecord(bytes: Uint8Array): unknown {
  if (bytes[0] !== BRACE || bytes.length === 1) return unpack(bytes);
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}

/** How a sealed record begins: a byte that neither MessagePack nor a text of JSON has there. Records of format 2 have no seal. */
const MARK = 0xc1;
/** The mark, and a CRC-32 of the table's name, the key and the value, little-endian. */
export const SEAL_BYTES = 5;

/** A record's value behind its seal: bytes that a disk changes are noticed, and so is a record that stands under a wrong key. */
export function sealRecord(table: TableName, key: StoredKey, value: Uint8Array): Uint8Array {
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
export function unsealRecord(table: TableName, key: StoredKey, record: Uint8Array): Uint8Array {
  if (!isSealed(record)) return record;
  if (!isIntact(table, keyBytes(key), record)) throw new Error(`the record ${JSON.stringify(key)} of ${table} does not fit its checksum`);
  return record.subarray(SEAL_BYTES);
}

/** Checksums of the tables' names, with which those of their records begin. */
const SEEDS = new Map<TableName, number>();

function checksum(table: TableName, key: Uint8Array, value: Uint8Array): number {
  let seed = SEEDS.get(table);
  if (seed === undefined) {
    seed = crc32(table);
    SEEDS.set(table, seed);
  }
  return crc32(value, crc32(key, seed));
}

/** The bytes of an array, for a record: no other array comes back from one as it was. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A copy of bytes of a record, which need not be aligned for the array that they were. */
export function alignedBytes(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
