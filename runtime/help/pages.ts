import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type PlainFile, plainFile } from '../examples/plain-file.js';

/** The folder of this program: `docs` and `README.md` lie in it. */
const PROGRAM = join(import.meta.dirname, '../../..');

/** Pages of measurements: their many words would be found before what explains a thing. */
const FIGURES = ['benchmarks.md'];

/** The pages that explain this program: its README and what lies directly in `docs`, by name. None where the program came without them. */
export async function helpPages(program: string = PROGRAM): Promise<PlainFile[]> {
  const docs = join(program, 'docs');
  const names = (await readdir(docs).catch(() => [] as string[])).filter((name) => name.endsWith('.md') && !FIGURES.includes(name)).sort();
  const paths = [join(program, 'README.md'), ...names.map((name) => join(docs, name))];
  const pages = await Promise.all(paths.map(plainFile));
  return pages.filter((page) => page !== undefined);
}
