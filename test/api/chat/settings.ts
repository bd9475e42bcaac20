import assert from 'node:assert/strict';
import { after, asked, CHAT, echo, POST, REQUESTED_VARIABLE, user } from '../../support/chat-stage.js';
import type { Scenario } from '../../support/scenario.js';

/** Parameters, prompts and variables of the project. */
export const SETTINGS: Scenario[] = [
  {
    name: 'the model has its own parameters, prompts and tools',
    ...POST,
    headers: { 'X-Session-ID': 'tuned' },
    body: after(
      echo,
      user('x', { model: 'tuned', variables: { city: 'Rome' }, extra_body: { top_a: 1, model: 'other', note: REQUESTED_VARIABLE } }),
    ),
    json: () => {
      const { messages, ...rest } = asked();
      assert.deepEqual(messages, [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Example?' },
        { role: 'assistant', content: 'Example!' },
        { role: 'user', content: 'x' },
      ]);
      assert.deepEqual(rest, {
        stream: false,
        temperature: 0.3,
        top_p: 0.5,
        max_tokens: 33,
        stop: ['END'],
        extra: { reasoning_effort: 'low', n_threads: 2, tag: 'from the environment', top_a: 1, note: REQUESTED_VARIABLE },
        tools: [{ type: 'function', function: { name: 'weather', description: 'In Rome', parameters: { type: 'object' } } }],
      });
    },
  },
  {
    name: 'the request wins over the parameters of the model',
    ...POST,
    headers: { 'X-Session-ID': 'tuned' },
    body: after(
      echo,
      user('y', {
        model: 'tuned',
        temperature: 0,
        top_k: 5,
        dry_multiplier: 0.8,
        max_tokens: 8,
        stop: ['A', 'B'],
        seed: 3,
        logprobs: true,
        top_logprobs: 2,
        n_ctx: 4096,
        tool_choice: 'required',
      }),
    ),
    json: () => {
      const { messages, tools: _tools, extra: _extra, ...rest } = asked();
      assert.deepEqual(
        messages.map((message) => message.content),
        ['Be short.', 'Example?', 'Example!', 'x', 'echo: x', 'y'],
      );
      assert.deepEqual(rest, {
        stream: false,
        temperature: 0,
        top_p: 0.5,
        top_k: 5,
        dry_multiplier: 0.8,
        max_tokens: 8,
        stop: ['A', 'B'],
        seed: 3,
        logprobs: true,
        top_logprobs: 2,
        n_ctx: 4096,
        tool_choice: 'required',
      });
    },
  },
  {
    name: 'what else says the form of an answer goes on to the provider',
    ...POST,
    body: after(echo, user('z', { model: 'ranked', guided_json: { const: 1 }, grammar: null, extra_body: { guided_choice: ['a'] } })),
    json: () => assert.deepEqual(asked().extra, { guided_json: { const: 1 }, guided_choice: ['a'] }),
  },
  {
    name: 'adapters go on to the provider',
    ...POST,
    body: after(echo, user('z', { model: 'ranked', lora: [{ path: 'a.gguf' }], extra_body: { lora: [] } })),
    json: () => assert.deepEqual(asked().extra, { lora: [{ path: 'a.gguf' }] }),
  },
  {
    name: 'so does its extra_body, in what the universal runtime reads there',
    ...POST,
    body: after(echo, user('z', { model: 'ranked', extra_body: { top_k: 5, temperature: 0 } })),
    json: () => {
      const { top_k, temperature, extra } = asked();
      assert.deepEqual([top_k, temperature, extra], [undefined, 0.3, { top_k: 5, temperature: 0 }]);
    },
  },
  {
    name: 'prompt messages that are no system prompts lead the history; system prompts are not in it',
    path: `${CHAT}/sessions/tuned/history`,
    lacks: ['Be short'],
    json: (body) =>
      assert.deepEqual(
        body.messages.map((message: { content: string }) => message.content),
        ['Example?', 'Example!', 'x', 'echo: x', 'y', 'echo: y'],
      ),
  },
  {
    name: 'all prompt sets apply where the model names none, and the system message of the request joins them',
    ...POST,
    headers: { 'X-Session-ID': 'prompted' },
    body: after(echo, {
      model: 'prompted',
      messages: [
        { role: 'system', content: 'Now.' },
        { role: 'user', content: 'x' },
      ],
    }),
    json: () =>
      assert.deepEqual(
        asked().messages.map((message) => message.content),
        ['You are Bob.\n\nBe short.\n\nNow.', 'Example?', 'Example!', 'x'],
      ),
  },
  {
    name: 'system prompts are rendered anew in every turn',
    ...POST,
    headers: { 'X-Session-ID': 'prompted' },
    body: after(echo, user('y', { model: 'prompted', variables: { who: 'Ann' } })),
    json: () =>
      assert.deepEqual(
        asked().messages.map((message) => message.content),
        ['You are Ann.\n\nBe short.', 'Example?', 'Example!', 'x', 'echo: x', 'y'],
      ),
  },
  {
    name: '27: a variable without value',
    method: 'POST',
    path: '/v1/projects/ns/strict/chat/completions',
    body: after(echo, user('x', { variables: { other: 1 } })),
    status: 400,
    json: (body) => {
      assert.ok(body.detail.startsWith('Template resolution failed'));
      assert.ok(body.detail.includes('{{name}}') && body.detail.includes('other'));
    },
  },
  {
    name: '26: a variable that is an object',
    method: 'POST',
    path: '/v1/projects/ns/strict/chat/completions',
    body: after(echo, user('x', { variables: { name: {} } })),
    status: 400,
    contains: ['unsupported type'],
  },
  { name: 'messages of the client are no templates', ...POST, body: after(echo, user('{{name}}')), contains: ['echo: {{name}}'] },
];
