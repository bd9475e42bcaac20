import { createHash } from 'node:crypto';
import { LATEST, versionOf } from '../ml/names.js';

/** Which of several runtimes keeps what has this name: always the same one, for each keeps its own. */
export function homeOf(name: string, bases: readonly string[]): string {
  return bases[createHash('md5').update(name).digest().readUInt32BE(0) % bases.length]!;
}

/** The home of all versions of a model, by the name of any of them or the one that stands for the newest. */
export function homeOfVersions(name: string, bases: readonly string[]): string {
  return homeOf(versionOf(name.endsWith(LATEST) ? name.slice(0, -LATEST.length) : name).base, bases);
}
