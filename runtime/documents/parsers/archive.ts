import { type Unzipped, unzipSync, zipSync } from 'fflate';
import { Failure } from '../../../schemas/errors.js';
import type { ParseLimits } from './contract.js';

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
/** A comment of up to 65,535 bytes may stand behind the end record. */
const END_SEARCH = 22 + 65_535;
const ENTRY_LIMIT = 10_000;
/** Unpacked over packed size of the whole, from which an archive above the size below counts as a bomb. Office XML reaches about 30. */
const RATIO_LIMIT = 200;
const RATIO_FROM_BYTES = 16 * 1024 * 1024;
const ENCRYPTED = 1;

interface ArchiveEntry {
  readonly path: string;
  readonly unpackedBytes: number;
}

const broken = (name: string, why: string): Failure => new Failure('invalid', `${name} is damaged: ${why}.`, { code: 'damaged' });

function endRecord(name: string, view: DataView): number {
  for (let at = view.byteLength - 22; at >= Math.max(0, view.byteLength - END_SEARCH); at -= 1) {
    if (view.getUint32(at, true) === END_OF_DIRECTORY) return at;
  }
  throw broken(name, 'its archive has no directory, so it is cut off or not an archive');
}

/** The entries of an archive as its directory lists them; nothing is unpacked. Throws `Failure('invalid')` for one that is damaged or encrypted. */
export function entriesOf(name: string, bytes: Uint8Array): ArchiveEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endRecord(name, view);
  const count = view.getUint16(end + 10, true);
  if (count > ENTRY_LIMIT)
    throw new Failure('invalid', `${name} holds ${count} entries; at most ${ENTRY_LIMIT} are read.`, { code: 'archive_bomb' });
  const found: ArchiveEntry[] = [];
  let at = view.getUint32(end + 16, true);
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== DIRECTORY_ENTRY)
      throw broken(name, 'the directory of its archive is cut off');
    if (view.getUint16(at + 8, true) & ENCRYPTED)
      throw new Failure('invalid', `${name} is protected with a password; save it without one.`, { code: 'password_protected' });
    const nameLength = view.getUint16(at + 28, true);
    found.push({
      path: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)),
      unpackedBytes: view.getUint32(at + 24, true),
    });
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return found;
}

function refuseBomb(name: string, entries: readonly ArchiveEntry[], packedBytes: number, limits: ParseLimits): void {
  const total = entries.reduce((sum, entry) => sum + entry.unpackedBytes, 0);
  const mebibytes = (bytes: number): number => Math.ceil(bytes / 1024 / 1024);
  if (total > limits.unpackedBytes)
    throw new Failure(
      'invalid',
      `${name} unpacks to ${mebibytes(total)} MiB; at most ${mebibytes(limits.unpackedBytes)} MiB are read. Unpack it and upload its files.`,
      {
        code: 'archive_bomb',
      },
    );
  if (total > RATIO_FROM_BYTES && total > packedBytes * RATIO_LIMIT)
    throw new Failure(
      'invalid',
      `${name} unpacks to ${Math.round(total / packedBytes)} times its size; at most ${RATIO_LIMIT} times its size is read. Unpack it and upload its files.`,
      {
        code: 'archive_bomb',
      },
    );
}

/** The parts of an archive by path. */
export interface Archive {
  readonly parts: ReadonlyMap<string, Uint8Array>;
  /** All entries, also those that were not unpacked. */
  readonly paths: readonly string[];
}

/**
 * Unpacks the entries that `wanted` picks, after the directory has been checked against the limits. A size that the directory lies about
 * cannot grow: each entry gets the room that was announced. Throws `Failure('invalid')` with the reason.
 */
export function unpacked(name: string, bytes: Uint8Array, limits: ParseLimits, wanted: (path: string) => boolean): Archive {
  const entries = entriesOf(name, bytes);
  refuseBomb(name, entries, bytes.length, limits);
  let files: Unzipped;
  try {
    files = unzipSync(bytes, { filter: (file) => wanted(file.name) && file.originalSize <= limits.unpackedBytes });
  } catch (error) {
    throw new Failure('invalid', `${name} is damaged: its archive cannot be unpacked.`, { code: 'damaged', cause: error });
  }
  for (const [path, part] of Object.entries(files)) if (/\.(?:xml|rels|xhtml|html?|opf|ncx)$/i.test(path)) refuseEntities(name, part);
  return { parts: new Map(Object.entries(files)), paths: entries.map((entry) => entry.path) };
}

/** Entity declarations are the means of XML bombs and of reading other files; no office program writes them. */
function refuseEntities(name: string, part: Uint8Array): void {
  if (Buffer.from(part.buffer, part.byteOffset, part.length).includes('<!ENTITY'))
    throw new Failure('invalid', `${name} declares XML entities, which are not read.`, { code: 'xml_entities' });
}

/** The unpacked parts as an archive again, stored without compression: its sizes are true, so any library may read it. */
export function repacked(archive: Archive): Uint8Array {
  return zipSync(Object.fromEntries(archive.parts), { level: 0 });
}
