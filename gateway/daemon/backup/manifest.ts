import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';

/** What a backup may hold changes with this number; a program reads those of its own number and older ones. */
export const BACKUP_FORMAT = 1;
/** Says that a restore is complete in its folder and takes the place of what is there. */
export const RESTORE_MARK = 'restore.json';
/** What lies in a data directory and is made anew by itself, or belongs to the process that runs: no backup has it, and no restore moves it. */
const LEFT_OUT = new Set(['built-in', 'cache', 'converted-models', 'history', 'logs', 'uploads']);
/** Names of locks, of what an upgrade asks, of damaged state files, and of what a restore brings or has put aside. */
const LEFT_OUT_NAMES = /^(?:quern\.lock|upgrade\.json|state\.|restore[.-]|before-)/;
/** The folder of models. */
export const MODELS = 'models';
/** Of that folder: what was trained here. All else in it can be had again. */
export const TRAINED = new Set(['anomaly', 'classifier']);

/** Whether an entry of a data directory is what a backup is about. */
export const isKept = (name: string): boolean => !LEFT_OUT.has(name) && !LEFT_OUT_NAMES.test(name);

/** The list of what is in a backup; it is written last, so a folder without it is no whole backup. */
export const MANIFEST = 'backup.json';

/** A file of a backup. Paths are relative to the data directory, with `/` between their parts. */
export interface KeptFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** When it was changed last, in milliseconds since 1970; a file that has not changed since is taken from the backup before. */
  readonly changedMs: number;
}

/** A symbolic link of a backup. */
export interface KeptLink {
  readonly path: string;
  readonly target: string;
}

/** What a backup says of itself. */
export interface Manifest {
  readonly format: number;
  /** The version of the program that made it. */
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly madeAt: string;
  readonly files: readonly KeptFile[];
  readonly links: readonly KeptLink[];
}

/** Whether a path stays inside the folder that it is relative to. */
function isInside(path: string): boolean {
  return (
    path !== '' &&
    !path.includes('\\') &&
    !path.includes('\0') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

/** Whether a value has the shape of a manifest; what else it may have does not matter. */
function isManifest(value: unknown): value is Manifest {
  const isList = (list: unknown, has: (entry: Record<string, unknown>) => boolean): boolean =>
    Array.isArray(list) && list.every((entry) => typeof entry === 'object' && entry !== null && has(entry as Record<string, unknown>));
  const { format, files, links } = (value ?? {}) as Partial<Manifest>;
  return (
    typeof format === 'number' &&
    isList(files, ({ path, bytes, sha256 }) => typeof path === 'string' && typeof bytes === 'number' && typeof sha256 === 'string') &&
    isList(links, ({ path, target }) => typeof path === 'string' && typeof target === 'string')
  );
}

/**
 * Reads the manifest of a backup. Throws `invalid` for a folder that is no whole backup or lists what lies outside a data directory, and `conflict` for a
 * newer format.
 */
export function readManifest(folder: string): Manifest {
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8'));
  } catch (cause) {
    throw new Failure('invalid', `${folder} is no whole backup: its ${MANIFEST} is missing or cannot be read.`, { cause });
  }
  const { format, version } = (manifest ?? {}) as Partial<Manifest>;
  if (typeof format === 'number' && format > BACKUP_FORMAT) {
    const made = `${folder} was made by Quern ${String(version)}, in format ${format}`;
    throw new Failure('conflict', `${made}; this one reads formats up to ${BACKUP_FORMAT}: install that version, and restore with it.`);
  }
  if (!isManifest(manifest)) throw new Failure('invalid', `${folder} is no whole backup: its ${MANIFEST} does not list files and links.`);
  const links = new Set(manifest.links.map(({ path }) => path));
  const foldersOf = (path: string): string[] =>
    path
      .split('/')
      .slice(0, -1)
      .map((_part, at, parts) => parts.slice(0, at + 1).join('/'));
  const wrong = [...manifest.files, ...manifest.links].find(
    ({ path }) => !isInside(path) || foldersOf(path).some((parent) => links.has(parent)),
  );
  if (wrong) throw new Failure('invalid', `${folder} lists "${wrong.path}", which is no path inside a data directory.`);
  return manifest;
}

/** The whole backups in a folder, the newest first. */
export function backupsBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, MANIFEST)))
    .sort()
    .reverse()
    .map((name) => join(folder, name));
}

/** The newest backup in a folder that can be read, and what it lists. */
export function newestBackup(folder: string): { path: string; manifest: Manifest } | undefined {
  for (const path of backupsBelow(folder)) {
    try {
      return { path, manifest: readManifest(path) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
    }
  }
  return undefined;
}
