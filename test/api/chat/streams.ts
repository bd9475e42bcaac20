import assert from 'node:assert/strict';
import { APOLOGY } from '../../../runtime/chat/turn.js';
import { Failure } from '../../../schemas/errors.js';
import { after, asked, CHAT, chunk, LATE_USAGE, POST, provider, text, UUID, user } from '../../support/chat-stage.js';
import type { Scenario } from '../../support/scenario.js';
import { FINISH, type Step } from '../../unit/runtime/chat/scripted-provider.js';

/** Streams, thinking, and models that fail. */
export const STREAMS: Scenario[] = [
  {
    name: '37: a stream starts with the role, ends with a finish reason and [DONE]',
    ...POST,
    body: after([text('one'), text(' two "quoted"\n'), FINISH], user('x', { stream: true })),
    answerHeaders: { 'content-type': /^text\/event-stream/, 'x-session-id': UUID },
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'one' }),
      chunk({ content: ' two "quoted"\n' }),
      chunk({}, 'stop'),
      '[DONE]',
    ],
    lacks: ['usage'],
  },
  {
    name: 'include_usage adds a last chunk without choices',
    ...POST,
    body: after([text('a'), FINISH], user('x', { stream: true, stream_options: { include_usage: true } })),
    events: [
      { usage: null },
      { usage: null },
      { usage: null },
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } },
      '[DONE]',
    ],
  },
  {
    name: 'thinking is apart from the answer, in streams too',
    ...POST,
    body: after([{ type: 'reasoning', text: 'hm' }, text('4'), FINISH], user('x', { stream: true, think: true, thinking_budget: 9 })),
    events: [chunk({ role: 'assistant' }), chunk({ reasoning_content: 'hm' }), chunk({ content: '4' }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '45: thinking of a whole answer',
    ...POST,
    headers: { 'X-Session-ID': 'thinker' },
    body: after(
      [{ type: 'reasoning', text: 'hm' }, text('4'), { ...FINISH, thinkingTokens: 3 } as Step],
      user('x', { think: true, max_completion_tokens: 5, max_tokens: 9 }),
    ),
    json: (body) => {
      assert.deepEqual(body.thinking, { content: 'hm', tokens: 3 });
      assert.equal(body.choices[0].message.content, '4');
      assert.equal(asked().think, true);
      assert.equal(asked().max_tokens, 5);
    },
  },
  { name: '45: thinking is not part of the history', path: `${CHAT}/sessions/thinker/history`, lacks: ['"hm"'], contains: ['"4"'] },
  {
    name: 'context usage that comes with the finish is in the answer',
    ...POST,
    headers: { 'X-No-Session': '' },
    body: () => {
      provider.lateUsage = LATE_USAGE;
      return after([text('4'), FINISH], user('x'))();
    },
    json: (body) => assert.deepEqual(body.x_context_usage, LATE_USAGE),
  },
  {
    name: 'context usage that comes with the finish is in the stream',
    ...POST,
    headers: { 'X-No-Session': '' },
    body: after([text('4'), FINISH], user('x', { stream: true })),
    json: (_body, answer) => {
      provider.lateUsage = undefined;
      assert.deepEqual(JSON.parse(answer.events.at(-2)!).x_context_usage, LATE_USAGE);
    },
  },
  {
    name: '35: an empty stream gets the fallback',
    ...POST,
    headers: { 'X-Session-ID': 'empty' },
    body: after([FINISH], user('x', { stream: true })),
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: APOLOGY }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '36: a model that fails before its first part gets the fallback',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([Promise.resolve(), new Failure('unavailable', 'host crashed')], user('x', { stream: true })),
    lacks: ['host crashed'],
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: APOLOGY }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '36: a provider that fails while it opens gets the fallback',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([new Failure('model_failed', 'sent an empty answer')], user('x', { stream: true })),
    lacks: ['empty answer'],
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: APOLOGY }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '36: a provider that fails while it opens is an error in a whole answer',
    ...POST,
    body: after([new Failure('model_failed', 'sent an empty answer')], user('x')),
    status: 500,
    contains: ['empty answer'],
  },
  {
    name: '36: what the caller can mend is a status before a stream, too',
    ...POST,
    body: after([new Failure('unavailable', 'start it')], user('x', { stream: true })),
    status: 503,
    contains: ['start it'],
  },
  {
    name: '36: a model that fails in the middle still ends with [DONE]',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([text('half'), new Error('secret reason')], user('x', { stream: true })),
    lacks: ['secret reason'],
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: 'half' }), '[DONE]'],
  },
  {
    name: 'a stream whose answer breaks its strict schema says so',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after(
      [text('[1'), new Failure('model_failed', 'The answer does not fit', { code: 'schema_not_met' })],
      user('x', { stream: true }),
    ),
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: '[1' }),
      { error: { message: 'The answer does not fit', code: 'schema_not_met' } },
      '[DONE]',
    ],
  },
  {
    name: '36: a whole answer that fails is an error',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([text('half'), new Error('secret reason')], user('x')),
    status: 500,
    lacks: ['secret reason'],
    json: (body) => assert.equal(typeof body.detail, 'string'),
  },
  {
    name: 'a model that ends without finishing is an error',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([text('half')], user('x')),
    status: 500,
    contains: ['broke off'],
  },
  {
    name: 'a host that crashes is a 503',
    ...POST,
    body: after([text('h'), new Failure('unavailable', 'The engine of "m" ended.')], user('x')),
    status: 503,
    contains: ['The engine of'],
  },
  {
    name: '36: nothing of failed turns is remembered',
    path: `${CHAT}/sessions/failing/history`,
    json: (body) => assert.deepEqual(body, { messages: [] }),
  },
];
