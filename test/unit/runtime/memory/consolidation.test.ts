import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { cursorOf } from '../../../../runtime/memory/consolidation/kind.js';
import type { MemoryRecord, MemoryStore, NewMemory } from '../../../../runtime/memory/contract.js';
import { exportLines, importLines } from '../../../../runtime/memory/transfer.js';
import type { TaskItem } from '../../../../runtime/tasks/contract.js';
import { EVERYTHING, factsOf, type MemoryStage, openOwnStage, openStage, SMALL_BATCHES } from '../../../support/memory/stage.js';
import { until } from '../../../support/until.js';

setLogLevel('error');
const never = new AbortController().signal;
/** How long a consolidation is waited for, which takes no time but on a machine that is busy. */
const PATIENCE_MS = 120_000;
const said = (text: string): NewMemory => ({ type: 'chat', data: text, text });

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'quern-consolidation-'));

const stageOf = (t: TestContext, config?: typeof EVERYTHING) => openOwnStage((close) => t.after(close), config);

const PEOPLE = Array.from({ length: 120 }, (_none, at) => `Person${at} lives in Town${at}.`);
const LIVES = PEOPLE.map((_text, at) => `Person${at} | lives_in | Town${at}`);

async function add(store: MemoryStore, texts: readonly string[]): Promise<void> {
  await store.write({ add: texts.map(said) });
}

test('each record is read once: a second run goes on behind the first', async (t) => {
  const { store, mind } = await stageOf(t);
  await add(store, ['I live in Bern.', 'It rains.']);
  const first = await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.deepEqual([first.isDone, first.info.records_processed, first.info.facts_extracted], [true, 2, 1]);
  assert.equal((await mind.consolidate(store, false, PATIENCE_MS, never)).info.records_processed, 0);
  await add(store, ['My dog is called Rex.']);
  assert.equal((await mind.consolidate(store, false, PATIENCE_MS, never)).info.records_processed, 1);
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bern', 'user | dog | Rex']);
});

test('what is added during an import waits for its end, so that nothing of either is passed over', async (t) => {
  const { store, mind } = await stageOf(t);
  const part = { go: (): void => undefined };
  const gone = new Promise<void>((resolve) => {
    part.go = resolve;
  });
  async function* parts(): AsyncGenerator<NewMemory[]> {
    yield [said('I live in Bern.')];
    await gone;
    yield [said('My dog is called Rex.')];
  }
  const importing = store.addTogether(2, parts());
  await add(store, ['Lena lives in Turin.']);
  assert.equal((await mind.consolidate(store, false, PATIENCE_MS, never)).info.records_processed, 0);
  part.go();
  await importing;
  assert.equal((await mind.consolidate(store, false, PATIENCE_MS, never)).info.records_processed, 3);
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bern', 'user | dog | Rex', 'Lena | lives_in | Turin']);
});

test('a store that was exported and imported keeps its facts on their nodes, and takes none anew', async (t) => {
  const { store, mind } = await stageOf(t);
  const of = (text: string, time: string): NewMemory => ({ ...said(text), timeMs: Date.parse(time), who: { user: 'mira' } });
  await store.write({
    add: [of('I live in Bergen. My sister Ife is a cook.', '2025-01-01'), of('I moved to Oslo. I like opera.', '2025-03-01')],
  });
  await mind.consolidate(store, false, PATIENCE_MS, never);
  const edgesOf = async (): Promise<unknown[]> => {
    const edges: unknown[] = [];
    for await (const { edge, valid } of store.records({ types: ['fact'] })) edges.push([edge, valid]);
    return edges;
  };
  const [facts, { records, kinds }] = [await edgesOf(), store.counts()];
  assert.ok(facts.length >= 4);
  const exported: Uint8Array[] = [];
  for await (const piece of exportLines(store)) exported.push(piece);
  const file = join(newFolder(), 'memory.jsonl');
  t.after(() => rmSync(join(file, '..'), { recursive: true, force: true }));
  writeFileSync(file, Buffer.concat(exported));
  await store.clear('all');
  await importLines(store, file, never);
  assert.deepEqual(await edgesOf(), facts);
  assert.equal((await store.graph!.edges('user:mira', { relation: 'lives_in' })).length, 1);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.deepEqual([store.counts().records, store.counts().kinds], [records, kinds]);
  await store.write({ add: [of('I moved to Tromsø.', '2025-05-01')] });
  await mind.consolidate(store, false, PATIENCE_MS, never);
  const homes = await store.graph!.edges('user:mira', { relation: 'lives_in' });
  assert.deepEqual(
    homes.map(({ edge }) => edge!.to),
    ['Tromsø'],
  );
});

test('a run that is killed goes on, and reads no record twice or not at all', async (t) => {
  const dataDir = newFolder();
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const before = await openStage(dataDir, SMALL_BATCHES);
  await add(before.store, PEOPLE);
  await before.close();
  for (const batches of [3, 11]) {
    const child = fork(join(import.meta.dirname, 'consolidating-child.js'), [dataDir], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    let seen = 0;
    child.on('message', () => {
      seen += 1;
      if (seen === batches) child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.once('close', resolve));
  }
  const { store, mind, close } = await openStage(dataDir, SMALL_BATCHES);
  const last = await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.equal(last.isDone, true);
  assert.deepEqual((await factsOf(store)).toSorted(), LIVES.toSorted());
  await close();
});

test('a run that is cancelled is taken back: its facts go, and what they ended holds again', async (t) => {
  const { store, mind, tasks } = await stageOf(t, SMALL_BATCHES);
  await add(store, ['I live in Bern.']);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  const cursor = cursorOf(store);
  await add(store, ['I moved to Oslo.', ...PEOPLE]);
  const begun = new Promise<void>((resolve) => store.watch(({ added }) => added.some(({ type }) => type === 'fact') && resolve()));
  const { taskId, isDone } = await mind.consolidate(store, false, 1, never);
  assert.equal(isDone, false);
  await begun;
  assert.equal(await mind.consolidating(store), taskId);
  const reply = await tasks.cancel('n', 'p', taskId);
  assert.equal(reply.cancelled, true);
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bern']);
  assert.equal(cursorOf(store), cursor);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.deepEqual((await factsOf(store)).toSorted(), ['~user | lives_in | Bern', 'user | lives_in | Oslo', ...LIVES].toSorted());
});

test('a store is consolidated by itself when enough records wait', async (t) => {
  const { store } = await stageOf(t, {
    ...EVERYTHING,
    consolidation: { ...EVERYTHING.consolidation, interval_seconds: 1, min_records: 2 },
  });
  await add(store, ['I live in Bern.']);
  await sleep(1300);
  assert.deepEqual(await factsOf(store), []);
  await add(store, ['My dog is called Rex.']);
  await until(async () => (await factsOf(store)).length >= 2, 'the records are consolidated');
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bern', 'user | dog | Rex']);
});

test('what was consolidated stays when working memory lets go of it, and nothing is removed by consolidation', async (t) => {
  const { store, mind } = await stageOf(t, { ...EVERYTHING, working_memory: { enabled: true, ttl_seconds: 3600, max_records: 3 } });
  await add(store, ['I live in Bern.', 'My dog is called Rex.']);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.equal(store.counts().kinds.working_memory, 2);
  await add(store, ['one', 'two', 'three', 'four']);
  await store.prune();
  assert.equal(store.counts().kinds.working_memory, 3);
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bern', 'user | dog | Rex']);
  const [best] = await mind.recall('n', 'p', undefined, { text: 'Where do I live?' }, never);
  assert.deepEqual([best?.record.type, best?.facts[0]?.object], ['fact', 'Bern']);
});

test('summaries are sentences that were said, and outlive them', async (t) => {
  const { store, mind } = await stageOf(t, { ...EVERYTHING, consolidation: { ...EVERYTHING.consolidation, extract_summaries: true } });
  const texts = [
    'The harbour was cold.',
    'The harbour had ice at the old pier.',
    'We walked along the old pier to the lighthouse.',
    'The lighthouse keeper gave us tea.',
  ];
  await add(store, [...texts, ...texts.map((text) => text.replace('.', ' again.')), 'The ice at the pier sang all night long.']);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  const summaries: string[] = [];
  for await (const { node, text } of store.records({ types: ['node'] })) if (node?.name.startsWith('Summary of ')) summaries.push(text);
  assert.equal(summaries.length, 1);
  for (const sentence of summaries[0]!.split(/(?<=\.) /))
    assert.ok(texts.some((text) => sentence.startsWith(text.slice(0, -1))) || sentence.startsWith('The ice'), sentence);
});

test('a session of one user is summed up once, also where some of it says no user', async (t) => {
  const { store, mind } = await stageOf(t, { ...EVERYTHING, consolidation: { ...EVERYTHING.consolidation, extract_summaries: true } });
  const texts = Array.from({ length: 20 }, (_none, at) => `The boat of the day ${at} was the red one.`);
  await store.write({
    add: texts.map((text, at) => ({ ...said(text), who: at % 2 === 0 ? { session: 's', user: 'ann' } : { session: 's' } })),
  });
  await mind.consolidate(store, false, PATIENCE_MS, never);
  const whose: unknown[] = [];
  for await (const { node, who } of store.records({ types: ['node'] })) if (node?.name.startsWith('Summary of ')) whose.push(who);
  assert.deepEqual(whose, [{ user: 'ann', session: 's' }]);
});

/** Opens a store in which `whileRead` happens between the reading of a first batch and its writing. */
async function interrupted(t: TestContext, whileRead: (stage: MemoryStage) => Promise<unknown>): Promise<MemoryStage> {
  const stage = await stageOf(t);
  const write = stage.store.write.bind(stage.store);
  stage.store.write = async (change) => {
    if (change.notes) {
      stage.store.write = write;
      await whileRead(stage);
    }
    return write(change);
  };
  return stage;
}

const graphOf = async (store: MemoryStore): Promise<string[]> => {
  const found: string[] = [];
  for await (const { type, who, text } of store.records({ types: ['fact', 'node'] })) found.push(`${type} ${who?.user ?? ''} ${text}`);
  return found;
};

test('what is forgotten while a run reads it leaves no fact and no node, and ends nothing', async (t) => {
  const { store, mind } = await interrupted(t, ({ store }) => store.forget({ user: 'v2' }));
  const [first] = await store.write({ add: [{ ...said('I live in Bern.'), who: { user: 'v1' } }] });
  await store.write({ add: [{ ...said('I live in Oslo. Anna Berg works at Siemens.'), who: { user: 'v2' } }] });
  const { info } = await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.equal(info.records_processed, 2);
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bern']);
  assert.ok((await graphOf(store)).every((one) => one.includes('v1')));
  assert.ok(store.get(first!.id));
});

test('what a forgotten saying of the same batch would have ended goes on to hold', async (t) => {
  let later = '';
  const { store, mind } = await interrupted(t, ({ mind, store }) => mind.forget(store, [later]));
  await store.write({ add: [said('I live in Bern.')] });
  later = (await store.write({ add: [said('I moved to Oslo.')] }))[0]!.id;
  await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bern']);
});

test('a store that is cleared while a run reads it stays empty, and what comes then is read', async (t) => {
  const { store, mind } = await interrupted(t, async ({ mind, store }) => {
    await mind.clear(store, 'all');
    await add(store, ['I live in Oslo.']);
  });
  await add(store, ['I live in Bern. Anna Berg works at Siemens.']);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.deepEqual(await factsOf(store), ['user | lives_in | Oslo']);
});

test('a graph that was cleared is made anew of all that is there', async (t) => {
  const { store, mind } = await stageOf(t);
  await add(store, ['I live in Bern.', 'My dog is called Rex.']);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  const before = await graphOf(store);
  await mind.clear(store, 'graph');
  assert.deepEqual(await graphOf(store), []);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  assert.deepEqual(await graphOf(store), before);
});

test('what a forgotten saying had ended holds again, or until what came after it', async (t) => {
  const { store, mind } = await stageOf(t);
  const texts = ['I live in Bergen.', 'I moved to Tromsø.', 'I moved to Oslo.'];
  const ids: string[] = [];
  for (const [at, text] of texts.entries())
    ids.push((await store.write({ add: [{ ...said(text), timeMs: Date.parse(`2025-0${at + 1}-01`) }] }))[0]!.id);
  await mind.consolidate(store, false, PATIENCE_MS, never);
  const walks = t.mock.method(store, 'records');
  await mind.forget(store, [ids[1]!]);
  assert.equal(walks.mock.callCount(), 0, 'all records were walked');
  walks.mock.restore();
  assert.deepEqual(await factsOf(store), ['~user | lives_in | Bergen', 'user | lives_in | Oslo']);
  const facts: MemoryRecord[] = [];
  for await (const fact of store.records({ types: ['fact'] })) facts.push(fact);
  assert.deepEqual([facts[0]!.valid?.toMs, facts[0]!.supersededBy], [Date.parse('2025-03-01'), facts[1]!.id]);
  await mind.forget(store, [ids[2]!]);
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bergen']);
  const [best] = await mind.recall('n', 'p', undefined, { text: 'Where do I live?' }, never);
  assert.equal(best?.facts[0]?.holds, true);
});

test('thousands of records are forgotten, and a run of thousands of facts is taken back', async (t) => {
  const { store, mind } = await stageOf(t);
  const ids: string[] = [];
  for (let from = 0; from < 1_200; from += 600) {
    const texts = Array.from({ length: 600 }, (_none, at) => `Person${from + at} lives in Town${from + at}.`);
    ids.push(...(await store.write({ add: texts.map(said) })).map(({ id }) => id));
  }
  const { taskId } = await mind.consolidate(store, false, PATIENCE_MS, never);
  const item = { namespace: 'n', project: 'p', input: { store: 'main', after_seq: 0, run: await runOf(store), use_llm: false } };
  assert.ok(taskId);
  assert.ok((await mind.kind.revert(item as unknown as TaskItem)) >= 1_200);
  assert.deepEqual([await factsOf(store), cursorOf(store)], [[], 0]);
  assert.equal((await mind.forget(store, ids)).length, 1_200);
  assert.equal(store.counts().records, 0);
});

async function runOf(store: MemoryStore): Promise<string> {
  for await (const { metadata } of store.records({ types: ['fact'] })) return metadata!.run as string;
  throw new Error('there is no fact');
}

test('a name that two users say stays when one of them is forgotten', async (t) => {
  const { store, mind } = await stageOf(t);
  for (const user of ['ann', 'bob']) {
    await store.write({ add: [{ ...said('Eva Lund works at Siemens.'), who: { user } }] });
    await mind.consolidate(store, false, PATIENCE_MS, never);
  }
  await store.forget({ user: 'ann' });
  assert.equal((await store.graph!.node('Siemens'))?.who?.user, 'bob');
});
