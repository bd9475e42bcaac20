// Build step: `node build/models/build.js [folder]` makes the built-in models; does nothing where they are newer than what they are made of.
import { copyFileSync, renameSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { STANDIN_CARD, TINY_CARD, VOICE_ACTIVITY_GRAPH } from './built-in.js';
import { standinModel } from './standin/standin.js';
import { ensureGguf } from './writers/gguf-writer.js';

const folder = process.argv[2] ?? import.meta.dirname;
const path = join(folder, STANDIN_CARD.file);
if (ensureGguf(path, [import.meta.dirname], standinModel)) console.log(`wrote ${path}`);

/** Copies a file of the tree into the folder, where it is there and newer than its copy. */
function place(source: string, name: string): void {
  const placed = join(folder, name);
  const made = statSync(source, { throwIfNoEntry: false })?.mtimeMs;
  if (made === undefined || (statSync(placed, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= made) return;
  copyFileSync(source, `${placed}.part`);
  renameSync(`${placed}.part`, placed);
  console.log(`wrote ${placed}`);
}

const root = join(import.meta.dirname, '../..');
place(join(root, 'models/tiny', TINY_CARD.file), TINY_CARD.file);
// The package around this graph brings a runtime for browsers of 139 MB with it.
const graph = basename(VOICE_ACTIVITY_GRAPH);
place(join(root, 'node_modules/@ricky0123/vad-web/dist', graph), graph);
