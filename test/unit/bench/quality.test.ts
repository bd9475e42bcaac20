import assert from 'node:assert/strict';
import { it } from 'node:test';
import { quizzes } from '../../../bench/quality.js';

it('asks only what its pages answer, so that an edited page cannot stop the benchmark', () => {
  for (const { questions, sources } of quizzes()) assert.ok(questions.length > 50 && sources.length > 2);
});
