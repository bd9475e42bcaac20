import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mind } from '../../runtime/memory/mind.js';
import { PARTS } from '../support/memory/conversation.js';
import { QUESTIONS } from '../support/memory/questions.js';
import { plainAnswers, quiz, recallAnswers, tell } from '../support/memory/quiz.js';
import { lexicalEmbedder, mindOver, openMemory } from '../support/memory/stage.js';

test('a hundred questions to a year of conversation: facts, times, places and links find more than the transcript does', async (t) => {
  assert.deepEqual([PARTS.length, QUESTIONS.length], [50, 100]);
  const embedder = lexicalEmbedder();
  const store = await openMemory((close) => t.after(close));
  const mind: Mind = mindOver({ of: async () => store });
  const records = await tell(store, embedder, (ids) => mind.forget(store, ids));
  const remembered = await quiz(await recallAnswers(store, embedder, records));
  const transcript = await openMemory((close) => t.after(close));
  const plain = await quiz(await plainAnswers(transcript, embedder));
  for (const [of, least] of [
    ['plain', 0.85],
    ['temporal', 0.9],
    ['contradicted', 0.8],
    ['forgotten', 1],
    ['placed', 1],
    ['linked', 0.75],
  ] as const) {
    assert.ok(remembered.marks[of] >= least, `${of}: ${remembered.marks[of]} of ${least}`);
    assert.ok(remembered.marks[of] >= plain.marks[of], `${of}: ${remembered.marks[of]}, transcript ${plain.marks[of]}`);
  }
  assert.ok(remembered.all > plain.all + 0.25, `${remembered.all}, transcript ${plain.all}`);
});
