import { basename, relative, sep } from 'node:path';
import { isInside } from '../base/files.js';

const SNAPSHOT = /[/\\]models--([^/\\]+)[/\\]snapshots[/\\][^/\\]+[/\\]*$/;

/**
 * A file of a model as messages name it: its path below the model's folder with '/', since a model may have several files of one name, and no path of this
 * machine; its own name where it lies elsewhere or no folder is given.
 */
export function fileName(path: string, folder?: string): string {
  return folder !== undefined && isInside(folder, path) ? relative(folder, path).split(sep).join('/') : basename(path);
}

/** A model's folder as messages name it: a snapshot of the hub's cache, which is called by a hash, by its repository. */
export function folderName(folder: string): string {
  return SNAPSHOT.exec(folder)?.[1]?.replaceAll('--', '/') ?? basename(folder);
}
