import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecallIndex } from '../../../../runtime/memory/recall/index.js';
import { Recall, type Recalled } from '../../../../runtime/memory/recall/recall.js';
import type { Embedder } from '../../../../runtime/rag/embedders/contract.js';
import { lexicalEmbedder, openMemory } from '../../../support/memory/stage.js';

const never = new AbortController().signal;
/** Longer than a question waits for a model. */
const LATE_MS = 300;

/** Asks for a record whose vector, by an embedder that passes for one of this type, is there when it is let go. */
async function asked(t: TestContext, type: Embedder['type']): Promise<{ answer: Promise<Recalled[]>; letGo: () => void }> {
  const store = await openMemory((close) => t.after(close));
  const words = lexicalEmbedder();
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const embed: Embedder['embed'] = async (texts, purpose, ...rest) => {
    if (purpose === 'document') await held;
    return words.embed(texts, purpose, ...rest);
  };
  const index = await RecallIndex.open(store, { type, key: words.key, dimensions: words.dimensions, embed });
  t.after(() => index.close());
  await store.write({ add: [{ type: 'text', data: 'walnuts', text: 'walnuts' }] });
  return { answer: new Recall(store, index).ask({ text: 'walnuts' }, never), letGo };
}

test('a question waits for vectors that need no model, however long they take', async (t) => {
  const { answer, letGo } = await asked(t, 'LexicalEmbedder');
  assert.equal(await Promise.race([answer, sleep(LATE_MS)]), undefined);
  letGo();
  assert.ok((await answer)[0]!.parts.dense > 0);
});

test('a question is answered without vectors that a model is late with', async (t) => {
  const { answer, letGo } = await asked(t, 'OllamaEmbedder');
  // The wait itself keeps no process alive.
  const [[found]] = await Promise.all([answer, sleep(LATE_MS)]);
  assert.equal(found!.parts.dense, 0);
  letGo();
});
