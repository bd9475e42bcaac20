import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINISH_EOG, FINISH_LENGTH } from '../../native/contract.js';
import { tinyPath } from '../support/models/cache.js';
import { Generations } from './generations.js';

const WARM = { temperature: 1, topK: 40, topP: 0.95, maxTokens: 24 };

test('a seed gives the same text again, another seed another text', async () => {
  const opened = await Generations.open(tinyPath());
  const prompt = opened.tokens('tes ne re hi lo');
  const texts = [];
  for (const seed of [1, 1, 2, 4294967295, -1]) texts.push((await opened.run(prompt, { ...WARM, seed })).tokens.join(' '));
  assert.equal(texts[0], texts[1]);
  assert.notEqual(texts[0], texts[2]);
  assert.equal(texts[3], texts[4], '-1 and 2^32 - 1 are the same 32 bits');
  await opened.close();
});

test('top-k 1 and a tiny temperature are greedy', async () => {
  const opened = await Generations.open(tinyPath());
  const prompt = opened.tokens('tes ne re hi lo');
  const greedy = await opened.run(prompt);
  for (const options of [
    { temperature: 1, topK: 1 },
    { temperature: 1, topP: 0 },
    { temperature: 1, minP: 1 },
    { temperature: 1e-6, topK: 40 },
  ])
    assert.deepEqual((await opened.run(prompt, options)).tokens, greedy.tokens, JSON.stringify(options));
  await opened.close();
});

test('bias and penalties move the choice', async () => {
  const opened = await Generations.open(tinyPath());
  const prompt = opened.tokens('tes ne re hi lo');
  const wanted = opened.tokens('z')[0]!;
  const forced = await opened.run(prompt, { biasTokens: new Int32Array([wanted]), biasValues: new Float32Array([1000]), maxTokens: 5 });
  assert.deepEqual(forced.tokens, [wanted, wanted, wanted, wanted, wanted]);
  const greedy = await opened.run(prompt, { maxTokens: 1 });
  const banned = await opened.run(prompt, {
    biasTokens: Int32Array.from(greedy.tokens),
    biasValues: new Float32Array([-1000]),
    maxTokens: 1,
  });
  assert.notEqual(banned.tokens[0], greedy.tokens[0]);
  for (const options of [{ presencePenalty: 100 }, { frequencyPenalty: 100 }]) {
    const { tokens } = await opened.run(prompt, { ...options, maxTokens: 40 });
    assert.equal(new Set(tokens).size, tokens.length, 'a hundred less is enough to never repeat');
  }
  await opened.close();
});

test('an end-of-generation token ends the text and is no text', async () => {
  const opened = await Generations.open(tinyPath());
  const prompt = opened.tokens('tes ne re');
  const end = opened.tokens('<|im_end|>');
  const outcome = await opened.run(prompt, { biasTokens: end, biasValues: new Float32Array([1000]) });
  assert.deepEqual([outcome.finish, outcome.generated, outcome.tokens], [FINISH_EOG, 0, []]);
  await opened.close();
});

test('a grammar holds the text to its language, greedy and drawn, and ends it', async () => {
  const opened = await Generations.open(tinyPath(), { slots: 4 });
  const prompt = opened.tokens('tes ne re');
  const grammar = 'root ::= "{\\"" key "\\": " number "}"\nkey ::= [a-z]{1,6}\nnumber ::= [1-9] [0-9]{0,3}';
  const runs = [{}, WARM, { ...WARM, seed: 2 }, { temperature: 2, seed: 3, topK: 0 }];
  for (const outcome of await Promise.all(runs.map((options) => opened.run(prompt, { ...options, grammar, maxTokens: 60 })))) {
    assert.equal(outcome.finish, FINISH_EOG, outcome.error);
    const text = opened.text(outcome.tokens);
    assert.match(text, /^\{"[a-z]{1,6}": [1-9][0-9]{0,3}\}$/);
  }
  await opened.close();
});

test('a grammar that waits holds what follows its start, and nothing before', async () => {
  const opened = await Generations.open(tinyPath());
  const prompt = opened.tokens('tes ne re');
  const free = await opened.run(prompt, { maxTokens: 12 });
  const grammar = 'root ::= "yes"';
  const never = await opened.run(prompt, { grammar, grammarStart: opened.tokens('<|never|>'), maxTokens: 12 });
  assert.deepEqual(never.tokens, free.tokens);
  const held = await opened.run(prompt, { grammar, grammarStart: Int32Array.from(free.tokens.slice(0, 5)), maxTokens: 12 });
  assert.deepEqual(held.tokens.slice(0, 5), free.tokens.slice(0, 5));
  assert.deepEqual([opened.text(held.tokens.slice(5)), held.finish], ['yes', FINISH_EOG]);
  await opened.close();
});

test('a grammar of one sentence gives exactly it, emoji included', async () => {
  const opened = await Generations.open(tinyPath());
  const outcome = await opened.run(opened.tokens('hi'), { grammar: 'root ::= "yes 🙂!"', maxTokens: 60 });
  assert.equal(opened.text(outcome.tokens), 'yes 🙂!');
  assert.equal(outcome.finish, FINISH_EOG);
  await opened.close();
});

test('logprobs are of the raw distribution: they add up, the best comes first, the chosen is among them', async () => {
  const opened = await Generations.open(tinyPath());
  const prompt = opened.tokens('tes ne re hi');
  const greedy = await opened.run(prompt, { topLogprobs: 5 });
  assert.equal(greedy.logprobs.length, greedy.tokens.length);
  for (const [i, { logprob, top }] of greedy.logprobs.entries()) {
    assert.equal(top.length, 5);
    assert.equal(top[0]!.token, greedy.tokens[i]);
    assert.equal(top[0]!.logprob, logprob);
    for (let k = 1; k < 5; k += 1) assert.ok(top[k]!.logprob <= top[k - 1]!.logprob);
    const sum = top.reduce((total, { logprob: each }) => total + Math.exp(each), 0);
    assert.ok(sum > 0 && sum <= 1 + 1e-9, `${sum}`);
  }
  // Every token of the vocabulary, 20 at a time, each forced by a bias: together they are certain.
  let total = 0;
  for (let token = 0; token < opened.scheduler.info.vocabularySize; token += 1) {
    if (opened.scheduler.isEndOfGeneration(token)) continue;
    const bias = { biasTokens: new Int32Array([token]), biasValues: new Float32Array([1000]) };
    const { logprobs, tokens } = await opened.run(prompt, { ...bias, maxTokens: 1, topLogprobs: 0 });
    assert.deepEqual([tokens[0], logprobs[0]!.top.length], [token, 0]);
    total += Math.exp(logprobs[0]!.logprob);
  }
  assert.ok(Math.abs(total - 1) < 0.02, `the probabilities add up to ${total}`);
  await opened.close();
});

test('the thinking budget forces the end tag, token by token, and counts without the tags', async () => {
  const opened = await Generations.open(tinyPath());
  const prompt = opened.tokens('tes ne re');
  const thinkStart = opened.tokens('<t>');
  const thinkEnd = opened.tokens('</t>');
  assert.ok(thinkEnd.length > 1, 'a tag of several tokens is the harder case');
  for (const thinkingBudget of [0, 1, 5]) {
    const outcome = await opened.run(prompt, { startsInThinking: true, thinkingBudget, thinkStart, thinkEnd, maxTokens: 20 });
    assert.deepEqual(outcome.tokens.slice(thinkingBudget, thinkingBudget + thinkEnd.length), [...thinkEnd]);
    assert.deepEqual([outcome.thinking, outcome.generated, outcome.finish], [thinkingBudget, 20, FINISH_LENGTH]);
  }
  const free = await opened.run(prompt, { startsInThinking: true, thinkStart, thinkEnd, maxTokens: 20 });
  assert.equal(free.thinking, 20);
  const grammar = 'root ::= "yes"';
  const then = await opened.run(prompt, { startsInThinking: true, thinkingBudget: 3, thinkStart, thinkEnd, grammar, maxTokens: 20 });
  assert.equal(opened.text(then.tokens.slice(3)), '</t>yes');
  assert.equal(then.finish, FINISH_EOG);
  await opened.close();
});
