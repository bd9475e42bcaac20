import { type Dirent, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What is in a folder; nothing where it is gone. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}

/** The files below a folder that others may change meanwhile, by their paths in it. */
export function filesBelow(folder: string, root = folder): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path, root) : [relative(root, path)];
  });
}
