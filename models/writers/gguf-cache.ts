import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type GgufFile, writeGguf } from './gguf-writer.js';

function newestCodeMs(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  return Math.max(...files.map((name) => statSync(join(folder, name)).mtimeMs));
}

/**
 * Writes a generated GGUF file where it is missing or older than the compiled code in `codeFolders`; true where it was
 * written. It is written under a temporary name of this process and renamed: the final name always holds a whole file,
 * also when several processes write it at once, and a file in use stays as it was for its user.
 */
export function ensureGguf(path: string, codeFolders: readonly string[], make: () => GgufFile): boolean {
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (writtenMs > Math.max(...codeFolders.map(newestCodeMs))) return false;
  const unfinished = `${path}.${process.pid}.part`;
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeGguf(unfinished, make());
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return true;
}
