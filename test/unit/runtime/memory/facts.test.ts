import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groundedStatement } from '../../../../runtime/memory/consolidation/by-model.js';
import type { MemoryRecord } from '../../../../runtime/memory/contract.js';
import { factsOf, openMemory, openOwnStage, say } from '../../../support/memory/stage.js';

const day = (text: string): { timeMs: number } => ({ timeMs: Date.parse(text) });

test('a contradiction keeps both facts with their times; the newer one holds', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I live in Bergen.', day('2025-01-01'));
  await say(store, 'I moved to Oslo.', day('2025-03-01'));
  assert.deepEqual(await factsOf(store), ['~user | lives_in | Bergen', 'user | lives_in | Oslo']);
  const facts: MemoryRecord[] = [];
  for await (const fact of store.records({ types: ['fact'] })) facts.push(fact);
  assert.deepEqual(facts[0]?.valid, { fromMs: Date.parse('2025-01-01'), toMs: Date.parse('2025-03-01') });
  assert.equal(facts[0]?.supersededBy, facts[1]?.id);
  assert.equal(facts[1]?.supersededBy, undefined);
});

test('an older saying that comes late ends where the newer one begins', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I live in Oslo.', day('2025-03-01'));
  await say(store, 'I live in Bergen.', day('2025-01-01'));
  assert.deepEqual(await factsOf(store), ['user | lives_in | Oslo', '~user | lives_in | Bergen']);
});

test('a saying that comes late stands between those of the times around it', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I live in Ghent.', day('2025-01-01'));
  await say(store, 'I live in Paris.', day('2025-03-01'));
  await say(store, 'I live in Turin.', day('2025-02-01'));
  await say(store, 'I live in Ghent.', day('2025-01-01'));
  const times: unknown[] = [];
  for await (const { data, valid } of store.records({ types: ['fact'] }))
    times.push([(data as { object: string }).object, valid!.fromMs, valid!.toMs]);
  const [january, february, march] = ['2025-01-01', '2025-02-01', '2025-03-01'].map((text) => Date.parse(text));
  assert.deepEqual(times, [
    ['Ghent', january, february],
    ['Paris', march, undefined],
    ['Turin', february, march],
  ]);
});

test('what is so beside something else ends nothing, and an age ends the one before', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I work at Acme. I am 34.', day('2025-01-01'));
  await say(store, 'I also work at Beta on weekends. I am 35.', day('2025-02-01'));
  assert.deepEqual(await factsOf(store), ['user | works_at | Acme', '~user | age | 34', 'user | works_at | Beta', 'user | age | 35']);
});

test('contradictions within one text are taken in its order', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I live in Bergen. I live in Oslo.', day('2025-03-01'));
  assert.deepEqual(await factsOf(store), ['~user | lives_in | Bergen', 'user | lives_in | Oslo']);
});

test('what is denied ends what was said, and is kept itself', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I am allergic to walnuts.', day('2025-01-01'));
  await say(store, 'I am not allergic to walnuts, I am allergic to hazelnuts.', day('2025-02-01'));
  assert.deepEqual(await factsOf(store), [
    '~user | allergic_to | walnuts',
    'not user | allergic_to | walnuts',
    'user | allergic_to | hazelnuts',
  ]);
});

test('to like and to hate the same thing is a contradiction, to like two things is none', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I like musicals. I like opera.', day('2025-01-01'));
  await say(store, 'I hate musicals.', day('2025-02-01'));
  assert.deepEqual(await factsOf(store), ['~user | likes | musicals', 'user | likes | opera', 'user | hates | musicals']);
});

test('what is said again is one fact, also in slightly other words; other figures are another fact', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'My boat is called Kittiwake.', day('2025-01-01'));
  await say(store, 'My boat is called KITTIWAKE!', day('2025-01-02'));
  await say(store, 'Lena plays the double bass.', day('2025-01-03'));
  await say(store, 'Lena plays double-bass.', day('2025-01-04'));
  assert.deepEqual(await factsOf(store), ['user | boat | Kittiwake', 'Lena | plays | double bass']);
  await say(store, 'My locker number is 12.', day('2025-01-05'));
  await say(store, 'My locker number is 13.', day('2025-01-06'));
  assert.deepEqual((await factsOf(store)).slice(2), ['~user | locker number | 12', 'user | locker number | 13']);
});

test('facts of one user say nothing about another', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I live in Bergen.', { ...day('2025-01-01'), who: { user: 'mira' } });
  await say(store, 'I live in Oslo.', { ...day('2025-02-01'), who: { user: 'jonas' } });
  assert.deepEqual(await factsOf(store), ['user | lives_in | Bergen', 'user | lives_in | Oslo']);
});

test('answers of the assistant and documents without a speaker make no facts about anybody', async (t) => {
  const store = await openMemory((close) => t.after(close));
  await say(store, 'I live in the cloud. My name is Botty.', { metadata: { role: 'assistant' } });
  await say(store, 'I live in Bergen.', { provenance: { document: 'a.pdf' } });
  assert.deepEqual(await factsOf(store), []);
});

test('facts keep where they come from', async (t) => {
  const store = await openMemory((close) => t.after(close));
  const id = await say(store, 'I live in Bergen.', {
    ...day('2025-01-01'),
    who: { user: 'mira', session: 's1' },
    provenance: { event: 'evt_1', message: 's1:0' },
  });
  for await (const fact of store.records({ types: ['fact'] })) {
    assert.deepEqual(fact.provenance, { event: 'evt_1', message: 's1:0', records: [id] });
    assert.deepEqual(fact.who, { user: 'mira', session: 's1' });
    assert.equal(fact.text, 'I live in Bergen');
    assert.ok(fact.confidence! > 0.5 && fact.confidence! < 1);
  }
});

test('facts that clients give in any form are taken as theirs, and a recall finds all of them', async (t) => {
  const { store, mind } = await openOwnStage((close) => t.after(close));
  await store.write({
    add: [
      ['made up', { by: 'rules' }],
      ['a number', { by: 'model', subject: 'user', relation: 7, object: null }],
      ['other ends', { by: 'rules', subject: 'Nobody', relation: 'hates', object: 3, negated: 'yes' }],
    ].map(([text, data], at) => ({
      type: 'fact',
      text: text as string,
      data,
      ...(at === 2 ? { edge: { from: 'Ann', to: 'Bern', relation: 'lives_in', weight: 1 } } : {}),
    })),
  });
  const found = await mind.recall('n', 'p', undefined, { text: 'made number other ends' }, new AbortController().signal);
  assert.deepEqual(
    found
      .map(({ facts }) => facts.map(({ subject, relation, object, negated, by }) => [subject, relation, object, negated, by]))
      .toSorted(),
    [[['', '', 'a number', false, 'client']], [['', '', 'made up', false, 'client']], [['Ann', 'lives_in', 'Bern', false, 'client']]],
  );
});

test('of what a chat model answers only that is kept whose words stand in the record', () => {
  const source = { id: 'r', text: 'I work at Siemens. Maybe Eva lives in Linz? My sister hates snow.', timeMs: 0 } as MemoryRecord;
  const fact = { message: 1, quote: 'I work at Siemens', subject: 'user', relation: 'works at', object: 'Siemens' };
  const kept = groundedStatement(fact, source);
  assert.deepEqual([kept?.subject, kept?.relation, kept?.object, kept?.negated], ['user', 'works_at', 'Siemens', false]);
  for (const made of [
    { ...fact, object: 'Google' },
    { ...fact, quote: 'I work at Google', object: 'Google' },
    { ...fact, relation: 'hates' },
    { ...fact, subject: 'Bob' },
    { ...fact, quote: 'Eva lives in Linz', subject: 'Eva', relation: 'lives in', object: 'Linz' },
    { ...fact, object: '' },
    { ...fact, object: { a: 1 } },
    {},
  ])
    assert.equal(groundedStatement(made, source), undefined, JSON.stringify(made));
  assert.equal(groundedStatement(fact, { ...source, provenance: { document: 'd' } }), undefined);
});
