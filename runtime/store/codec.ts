import { Packr, unpack } from 'msgpackr';
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
const JSON_TABLES: ReadonlySet<TableName> = new Set<TableName>(['chunks']);

/** The bytes of a record. */
export function encoded(table: TableName, value: unknown): Uint8Array {
  if (JSON_TABLES.has(table)) return Buffer.from(JSON.stringify(value));
  packr.useBuffer(SCRATCH);
  return Buffer.from(packr.pack(value));
}

/** The record of bytes, whichever way they were written. Throws for bytes that are neither. */
export function decoded(bytes: Uint8Array): unknown {
  if (bytes[0] !== BRACE || bytes.length === 1) return unpack(bytes);
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}
