// Build step: `node build/models/build.js [folder]` writes the built-in models; does nothing where they are newer than this code.
import { join } from 'node:path';
import { STANDIN_CARD } from './standin/card.js';
import { standinModel } from './standin/standin.js';
import { ensureGguf } from './writers/gguf-cache.js';

const path = join(process.argv[2] ?? import.meta.dirname, STANDIN_CARD.file);
if (ensureGguf(path, [import.meta.dirname], standinModel)) console.log(`wrote ${path}`);
