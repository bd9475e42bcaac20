// Build step: `node build/models/build.js [folder]` makes the built-in models; does nothing where they are newer than what they are made of.
import { copyFileSync, existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { STANDIN_CARD } from './standin/card.js';
import { standinModel } from './standin/standin.js';
import { TINY_CARD } from './tiny/card.js';
import { ensureGguf } from './writers/gguf-cache.js';

const folder = process.argv[2] ?? import.meta.dirname;
const path = join(folder, STANDIN_CARD.file);
if (ensureGguf(path, [import.meta.dirname], standinModel)) console.log(`wrote ${path}`);

const trained = join(import.meta.dirname, '..', '..', 'models', 'tiny', TINY_CARD.file);
const placed = join(folder, TINY_CARD.file);
const isPlaced = existsSync(placed) && statSync(placed).mtimeMs >= (statSync(trained, { throwIfNoEntry: false })?.mtimeMs ?? 0);
if (existsSync(trained) && !isPlaced) {
  copyFileSync(trained, `${placed}.part`);
  renameSync(`${placed}.part`, placed);
  console.log(`wrote ${placed}`);
}
