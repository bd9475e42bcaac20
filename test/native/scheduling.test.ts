import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINISH_ABORTED, FINISH_LENGTH } from '../../native/contract.js';
import { Failure } from '../../schemas/errors.js';
import { packedPath, tinyPath } from '../support/models/cache.js';
import { EXACT, Generations, GREEDY, type Outcome } from './generations.js';

/** Reproducible prompt of `length` tokens. */
function prompt(seed: number, length: number): Int32Array {
  let state = seed * 2654435761;
  return Int32Array.from({ length }, () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return 260 + (state % 240);
  });
}

test('greedy text does not change from run to run', async () => {
  const opened = await Generations.open(tinyPath());
  const first = await opened.run(prompt(1, 40));
  await opened.run(prompt(2, 40));
  const second = await opened.run(prompt(1, 40));
  assert.deepEqual(second.tokens, first.tokens);
  assert.equal(first.finish, FINISH_LENGTH);
  assert.equal(first.generated, 16);
  await opened.close();
});

test('32 at once give what each gives alone', async () => {
  const alone = await Generations.open(tinyPath(), EXACT);
  const wanted = (await alone.run(prompt(3, 50), { maxTokens: 32 })).tokens;
  await alone.close();
  const opened = await Generations.open(tinyPath(), { ...EXACT, slots: 32 });
  const outcomes = await Promise.all(Array.from({ length: 32 }, () => opened.run(prompt(3, 50), { maxTokens: 32 })));
  for (const outcome of outcomes) assert.deepEqual(outcome.tokens, wanted);
  assert.equal(opened.scheduler.stats().active, 0);
  await opened.close();
});

test('different prompts on few slots all end, in a split and in a unified buffer, as when alone', async () => {
  const prompts = Array.from({ length: 12 }, (_, i) => prompt(10 + i, 5 + i * 17));
  const alone = await Generations.open(tinyPath(), EXACT);
  const wanted: number[][] = [];
  for (const tokens of prompts) wanted.push((await alone.run(tokens)).tokens);
  await alone.close();
  for (const unifiedKv of [false, true]) {
    const opened = await Generations.open(tinyPath(), { ...EXACT, slots: 3, unifiedKv });
    const outcomes = await Promise.all(prompts.map((tokens) => opened.run(tokens)));
    assert.deepEqual(
      outcomes.map((outcome) => outcome.tokens),
      wanted,
      `unified ${unifiedKv}`,
    );
    await opened.close();
  }
});

const DETERMINISTIC: [name: string, path: () => string, options: Parameters<typeof Generations.open>[1], sampling: object][] = [
  ['at temperature 0', tinyPath, {}, {}],
  ['drawn with a seed', tinyPath, {}, { temperature: 1.5, seed: 7 }],
  ['in a shared buffer with quantised values', tinyPath, { unifiedKv: true, cacheTypeK: 'q8_0', cacheTypeV: 'q8_0' }, {}],
  ['with 8-bit weights and two threads', packedPath, { threads: 2 }, { temperature: 0.8, seed: 11 }],
];
for (const [name, path, options, sampling] of DETERMINISTIC)
  test(`a deterministic text is the same to the last bit whatever else runs and ran: ${name}`, async () => {
    const opened = await Generations.open(path(), { slots: 4, ...options });
    const wanted = { ...sampling, deterministic: true, topLogprobs: 2, maxTokens: 16 };
    const asked = prompt(5, 200);
    const shown = ({ tokens, logprobs, reused }: Outcome): unknown => ({ tokens, logprobs, reused });
    const alone = shown(await opened.run(asked, wanted));
    assert.deepEqual(shown(await opened.run(asked, wanted)), alone, 'repeated');
    // One of the neighbours has the same prompt, so that its keys and values are at hand.
    const neighbours = Array.from({ length: 6 }, (_, i) => opened.start(prompt(5 + i, 200 - i * 7), { maxTokens: 24 }).done);
    const [one, other] = await Promise.all([opened.run(asked, wanted), opened.run(asked, wanted)]);
    assert.deepEqual([shown(one), shown(other)], [alone, alone], 'among others');
    await Promise.all(neighbours);
    assert.deepEqual(shown(await opened.run(asked, wanted)), alone, 'after others');
    await opened.close();
  });

test('warming up leaves neither tokens nor counts behind', async () => {
  for (const warmUp of [true, false]) {
    const opened = await Generations.open(tinyPath(), { warmUp, slots: 2 });
    const idle = { active: 0, queued: 0, steps: 0, decodedTokens: 0, prefilledTokens: 0, reusedTokens: 0, kvUsed: 0 };
    assert.deepEqual(opened.scheduler.stats(), idle);
    const warm = Int32Array.from({ length: 64 }, (_, i) => i);
    assert.equal((await opened.run(warm)).reused, 0, `warm-up ${warmUp}`);
    await opened.close();
  }
});

test('an abort frees the slot: in the queue, inside a prefill, while decoding', async () => {
  const opened = await Generations.open(tinyPath(), { ubatch: 8 });
  const decoding = opened.start(prompt(1, 20), { maxTokens: 480 }, (count) => {
    if (count === 5) opened.scheduler.abort(decoding.id);
  });
  const queued = opened.start(prompt(2, 20));
  opened.scheduler.abort(queued.id);
  const waited = await queued.done;
  assert.deepEqual([waited.finish, waited.generated, waited.tokens], [FINISH_ABORTED, 0, []]);
  const cut = await decoding.done;
  assert.equal(cut.finish, FINISH_ABORTED);
  assert.ok(cut.generated >= 5 && cut.generated < 480);
  const before = opened.scheduler.stats().prefilledTokens!;
  const prefilling = opened.start(prompt(3, 500), { maxTokens: 2 });
  setImmediate(() => opened.scheduler.abort(prefilling.id));
  const stopped = await prefilling.done;
  assert.deepEqual([stopped.finish, stopped.generated], [FINISH_ABORTED, 0]);
  assert.ok(opened.scheduler.stats().prefilledTokens! - before < 500);
  assert.equal(opened.scheduler.stats().active, 0);
  assert.equal((await opened.run(prompt(4, 10))).generated, 16);
  await opened.close();
});

test('a turn reuses the tokens of the one before', async () => {
  const opened = await Generations.open(tinyPath());
  const question = prompt(1, 60);
  const first = await opened.run(question);
  assert.deepEqual([first.promptTokens, first.reused], [60, 0]);
  const again = await opened.run(question);
  assert.deepEqual([again.reused, again.tokens], [59, first.tokens]);
  const next = Int32Array.from([...question, ...first.tokens, ...prompt(9, 8)]);
  const turn = await opened.run(next);
  // The last token of an answer was never decoded.
  assert.deepEqual([turn.promptTokens, turn.reused], [84, 75]);
  const edited = Int32Array.from([...question.subarray(0, 30), ...prompt(5, 20)]);
  assert.equal((await opened.run(edited)).reused, 30);
  assert.equal(opened.scheduler.stats().reusedTokens, 59 + 75 + 30);
  await opened.close();
});

test('a beginning is shared by sequences that run at the same time, and decoded once', async () => {
  const alone = await Generations.open(tinyPath(), EXACT);
  const system = prompt(1, 200);
  const prompts = Array.from({ length: 4 }, (_, i) => Int32Array.from([...system, ...prompt(20 + i, 6)]));
  const wanted: number[][] = [];
  for (const tokens of prompts) wanted.push((await alone.run(tokens)).tokens);
  await alone.close();
  for (const unifiedKv of [false, true]) {
    const opened = await Generations.open(tinyPath(), { ...EXACT, slots: 4, unifiedKv });
    const outcomes = await Promise.all(prompts.map((tokens) => opened.run(tokens)));
    assert.deepEqual(
      outcomes.map((outcome) => [outcome.reused, ...outcome.tokens]),
      wanted.map((tokens, i) => [i === 0 ? 0 : 200, ...tokens]),
      `unified ${unifiedKv}`,
    );
    assert.ok(opened.scheduler.stats().prefilledTokens! < 300);
    await opened.close();
  }
});

test('a unified buffer that is too small drops idle histories, then lets sequences wait, and none is lost', async () => {
  const prompts = Array.from({ length: 6 }, (_, i) => prompt(40 + i, 150));
  const alone = await Generations.open(tinyPath(), EXACT);
  const wanted: number[][] = [];
  for (const tokens of prompts) wanted.push((await alone.run(tokens, { maxTokens: 40 })).tokens);
  await alone.close();
  const opened = await Generations.open(tinyPath(), { ...EXACT, slots: 4, unifiedKv: true, kvCells: 512 });
  const outcomes = await Promise.all(prompts.map((tokens) => opened.run(tokens, { maxTokens: 40 })));
  assert.deepEqual(
    outcomes.map((outcome) => [outcome.finish, outcome.generated, outcome.error]),
    prompts.map(() => [FINISH_LENGTH, 40, '']),
  );
  assert.deepEqual(
    outcomes.map((outcome) => outcome.tokens),
    wanted,
  );
  await opened.close();
});

test('a full context ends the text', async () => {
  const opened = await Generations.open(tinyPath());
  const outcome = await opened.run(prompt(1, 500), { maxTokens: 100 });
  assert.deepEqual([outcome.finish, outcome.generated], [FINISH_LENGTH, 13]);
  const whole = await opened.run(prompt(2, 512), { maxTokens: 100 });
  assert.deepEqual([whole.finish, whole.generated], [FINISH_LENGTH, 1]);
  const nothing = await opened.run(prompt(3, 5), { maxTokens: 0 });
  assert.deepEqual([nothing.finish, nothing.generated, nothing.tokens], [FINISH_LENGTH, 0, []]);
  await opened.close();
});

test('the queue holds 1024 and refuses the next', async () => {
  const opened = await Generations.open(tinyPath());
  const started: { id: number; done: Promise<unknown> }[] = [];
  let refused: unknown;
  // One runs at most, so that the 1026th finds the queue full whatever the worker did meanwhile.
  for (let i = 0; i < 1100 && refused === undefined; i += 1) {
    try {
      started.push(opened.start(prompt(i, 4), { maxTokens: 400 }));
    } catch (error) {
      refused = error;
    }
  }
  assert.ok(refused instanceof Failure && refused.kind === 'busy', String(refused));
  assert.match(refused.message, /1024/);
  assert.ok(started.length >= 1024 && started.length <= 1030, `${started.length} were taken`);
  for (const { id } of started) opened.scheduler.abort(id);
  await Promise.all(started.map(({ done }) => done));
  const { active, queued } = opened.scheduler.stats();
  assert.deepEqual([active, queued], [0, 0]);
  await opened.close();
});

test('an id may not be used twice at a time', async () => {
  const opened = await Generations.open(tinyPath());
  const first = opened.start(prompt(1, 4), { maxTokens: 400 });
  const repeat = (): void => opened.scheduler.submit(first.id, prompt(1, 4), GREEDY);
  assert.throws(repeat, (error) => error instanceof Failure && error.kind === 'conflict');
  opened.scheduler.abort(first.id);
  await first.done;
  await opened.close();
});
