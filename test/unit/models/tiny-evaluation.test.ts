import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TINY_CARD } from '../../../models/built-in.js';

const FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'models', 'tiny');
const FILE = join(FOLDER, TINY_CARD.file);
const LIMIT_BYTES = 24 * 1024 * 1024;

test('the trained model has been evaluated as it is, and its card says so', { skip: !existsSync(FILE) }, () => {
  const bytes = readFileSync(FILE);
  assert.ok(bytes.length <= LIMIT_BYTES, `${bytes.length} bytes`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const results = JSON.parse(readFileSync(join(FOLDER, 'eval', 'results.json'), 'utf8')) as { sha256: string };
  assert.equal(results.sha256, sha256, 'run models/tiny/evaluate.mjs on the file that is shipped');
  assert.match(readFileSync(join(FOLDER, 'model-card.md'), 'utf8'), new RegExp(sha256), 'run models/tiny/figures.mjs');
});
