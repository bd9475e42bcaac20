import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '../../models/writers/random.js';
import { FINISH_FAILED } from '../../native/contract.js';
import { checkAdapter } from '../../runtime/formats/gguf/adapter.js';
import { ggufHeader } from '../../runtime/formats/gguf/header.js';
import { Failure } from '../../schemas/errors.js';
import { packedPath, tinyPath } from '../support/models/cache.js';
import { packedTurningPath, poisonPath, turningPath } from '../support/models/lora-adapter.js';
import { EXACT, Generations, type Outcome } from './generations.js';

const PROMPT = Int32Array.from({ length: 80 }, (_, i) => 260 + ((i * 37) % 240));

const use = (...uses: readonly (readonly [id: number, scale: number])[]) => ({
  adapterIds: Int32Array.from(uses, ([id]) => id),
  adapterScales: Float32Array.from(uses, ([, scale]) => scale),
  topLogprobs: 2,
});

const shown = ({ tokens, logprobs }: Outcome): unknown => ({ tokens, logprobs });

test('an adapter changes the text, more with its scale, and not at all with a scale of 0', async () => {
  const opened = await Generations.open(tinyPath(), EXACT);
  const plain = shown(await opened.run(PROMPT, { topLogprobs: 2, deterministic: true }));
  const one = await opened.scheduler.loadAdapter(turningPath(1));
  const texts = new Map<number, string>();
  for (const scale of [0, 0.5, 1, -1])
    texts.set(scale, JSON.stringify(shown(await opened.run(PROMPT, { ...use([one, scale]), deterministic: true }))));
  assert.equal(texts.get(0), JSON.stringify(plain));
  assert.equal(new Set(texts.values()).size, 4, 'each scale gives its own numbers');
  assert.equal(
    JSON.stringify(shown(await opened.run(PROMPT, { topLogprobs: 2, deterministic: true }))),
    JSON.stringify(plain),
    'afterwards',
  );
  await opened.close();
});

test('the weights that our own kernel takes are adapted too', async () => {
  const opened = await Generations.open(packedPath(), EXACT);
  const one = await opened.scheduler.loadAdapter(packedTurningPath());
  const plain = await opened.run(PROMPT, { deterministic: true });
  assert.notDeepEqual((await opened.run(PROMPT, { ...use([one, 1]), deterministic: true })).tokens, plain.tokens);
  await opened.close();
});

for (const unifiedKv of [false, true])
  test(`many at once with different adapters give what each gives alone, in a ${unifiedKv ? 'shared' : 'split'} buffer`, async () => {
    const alone = await Generations.open(tinyPath(), EXACT);
    const load = async (opened: Generations) => [
      await opened.scheduler.loadAdapter(turningPath(1)),
      await opened.scheduler.loadAdapter(turningPath(5)),
    ];
    const setsOf = ([one, two]: number[]) => [use(), use([one!, 1]), use([two!, 1]), use([one!, 1], [two!, 0.5]), use([one!, 2])];
    const wanted: number[][] = [];
    for (const set of setsOf(await load(alone))) {
      // Nothing of the text before is at hand.
      await alone.run(Int32Array.of(300, 301));
      wanted.push((await alone.run(PROMPT, set)).tokens);
    }
    assert.equal(new Set(wanted.map(String)).size, 5);
    await alone.close();
    const opened = await Generations.open(tinyPath(), { ...EXACT, slots: 8, unifiedKv });
    const sets = setsOf(await load(opened));
    for (const round of ['cold', 'warm']) {
      const outcomes = await Promise.all([...sets, ...sets].map((set) => opened.run(PROMPT, set)));
      assert.deepEqual(
        outcomes.map(({ tokens }) => tokens),
        [...wanted, ...wanted],
        round,
      );
      if (round === 'warm') for (const { reused } of outcomes) assert.ok(reused >= 64, 'each set finds its own beginning');
    }
    await opened.close();
  });

test('a beginning that was read with an adapter is no beginning for others', async () => {
  const opened = await Generations.open(tinyPath(), { ...EXACT, slots: 2 });
  const one = await opened.scheduler.loadAdapter(turningPath(1));
  assert.equal((await opened.run(PROMPT, use([one, 1]))).reused, 0);
  assert.equal((await opened.run(PROMPT, use())).reused, 0, 'the weights alone');
  assert.equal((await opened.run(PROMPT, use([one, 0.5]))).reused, 0, 'another scale');
  assert.equal((await opened.run(PROMPT, use([one, 0.5]))).reused, PROMPT.length - 1);
  await opened.close();
});

test('an adapter that was dropped is gone for those that name it, and its memory for all', async () => {
  const opened = await Generations.open(tinyPath(), EXACT);
  const one = await opened.scheduler.loadAdapter(turningPath(1));
  await opened.run(PROMPT, use([one, 1]));
  assert.ok(opened.scheduler.stats().kvUsed! > 0);
  await opened.scheduler.dropAdapter(one);
  const failed = await opened.run(PROMPT, use([one, 1]));
  assert.equal(failed.finish, FINISH_FAILED);
  assert.match(failed.error, /Adapter 1 is not loaded/);
  assert.equal(opened.scheduler.stats().kvUsed, 0, 'what was read with it went too');
  assert.equal((await opened.run(PROMPT, use())).generated, 16);
  assert.notEqual(await opened.scheduler.loadAdapter(turningPath(1)), one);
  await opened.close();
});

test('adapters that cannot be are refused', async () => {
  const opened = await Generations.open(tinyPath(), EXACT);
  await assert.rejects(opened.scheduler.loadAdapter(tinyPath()), { kind: 'invalid', message: /adapter/ });
  await assert.rejects(opened.scheduler.loadAdapter(packedTurningPath()), { kind: 'invalid', message: /shape/ });
  await assert.rejects(opened.scheduler.loadAdapter('/nowhere.gguf'), { kind: 'invalid' });
  const one = await opened.scheduler.loadAdapter(turningPath(1));
  for (const uses of [
    [[one, Number.NaN]],
    [[one, 101]],
    [
      [one, 1],
      [one, 1],
    ],
    Array.from({ length: 9 }, (_, i) => [i, 1]),
  ] as [number, number][][])
    assert.throws(() => opened.start(PROMPT, use(...uses)), { kind: 'invalid', message: /adapter/ });
  assert.throws(() => opened.start(PROMPT, { ...use([one, 1]), adapterScales: new Float32Array(0) }), { kind: 'invalid' });
  await opened.close();
  await assert.rejects(opened.scheduler.loadAdapter(turningPath(1)), { kind: 'unavailable' });
});

for (const flashAttention of [false, true])
  for (const unifiedKv of [false, true])
    test(`an adapter whose numbers are none spoils only its own texts: flash attention ${flashAttention}, shared buffer ${unifiedKv}`, async () => {
      const opened = await Generations.open(tinyPath(), { ...EXACT, flashAttention, unifiedKv, slots: 3 });
      const others = [PROMPT.subarray(7, 40), PROMPT.subarray(20)];
      const wanted = [];
      for (const tokens of others) wanted.push((await opened.run(tokens)).tokens);
      const poison = await opened.scheduler.loadAdapter(poisonPath());
      for (const deterministic of [false, true]) {
        const spoilt = opened.run(PROMPT, { ...use([poison, 1]), deterministic });
        const beside = await Promise.all(others.map((tokens) => opened.run(tokens, { deterministic })));
        assert.match((await spoilt).error, /no (?:usable probabilities|numbers)/);
        const after = [];
        for (const tokens of others) after.push(await opened.run(tokens, { deterministic }));
        for (const outcomes of [beside, after])
          assert.deepEqual(
            // The error of a step is told with all that ended in it.
            outcomes.map(({ tokens, error, finish }) => (finish === FINISH_FAILED ? error : tokens)),
            wanted,
          );
      }
      await opened.close();
    });

test('damaged adapters are refused by their names, and the engine lives through those that still fit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quern-adapters-'));
  const file = join(folder, 'damaged.gguf');
  const sound = readFileSync(turningPath(1));
  const header = await ggufHeader(tinyPath());
  const opened = await Generations.open(tinyPath(), EXACT);
  const random = seededRandom(3);
  const HEAD_BYTES = 500;
  const damaged = [
    ...Array.from({ length: 1200 }, () => {
      const bytes = Buffer.from(sound);
      bytes[Math.floor(random.next() * HEAD_BYTES)]! ^= 1 << Math.floor(random.next() * 8);
      return bytes;
    }),
    ...Array.from({ length: 120 }, (_, i) => sound.subarray(0, i < 100 ? i * 5 : Math.floor((sound.length * (i - 100)) / 20))),
  ];
  let refused = 0;
  for (const bytes of damaged) {
    writeFileSync(file, bytes);
    try {
      await checkAdapter(file, header);
    } catch (error) {
      assert.ok(error instanceof Failure && error.kind === 'invalid', String(error));
      assert.match(error.message, /damaged\.gguf/);
      refused += 1;
      continue;
    }
    // What passes may still be refused by the engine, in words.
    const id = await opened.scheduler.loadAdapter(file).catch((error: unknown) => assert.ok(error instanceof Failure));
    if (id === undefined) continue;
    const { error } = await opened.run(Int32Array.of(300, 301, 302), { ...use([id, 1]), maxTokens: 2 });
    assert.ok(error === '' || error.startsWith('The model '), error);
    await opened.scheduler.dropAdapter(id);
  }
  assert.ok(refused > damaged.length / 2 && refused < damaged.length, `${refused}`);
  await opened.close();
  rmSync(folder, { recursive: true });
});
