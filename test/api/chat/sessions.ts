import assert from 'node:assert/strict';
import { after, asked, CHAT, chunk, echo, POST, UUID, user } from '../../support/chat-stage.js';
import type { Answer } from '../../support/exchange.js';
import type { Scenario } from '../../support/scenario.js';

export let sessionId = '';

/** Sessions, their histories, and turns without one. */
export const SESSIONS: Scenario[] = [
  {
    name: '30: answers, and names a new session',
    ...POST,
    body: after(echo, user('hello')),
    answerHeaders: { 'x-session-id': UUID },
    json: (body, answer: Answer) => {
      sessionId = answer.headers['x-session-id']!;
      assert.match(body.id, /^chatcmpl-/);
      assert.ok(Math.abs(body.created - Date.now() / 1000) < 100);
      const { id: _id, created: _created, ...rest } = body;
      assert.deepEqual(rest, {
        object: 'chat.completion',
        model: 'plain',
        choices: [{ index: 0, message: { role: 'assistant', content: 'echo: hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
      });
      assert.deepEqual(asked(), { messages: [{ role: 'user', content: 'hello' }], stream: false });
    },
  },
  {
    name: '30: goes on with the session that is named',
    ...POST,
    headers: () => ({ 'X-Session-ID': sessionId }),
    body: after(echo, user('again')),
    json: (_body, answer) => {
      assert.equal(answer.headers['x-session-id'], sessionId);
      assert.deepEqual(
        asked().messages.map((message) => message.content),
        ['hello', 'echo: hello', 'again'],
      );
    },
  },
  {
    name: '30: has four messages of history',
    path: () => `${CHAT}/sessions/${sessionId}/history`,
    json: (body) =>
      assert.deepEqual(body, {
        messages: [
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: 'echo: hello' },
          { role: 'user', content: 'again' },
          { role: 'assistant', content: 'echo: again' },
        ],
      }),
  },
  {
    name: '31: the same id in another project is another session',
    method: 'POST',
    path: '/v1/projects/ns/q/chat/completions',
    headers: () => ({ 'X-Session-ID': sessionId }),
    body: after(echo, user('here')),
    json: () => assert.equal(asked().messages.length, 1),
  },
  {
    name: '31: with its own history',
    path: () => `/v1/projects/ns/q/chat/sessions/${sessionId}/history`,
    json: (body) => assert.equal(body.messages.length, 2),
  },
  {
    name: '32: X-No-Session wins, remembers nothing and names no session',
    ...POST,
    headers: () => ({ 'X-No-Session': '1', 'X-Session-ID': sessionId }),
    body: after(echo, user('secret')),
    lacks: ['x-session-id'],
    json: () => assert.equal(asked().messages.length, 1),
  },
  { name: '32: nothing of it in the history', path: () => `${CHAT}/sessions/${sessionId}/history`, lacks: ['secret'] },
  {
    name: '32: stateless messages pass as they are',
    ...POST,
    headers: { 'X-No-Session': 'yes' },
    body: after(echo, {
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'a' },
        { role: 'system', content: 'T' },
        { role: 'user', content: 'b' },
      ],
    }),
    json: () =>
      assert.deepEqual(
        asked().messages.map((m) => m.content),
        ['S', 'a', 'T', 'b'],
      ),
  },
  {
    name: '32: a stateless stream carries no session header',
    ...POST,
    headers: { 'X-No-Session': '1' },
    body: after(echo, user('x', { stream: true })),
    lacks: ['x-session-id'],
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: 'echo: x' }), chunk({}, 'stop'), '[DONE]'],
  },
];
