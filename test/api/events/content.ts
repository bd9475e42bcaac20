import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chat, dataDir, found, newest, user } from '../../support/events-stage.js';
import { ANY_EVENTS, type Scenario } from '../../support/scenario.js';

/** What of a chat an event holds. */
export const CONTENT: Scenario[] = [
  chat('content as a hash', user('private words'), {}, 'hashed'),
  ...newest(
    'keeps no words',
    (body) => {
      assert.match(body.data.response, /^sha256:/);
      assert.match(body.data.messages, /^sha256:/);
      assert.doesNotMatch(JSON.stringify(body), /private words/);
      assert.equal(body.data.tokens.total, 9);
    },
    'hashed',
  ),
  {
    name: 'and cannot be run again',
    method: 'POST',
    path: () => `/v1/projects/ns/hashed/event_logs/${found.id}/replay`,
    body: {},
    status: 409,
    contains: ['hash'],
  },
  chat('no content', user('private words', { stream: true }), { events: [ANY_EVENTS] }, 'silent'),
  ...newest(
    'leaves no trace of it',
    (body) => {
      assert.equal(body.data.messages, undefined);
      assert.doesNotMatch(JSON.stringify(body), /private words/);
      assert.deepEqual([body.metadata.content, body.status], ['off', 'completed']);
    },
    'silent',
  ),
  chat(
    'secrets in what is said',
    user('My api_key=canary-said and https://u:canary-url@host', { variables: { password: 'canary-variable' } }),
    {},
    'keys',
  ),
  ...newest(
    'are masked',
    (body) => {
      assert.doesNotMatch(JSON.stringify(body), /canary/);
      assert.match(body.data.messages[0].content, /^My api_key=\*\*\*/);
    },
    'keys',
  ),
  {
    name: 'no secret reaches the disk',
    path: '/v1/projects/ns/keys/event_logs',
    json: () => assert.doesNotMatch(readFileSync(join(dataDir, 'state', 'data.mdb'), 'latin1'), /canary-(?:said|url|variable|key)/),
  },
];
