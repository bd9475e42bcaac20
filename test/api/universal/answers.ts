import assert from 'node:assert/strict';
import { decidedPuppetPath } from '../../support/models/cache.js';
import { PUPPET_SCRIPTS } from '../../support/models/puppet-scripts.js';
import { ANY_EVENTS, type Scenario } from '../../support/scenario.js';
import { ask, chat, delta, model } from '../../support/universal-stage.js';

/** Whole and streamed answers, with thinking, seeds and limits. */
export const ANSWERS: Scenario[] = [
  {
    name: 'health before a model is loaded',
    path: '/health',
    json: (body) => {
      assert.deepEqual([body.status, body.loaded_models, body.pid], ['healthy', [], process.pid]);
      assert.match(body.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
      assert.equal(body.device.node_version, process.version);
      assert.match(body.builtin_models.at(-1).description, /no trained language model/);
    },
  },
  { name: 'no models before one is loaded', path: '/v1/models', json: (body) => assert.deepEqual(body, { object: 'list', data: [] }) },
  chat('a whole answer', 'hello', {
    json: (body) => {
      assert.match(body.id, /^chatcmpl-[0-9a-f]{32}$/);
      assert.equal(body.object, 'chat.completion');
      assert.equal(body.model, model);
      assert.deepEqual(body.choices, [
        { index: 0, message: { role: 'assistant', content: PUPPET_SCRIPTS.hello.answer }, finish_reason: 'stop' },
      ]);
      const { prompt_tokens, completion_tokens, total_tokens } = body.usage;
      assert.ok(prompt_tokens > 3 && completion_tokens > 3);
      assert.equal(total_tokens, prompt_tokens + completion_tokens);
      assert.equal(body.x_context_usage.prompt_tokens, prompt_tokens);
      assert.deepEqual([body.x_context_usage.truncated, body.x_context_usage.strategy_used], [false, null]);
      assert.ok(!('thinking' in body));
    },
  }),
  {
    name: 'the loaded model is listed under the name that requests have for it',
    path: '/v1/models',
    json: (body) => {
      assert.equal(body.data.length, 1);
      const [entry] = body.data;
      assert.ok(entry.key.startsWith('language:') && entry.key.includes(':ctx'));
      assert.deepEqual([entry.id, entry.object, entry.owned_by, entry.type], [model, 'model', 'transformers-runtime', 'language']);
      assert.deepEqual(entry.copies, [{ type: entry.type, key: entry.key }]);
    },
  },
  {
    name: 'health names the loaded model and its devices',
    path: '/health',
    json: (body) => {
      assert.equal(body.loaded_models.length, 1);
      const [{ used, available }] = body.engines;
      assert.ok(used.length > 0 && ![...used, ...available].includes('CPU'), `${used} of ${available}`);
      assert.match(body.engines[0].options.template, /^[0-9a-f]{16}$/);
    },
  },
  // Steps that pile up while JavaScript is busy leave as one piece: only a long answer is sure to come in several.
  chat('a stream', 'count', {
    body: { stream: true },
    answerHeaders: { 'content-type': /^text\/event-stream/, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    json: (_body, answer) => {
      const frames = answer.events.slice(0, -1).map((event) => JSON.parse(event));
      assert.equal(answer.events.at(-1), '[DONE]');
      assert.deepEqual(frames[0].choices[0].delta, { role: 'assistant', content: '' });
      assert.equal(frames.map((frame) => frame.choices[0].delta.content ?? '').join(''), PUPPET_SCRIPTS.long.answer);
      assert.ok(frames.length > 4, 'piece by piece');
      assert.equal(frames.at(-1).choices[0].finish_reason, 'stop');
      assert.ok(frames.every((frame) => frame.id === frames[0].id && !('usage' in frame)));
    },
  }),
  chat('a stream with usage', 'hello', {
    body: { stream: true, stream_options: { include_usage: true } },
    events: [
      delta({ role: 'assistant' }),
      ANY_EVENTS,
      { choices: { 0: { finish_reason: 'stop' } }, usage: null },
      /"choices":\[\],"usage":\{"prompt_tokens":\d+/,
      '[DONE]',
    ],
  }),
  chat('letters of many scripts, cut over tokens', 'languages', {
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.languages.answer),
  }),
  chat('emoji in a stream', 'emoji', {
    body: { stream: true },
    json: (_body, answer) => {
      const text = answer.events
        .slice(0, -1)
        .map((event) => JSON.parse(event).choices[0].delta.content ?? '')
        .join('');
      assert.equal(text, PUPPET_SCRIPTS.emoji.answer);
    },
  }),
  chat('an empty answer', 'silence', {
    json: (body) => assert.deepEqual([body.choices[0].message.content, body.choices[0].finish_reason], ['', 'stop']),
  }),
  chat('thinking apart from the answer', 'ponder', {
    body: { think: true },
    json: (body) => {
      assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.think.answer);
      assert.equal(body.thinking.content, PUPPET_SCRIPTS.think.thinking.trim());
      assert.ok(body.thinking.tokens > 0 && body.thinking.tokens < body.usage.completion_tokens);
      assert.equal(body.usage.completion_tokens_details.reasoning_tokens, body.thinking.tokens);
    },
  }),
  ...[
    { effort: 'medium', think: undefined, thinks: true },
    { effort: 'minimal', think: undefined, thinks: false },
    { effort: 'none', think: true, thinks: true },
  ].map(({ effort, think, thinks }) =>
    chat(`reasoning_effort ${effort}, think ${think}`, 'ponder', {
      body: { reasoning_effort: effort, think },
      json: (body) => assert.equal('thinking' in body, thinks),
    }),
  ),
  chat('thinking in a stream', 'ponder', {
    body: { stream: true, extra_body: { think: true } },
    json: (_body, answer) => {
      const deltas = answer.events.slice(0, -1).map((event) => JSON.parse(event).choices[0].delta);
      assert.equal(deltas.map((one) => one.reasoning_content ?? '').join(''), PUPPET_SCRIPTS.think.thinking.trim());
      assert.equal(deltas.map((one) => one.content ?? '').join(''), PUPPET_SCRIPTS.think.answer);
    },
  }),
  chat('thinking cut by its budget', 'ponder', {
    body: { think: true, thinking_budget: 3 },
    json: (body) => {
      assert.ok(body.thinking.content.length < PUPPET_SCRIPTS.think.thinking.trim().length);
      assert.ok(PUPPET_SCRIPTS.think.thinking.includes(body.thinking.content));
    },
  }),
  chat('45: max_tokens for the answer, whatever thinking leaves of its budget', 'count', {
    body: { think: true, thinking_budget: 256, max_tokens: 64 },
    json: (body) => assert.deepEqual([body.choices[0].finish_reason, body.usage.completion_tokens], ['length', 64]),
  }),
  chat('an answer cut by max_tokens', 'count', {
    body: { max_tokens: 5 },
    json: (body) => assert.deepEqual([body.choices[0].finish_reason, body.usage.completion_tokens], ['length', 5]),
  }),
  chat('the newer name of max_tokens', 'count', {
    body: { max_tokens: null, max_completion_tokens: 4 },
    json: (body) => assert.equal(body.usage.completion_tokens, 4),
  }),
  chat('a stop string, not part of the answer', 'stops', {
    body: { stop: ['END', 'STOP'] },
    json: (body) => assert.deepEqual([body.choices[0].message.content, body.choices[0].finish_reason], ['alpha beta ', 'stop']),
  }),
  chat('a stop string in a stream', 'stops', {
    body: { stop: 'STOPPED', stream: true },
    lacks: ['STOPPED', 'gamma'],
    contains: ['[DONE]'],
  }),
  chat('the same seed twice', 'coin', {
    body: { temperature: 1, seed: 7 },
    json: async (body) => {
      const again = await ask({ model, messages: [{ role: 'user', content: 'coin' }], temperature: 1, seed: 7 });
      assert.equal(again.choices[0].message.content, body.choices[0].message.content);
    },
  }),
  chat('as the file recommends, without a temperature', 'coin', {
    body: { model: decidedPuppetPath(), temperature: undefined },
    json: async (body) => {
      const tosses = async (more: Record<string, unknown>): Promise<Set<string>> => {
        const toss = { model: decidedPuppetPath(), messages: [{ role: 'user', content: 'coin' }], ...more };
        const answers = await Promise.all(Array.from({ length: 20 }, (_, seed) => ask({ ...toss, seed })));
        return new Set(answers.map((answer) => answer.choices[0].message.content));
      };
      assert.deepEqual(await tosses({}), new Set([body.choices[0].message.content]), 'temperature 0 of the file');
      assert.ok((await tosses({ temperature: 1 })).size > 1, 'a temperature of the request');
      assert.ok((await tosses({ temperature: null })).size > 1, 'null, which is 0.7');
    },
  }),
  chat('logprobs', 'hello', {
    body: { logprobs: true, top_logprobs: 3 },
    json: (body) => {
      const { content } = body.choices[0].logprobs;
      assert.equal(content.map((entry: { token: string }) => entry.token).join(''), PUPPET_SCRIPTS.hello.answer);
      for (const entry of content) {
        assert.ok(entry.logprob <= 0 && entry.top_logprobs.length <= 3);
        assert.deepEqual(Buffer.from(entry.bytes).toString(), entry.token);
      }
    },
  }),
];
