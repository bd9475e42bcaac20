import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from '../browser.js';

const BUILT = join(import.meta.dirname, '..', '..', '..', 'web');

/** Limits of what the interface loads, in bytes, compressed: at first, and for a view beside that. The editor of project files alone may have more. */
export const ENTRY_BYTES = 110_000;
export const VIEW_BYTES = 80_000;
export const EDITOR_BYTES = 130_000;
export const VIEWS = ['chat', 'projects', 'data', 'lab', 'models', 'traces', 'learning', 'speech', 'system', 'api'];

/** The scripts and styles that the open page has loaded, by name, with their bytes compressed by gzip. */
export async function loadedAssets(browser: Browser): Promise<Map<string, number>> {
  const names = await browser.value<string[]>(
    `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((name) => /^\\/assets\\/.*\\.(js|css)$/.test(name))`,
  );
  return new Map(names.map((name) => [name, statSync(join(BUILT, `${name}.gz`)).size]));
}

/** Bytes of files together, those in `without` left out. */
export function sumOf(files: ReadonlyMap<string, number>, without: ReadonlyMap<string, number> = new Map()): number {
  return [...files].reduce((sum, [name, bytes]) => sum + (without.has(name) ? 0 : bytes), 0);
}
