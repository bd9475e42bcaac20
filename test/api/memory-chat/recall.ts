import assert from 'node:assert/strict';
import type { Scenario } from '../../support/scenario.js';

export const M = '/v1/projects/ns/p/memory';

/** Records that are recalled, consolidated and forgotten without a chat. */
export const RECALL: Scenario[] = [
  ...['Bern has bears.', 'Bears like honey.', 'Honey comes from Linz.'].map(
    (data, at): Scenario => ({
      name: `a text to recall: ${data}`,
      method: 'POST',
      path: `${M}/add`,
      body: {
        data,
        user_id: at === 2 ? 'ann' : 'bob',
        timestamp: `2025-0${at + 1}-01T00:00:00Z`,
        ...(at === 0 ? { latitude: 46.95, longitude: 7.44, tags: ['wild, free'] } : {}),
      },
    }),
  ),
  {
    name: 'recall by words tells why',
    method: 'POST',
    path: '/v1/projects/ns/p/memory/recall',
    body: { query: 'What does Bern have?' },
    json: ({ results, total_count: total }) => {
      assert.equal(results[0].text, 'Bern has bears.');
      assert.equal(total, results.length);
      for (const part of ['lexical', 'dense', 'recency', 'graph', 'validity']) assert.equal(typeof results[0].parts[part], 'number');
      assert.ok(results[0].score >= results.at(-1).score && results[0].score <= 1);
    },
  },
  {
    name: 'recall by a tag with a comma',
    method: 'POST',
    path: `${M}/recall`,
    body: { query: 'bears', tags: ['wild, free'] },
    json: ({ results }) =>
      assert.deepEqual(
        results.map(({ text }: { text: string }) => text),
        ['Bern has bears.'],
      ),
  },
  {
    name: 'recall by user, and as of a day',
    method: 'POST',
    path: `${M}/recall`,
    body: { query: 'honey', user_id: 'ann' },
    json: ({ results }) =>
      assert.deepEqual(
        results.map(({ text }: { text: string }) => text),
        ['Honey comes from Linz.'],
      ),
  },
  {
    name: 'recall as of a day',
    method: 'POST',
    path: `${M}/recall`,
    body: { query: 'honey', as_of: '2025-01-15T00:00:00Z' },
    json: ({ results }) =>
      assert.deepEqual(
        results.map(({ text }: { text: string }) => text),
        ['Bern has bears.'],
      ),
  },
  {
    name: 'recall near a place, with the distance',
    method: 'POST',
    path: `${M}/recall`,
    body: { query: 'animals', latitude: 46.951, longitude: 7.441, radius_m: 500 },
    json: ({ results }) => {
      assert.equal(results.length, 1);
      assert.ok(results[0].distance_m > 50 && results[0].distance_m < 200);
    },
  },
  {
    name: 'recall without a question: the newest',
    method: 'POST',
    path: `${M}/recall`,
    body: { limit: 1 },
    json: ({ results }) => assert.equal(results[0].text, 'Honey comes from Linz.'),
  },
  {
    name: 'query with words is ranked',
    path: `${M}/query?query=Bern`,
    json: ({ results }) => assert.equal(results[0].text, 'Bern has bears.'),
  },
  {
    name: 'context with a question',
    path: `${M}/context?query=Bern`,
    json: ({ recalled }) => assert.equal(recalled[0].text, 'Bern has bears.'),
  },
  { name: 'half a place', method: 'POST', path: `${M}/recall`, body: { latitude: 1 }, status: 400, contains: ['longitude'] },
  {
    name: 'a latitude of 91',
    method: 'POST',
    path: `${M}/recall`,
    body: { latitude: 91, longitude: 1 },
    status: 422,
    contains: ['latitude'],
  },
  { name: 'a limit of none', method: 'POST', path: `${M}/recall`, body: { limit: 0 }, status: 422, contains: ['limit'] },
  { name: 'a time that is none', method: 'POST', path: `${M}/recall`, body: { as_of: 'soon' }, status: 422, contains: ['as_of'] },
  {
    name: 'consolidate',
    method: 'POST',
    path: '/v1/projects/ns/p/memory/consolidate',
    body: {},
    json: ({ records_processed: records, facts_extracted: facts }) => assert.deepEqual([records, facts >= 2], [3, true]),
  },
  {
    name: 'a store that consolidates nothing',
    method: 'POST',
    path: `${M}/consolidate?store_name=plain`,
    body: {},
    status: 409,
    contains: ['plain', 'consolidation: {}'],
  },
  {
    name: 'a store without a place for facts',
    method: 'POST',
    path: `${M}/consolidate?store_name=bare`,
    body: {},
    status: 409,
    contains: ['bare', 'graph: {}'],
  },
  { name: 'a store that is not there', method: 'POST', path: `${M}/recall?store_name=nope`, body: {}, status: 404, contains: ['nope'] },
  { name: 'forget nobody', method: 'POST', path: `${M}/forget`, body: {}, status: 400, contains: ['uuids'] },
  {
    name: 'forget both',
    method: 'POST',
    path: `${M}/forget`,
    body: { uuids: ['11111111-1111-4111-8111-111111111111'], user_id: 'ann' },
    status: 400,
    contains: ['not both'],
  },
  {
    name: 'forget a record that is not there',
    method: 'POST',
    path: `${M}/forget`,
    body: { uuids: ['11111111-1111-4111-8111-111111111111'] },
    status: 404,
  },
  {
    name: 'forget a user',
    method: 'POST',
    path: `${M}/forget`,
    body: { user_id: 'bob' },
    json: ({ forgotten }) => assert.ok(forgotten >= 2),
  },
  {
    name: 'nothing of the user is recalled',
    method: 'POST',
    path: `${M}/recall`,
    body: { query: 'bears', limit: 50 },
    lacks: ['Bern has bears', 'Bears like'],
  },
];
