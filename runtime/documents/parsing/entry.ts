import { setPriority } from 'node:os';
import { Failure } from '../../../schemas/errors.js';
import type { HostedEngine, OpenEngine } from '../../hosts/protocol.js';
import { type ReadRequest, readFile, writeFile } from './read.js';

/** Nice value of a parse host: requests that a person waits for go first. */
const NICENESS = 10;
const NO_ROOM: readonly unknown[] = ['EFBIG', 'ENOSPC', 'EDQUOT'];

/** A library's own error becomes a reason; what it says of files of this machine stays here. */
function reasonOf(error: unknown, name: string): Failure {
  if (error instanceof Failure) {
    // Shared readers do not know the file.
    const named = error.message.includes(name) ? error.message : `${name} was not read. ${error.message}`;
    return new Failure(error.kind, named, { code: error.code });
  }
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ENOENT')
    return new Failure('not_found', `The stored content of ${name} is missing; upload it again.`, { code: 'content_missing' });
  if (NO_ROOM.includes(code))
    return new Failure(
      'disk_full',
      `The disk that holds the data directory is full; ${name} was not taken in. Free some space and try again.`,
    );
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return new Failure('invalid', `${name} could not be read: its content is damaged or of an unknown kind.`, { code: 'damaged' });
}

const engine: HostedEngine = {
  async call(method, body) {
    const { request, path } = body as { request: ReadRequest; path: string };
    try {
      if (method === 'read') return await readFile(request);
      if (method === 'write') return await writeFile(request, path);
      throw new Failure('internal', `A parse host has no method ${method}.`);
    } catch (error) {
      throw reasonOf(error, request.file.name);
    }
  },
  close: () => {},
};

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => {
  try {
    setPriority(NICENESS);
  } catch {
    // Where the system forbids it, the host runs as any other.
  }
  return engine;
};
