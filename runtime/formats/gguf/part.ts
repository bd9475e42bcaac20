import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { FileCursor } from './cursor.js';
import { fileFault } from './fault.js';
import { KEY_LIMIT, type Metadata, MetadataReader } from './metadata.js';
import { checkAlignment, readTensors, TENSOR_LIMIT, type TensorTable } from './tensors.js';

const MAGIC = 'GGUF';

/** What stands in the head of one file. */
export interface FilePart {
  readonly metadata: Metadata;
  /** The types of single values, such as `f32`, by key. */
  readonly types: ReadonlyMap<string, string>;
  readonly tensors: TensorTable;
  readonly size: number;
}

/** Runs a file operation and names the file when it fails. */
export async function reaching<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const why = code === 'ENOENT' ? 'does not exist' : code === 'EACCES' ? 'may not be read by this user' : `cannot be opened (${code})`;
    throw new Failure(code === 'ENOENT' ? 'not_found' : 'invalid', `The model file ${path} ${why}.`, {
      code: 'ModelNotFound',
      cause: error,
    });
  }
}

/** Reads and checks the head of one file: every length in it lies inside the file. Throws as `ggufHeader` does. */
export async function readPart(path: string): Promise<FilePart> {
  const file = basename(path);
  // Without O_NONBLOCK the opening of a named pipe would wait for its writer.
  const handle = await reaching(path, () => open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw fileFault(file, 'file', 'not a regular file', 'a GGUF file is needed');
    if (facts.size === 0) throw fileFault(file, 'file', 'empty', 'a GGUF file is needed');
    const cursor = new FileCursor(handle, facts.size, file);
    await cursor.need(24, 'header');
    const magic = cursor.bytes(4).toString('latin1');
    if (magic !== MAGIC) throw fileFault(file, 'magic', magic, 'a GGUF file begins with GGUF');
    const version = cursor.u32();
    if (version !== 2 && version !== 3) {
      const endian = (version & 0xffff) === 0 ? ' (a big-endian file does not fit this machine)' : '';
      throw fileFault(file, 'version', version, `2 and 3 are supported${endian}`);
    }
    const tensorCount = await cursor.count('tensor count', TENSOR_LIMIT);
    const keyCount = await cursor.count('metadata count', KEY_LIMIT);
    const reader = new MetadataReader(cursor, file);
    const metadata = await reader.read(keyCount);
    const alignment = checkAlignment(file, metadata.get('general.alignment'));
    const tensors = await readTensors(file, cursor, reader, tensorCount, alignment);
    return { metadata, types: reader.types, tensors, size: facts.size };
  } finally {
    await handle.close();
  }
}
