import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { Metadata } from '../contract.js';
import type { Parser } from './contract.js';
import type { ParseInner } from './mail.js';
import { matchesPattern } from './patterns.js';
import { DocumentWriter } from './writer.js';

const DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'paragraphs',
  recursive: true,
  exclude_patterns: [],
  max_depth: 10,
  follow_symlinks: false,
};
const FILE_LIMIT = 10_000;

/** Whether a path, or a folder above it, is one that a pattern names: `*.log`, `drafts/**`, `.git`. */
function excluded(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(path, pattern) || matchesPattern(basename(path), pattern));
}

function inside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The files below a folder in the order of their names. What a link leads out of the folder to is left alone. */
async function filesBelow(root: string, options: Metadata, warnings: string[]): Promise<string[]> {
  const patterns = Array.isArray(options.exclude_patterns) ? options.exclude_patterns.map(String) : [];
  const depthLimit = options.recursive === false ? 1 : Number(options.max_depth ?? 10);
  const seen = new Set([root]);
  const files: string[] = [];
  const walk = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      const shown = relative(root, path).split(sep).join('/');
      if (excluded(shown, patterns) || (entry.isSymbolicLink() && options.follow_symlinks !== true)) continue;
      const real = await realpath(path).catch(() => undefined);
      if (real === undefined || !inside(root, real)) {
        warnings.push(`${shown} leads out of the folder and was not read.`);
        continue;
      }
      if (seen.has(real)) continue;
      seen.add(real);
      const about = await stat(real);
      if (about.isDirectory() && depth < depthLimit) await walk(path, depth + 1);
      else if (about.isFile()) files.push(path);
      if (files.length > FILE_LIMIT)
        throw new Failure('invalid', `${basename(root)} holds more than the ${FILE_LIMIT} files that are read from one folder.`, {
          code: 'too_many_files',
        });
    }
  };
  await walk(root, 1);
  return files;
}

/** A folder as one document, each file of it apart with its path as `file_path`. `inner` reads the files. */
export const folderParser = (inner: ParseInner): Parser => ({
  id: 'folder',
  defaults: { DirectoryParser: DEFAULTS },
  extensions: [],
  mimeTypes: ['inode/directory'],
  async parse(file, options, limits) {
    const root = await realpath(file.path);
    if (!(await stat(root)).isDirectory()) throw new Failure('invalid', `${file.name} is no folder.`, { code: 'not_a_folder' });
    const writer = new DocumentWriter(file.name, limits);
    const files = await filesBelow(root, options, writer.warnings);
    for (const path of files) {
      const name = relative(root, path).split(sep).join('/');
      const { size } = await stat(path);
      try {
        writer.append(await inner({ path, name, mimeType: '', sizeBytes: size }, limits), { file_path: name, section: name });
      } catch (error) {
        if (!(error instanceof Failure) || error.code === 'too_much_text') throw error;
        writer.warnings.push(error.message);
      }
    }
    return writer.finish({ type: 'directory', file_count: files.length });
  },
});
