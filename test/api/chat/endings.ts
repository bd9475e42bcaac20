import assert from 'node:assert/strict';
import { after, asked, CHAT, echo, POST, text, user } from '../../support/chat-stage.js';
import type { Scenario } from '../../support/scenario.js';
import { FINISH, type Step } from '../../unit/runtime/chat/scripted-provider.js';
import { sessionId } from './sessions.js';

/** Retrieval fields, finish reasons, and sessions that are deleted. */
export const ENDINGS: Scenario[] = [
  {
    name: 'retrieval fields are accepted and get a plain answer',
    ...POST,
    body: after(
      echo,
      user('x', {
        rag_enabled: true,
        database: 'none',
        rag_top_k: 3,
        rag_score_threshold: 0.5,
        rag_queries: ['a', ' '],
        rag_retrieval_strategy: 's',
        include_sources: true,
        sources_limit: 5,
      }),
    ),
    contains: ['echo: x'],
  },
  {
    name: 'logprobs come with the choice',
    ...POST,
    body: after(
      [{ type: 'text', text: 'a', logprobs: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] }, FINISH],
      user('x', { logprobs: true }),
    ),
    json: (body) => assert.deepEqual(body.choices[0].logprobs, { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] }),
  },
  {
    name: 'finish reason length',
    ...POST,
    body: after([text('a'), { ...FINISH, reason: 'length' } as Step], user('x')),
    contains: ['"finish_reason":"length"'],
  },
  { name: '33: delete an unknown session', method: 'DELETE', path: `${CHAT}/sessions/unknown`, contains: ['message'] },
  {
    name: '33: delete a session',
    method: 'DELETE',
    path: () => `${CHAT}/sessions/${sessionId}`,
    json: (body) => assert.equal(typeof body.message, 'string'),
  },
  {
    name: '33: its history is empty',
    path: () => `${CHAT}/sessions/${sessionId}/history`,
    json: (body) => assert.deepEqual(body, { messages: [] }),
  },
  {
    name: '33: its id starts anew',
    ...POST,
    headers: () => ({ 'X-Session-ID': sessionId }),
    body: after(echo, user('new life')),
    json: () => assert.equal(asked().messages.length, 1),
  },
  { name: 'the singular path of older clients', method: 'DELETE', path: () => `${CHAT}/session/${sessionId}` },
  {
    name: 'history of an unknown session',
    path: `${CHAT}/sessions/unknown/history`,
    json: (body) => assert.deepEqual(body, { messages: [] }),
  },
  {
    name: '33: delete all',
    method: 'DELETE',
    path: `${CHAT}/sessions`,
    json: (body) => assert.ok(body.count >= 1 && typeof body.message === 'string'),
  },
  { name: '33: and none is left', method: 'DELETE', path: `${CHAT}/sessions`, json: (body) => assert.equal(body.count, 0) },
  {
    name: '33: other projects keep theirs',
    path: () => `/v1/projects/ns/q/chat/sessions/${sessionId}/history`,
    json: (body) => assert.equal(body.messages.length, 2),
  },
];
