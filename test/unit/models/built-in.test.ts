import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { BUILT_IN_MODELS, FIRST_MODEL } from '../../../models/built-in.js';
import { templateText } from '../../../runtime/config/templates.js';
import { findGguf } from '../../../runtime/models/find/gguf.js';
import { modelPlaces } from '../../../runtime/models/find/places.js';

const empty = mkdtempSync(join(tmpdir(), 'quern-built-in-'));
test.after(() => rmSync(empty, { recursive: true, force: true }));

test('every built-in model is found by its name, in the file that its card names', async () => {
  const places = modelPlaces(empty, {});
  for (const { name, file } of BUILT_IN_MODELS) {
    const found = await findGguf(name, places);
    assert.deepEqual([found.source, found.weights[0]], ['built-in', join(places.builtIn, file)]);
  }
});

test('new projects of every template chat with the first of them', () => {
  for (const name of ['default', 'server', 'rag']) {
    assert.match(templateText(name, empty), new RegExp(`model: ${FIRST_MODEL.name}\\n`));
  }
});
