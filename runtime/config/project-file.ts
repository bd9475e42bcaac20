import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { liesInside } from '../base/names.js';
import { type FileFormat, MAX_PROJECT_FILE_BYTES, type ParsedFile, parseProjectText, Unparsable } from './parse.js';

/** File names of a project configuration, first found wins: ours, then those of LlamaFarm's command line. */
export const PROJECT_FILES = [
  'project.yaml',
  'project.yml',
  'project.toml',
  'project.json',
  'llamafarm.yaml',
  'llamafarm.yml',
  'llamafarm.toml',
  'llamafarm.json',
] as const;

/** The name a new project file gets. */
export const NEW_PROJECT_FILE = PROJECT_FILES[0];

/** A project file found in a directory. */
export interface FoundFile {
  readonly fileName: (typeof PROJECT_FILES)[number];
  readonly path: string;
  readonly stats: Stats;
}

/** The stats of a path, or `null` when nothing (reachable) is there. */
export function look(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOTDIR' || code === 'ELOOP' || code === 'ENAMETOOLONG' || code === 'EACCES') return null;
    throw cause;
  }
}

/** Looks for the project file of a directory; `null` when it has none that can be reached. */
export function findProjectFile(directory: string): FoundFile | null {
  for (const fileName of PROJECT_FILES) {
    const path = join(directory, fileName);
    const stats = look(path);
    if (stats?.isFile()) return { fileName, path, stats };
  }
  return null;
}

/**
 * Reads the bytes of a project file together with the stats of exactly what was read.
 * `root` is the directory it must not leave through links. `subject` starts each message, such as `Project ns/name`.
 */
export function readProjectText(path: string, root: string, subject: string): { text: string; stats: Stats } {
  if (!liesInside(root, path)) throw unreadable(subject, path, 'it leads out of the data directory');
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw unreadable(subject, path, 'configuration file not found', cause);
    throw unreadable(subject, path, `it cannot be opened (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw unreadable(subject, path, 'it is not a regular file');
    if (stats.size > MAX_PROJECT_FILE_BYTES) throw unreadable(subject, path, `it is larger than ${MAX_PROJECT_FILE_BYTES} bytes`);
    return { text: decoded(readFileSync(descriptor), subject, path), stats };
  } finally {
    closeSync(descriptor);
  }
}

function decoded(bytes: Buffer, subject: string, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(subject, path, 'it is not UTF-8 text', cause);
  }
}

/** The format that a project file's name says. */
export function formatOf(fileName: string): FileFormat {
  if (fileName.endsWith('.toml')) return 'toml';
  return fileName.endsWith('.json') ? 'json' : 'yaml';
}

/** Parses the text of a project file by its name. Throws `invalid` (ProjectConfigError). */
export function parseProjectFile(fileName: string, text: string, subject: string): ParsedFile {
  try {
    return parseProjectText(text, formatOf(fileName));
  } catch (cause) {
    if (cause instanceof Unparsable) throw unreadable(subject, fileName, cause.message, cause);
    throw cause;
  }
}

/** The failure that a file is no project file, with its name and the reason. */
export function unreadable(subject: string, path: string, reason: string, cause?: unknown): Failure {
  const fileName = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  const msg = `could not load ${fileName}: ${reason}`;
  return new Failure('invalid', `${subject}: ${msg}`, {
    code: 'ProjectConfigError',
    errors: [{ type: 'file', loc: [fileName], msg: reason }],
    cause,
  });
}
