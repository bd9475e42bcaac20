import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';

/** What a backup may hold changes with this number; a program reads those of its own number and older ones. */
export const BACKUP_FORMAT = 1;
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
export function isInside(path: string): boolean {
  return (
    path !== '' &&
    !path.includes('\\') &&
    !path.includes('\0') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

/** Reads the manifest of a backup. Throws `invalid` for a folder that is no whole backup, and `conflict` for a newer format. */
export function readManifest(folder: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')) as Manifest;
  } catch (cause) {
    throw new Failure('invalid', `${folder} is no whole backup: its ${MANIFEST} is missing or cannot be read.`, { cause });
  }
  if (!(manifest.format <= BACKUP_FORMAT)) {
    const made = `${folder} was made by Quern ${String(manifest.version)}, in format ${String(manifest.format)}`;
    throw new Failure('conflict', `${made}; this one reads formats up to ${BACKUP_FORMAT}: install that version, and restore with it.`);
  }
  const paths = [...manifest.files, ...manifest.links].map(({ path }) => path);
  const wrong = paths.find((path) => !isInside(path));
  if (wrong !== undefined) throw new Failure('invalid', `${folder} lists "${wrong}", which is no path inside a data directory.`);
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
