import assert from 'node:assert/strict';
import { PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../../support/models/puppet-scripts.js';
import type { Scenario } from '../../support/scenario.js';
import { CHAT, calls, chat, model, TOOLS, tool } from '../../support/universal-stage.js';

/** Tool calls that a model writes, and tools that it must call. */
export const TOOL_CALLS: Scenario[] = [
  chat('a tool call', 'weather', {
    body: { tools: TOOLS },
    json: (body) => {
      const { message, finish_reason } = body.choices[0];
      assert.deepEqual([message.content, finish_reason], [null, 'tool_calls']);
      assert.deepEqual(calls(message), [['get_weather', { city: 'Paris', unit: 'celsius' }]]);
    },
  }),
  chat('a tool call in a stream', 'forecast', {
    body: { tools: TOOLS, stream: true },
    json: (_body, answer) => {
      const choices = answer.events.slice(0, -1).map((event) => JSON.parse(event).choices[0]);
      assert.equal(choices.map((choice) => choice.delta.content ?? '').join(''), 'Let me look that up.');
      const parts = choices.flatMap((choice) => choice.delta.tool_calls ?? []);
      assert.deepEqual([parts[0].index, parts[0].function.name, parts[0].type], [0, 'get_weather', 'function']);
      assert.ok(parts.slice(1).every((part) => part.index === 0 && part.id === undefined && part.function.name === undefined));
      assert.deepEqual(JSON.parse(parts.map((part) => part.function.arguments).join('')), { city: 'Oslo' });
      assert.equal(choices.at(-1).finish_reason, 'tool_calls');
    },
  }),
  chat('two tool calls', 'sum', {
    body: { tools: TOOLS },
    json: (body) =>
      assert.deepEqual(calls(body.choices[0].message), [
        ['add_numbers', { a: 2, b: 3 }],
        ['add_numbers', { a: 40, b: 2 }],
      ]),
  }),
  chat('one tool call when parallel calls are off', 'sum', {
    body: { tools: TOOLS, parallel_tool_calls: false },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['add_numbers', { a: 2, b: 3 }]]),
  }),
  chat('thinking before a tool call', 'plan', {
    body: { tools: TOOLS, think: true },
    json: (body) => {
      assert.deepEqual(calls(body.choices[0].message), [['get_time', {}]]);
      assert.equal(body.thinking.content, PUPPET_SCRIPTS.plan.thinking.trim());
    },
  }),
  ...([{ max_tokens: 1 }, { max_tokens: 8 }, { max_tokens: 10 }, { stop: ['\n'] }, { stop: ['city'] }] as const).flatMap((end) => {
    let whole: unknown;
    const shown = ({
      content,
      tool_calls: made,
    }: {
      content?: string | null;
      tool_calls?: { function: { name?: string; arguments: string } }[];
    }) => [content || '', (made ?? []).map(({ function: { name, arguments: args } }) => `${name ?? ''}${args}`).join('')];
    return [
      chat(`a tool call that is cut off by ${JSON.stringify(end)} shows no markup`, 'broken', {
        body: { tools: TOOLS, ...end },
        json: (body) => {
          const { message, finish_reason } = body.choices[0];
          whole = shown(message);
          assert.equal(finish_reason, 'length');
          assert.ok(!/[<>]/.test(message.content ?? ''), message.content);
        },
      }),
      chat('and streams the same', 'broken', {
        body: { tools: TOOLS, stream: true, ...end },
        json: (_body, answer) => {
          const choices = answer.events.slice(0, -1).map((event) => JSON.parse(event).choices[0]);
          const parts = choices.map(({ delta: part }) => shown(part));
          assert.deepEqual([parts.map(([text]) => text).join(''), parts.map(([, call]) => call).join('')], whole);
          assert.equal(choices.at(-1).finish_reason, 'length');
        },
      }),
    ];
  }),
  chat('a tool call of another tool than the model would call', 'weather', {
    body: { tools: [tool('get_water', { river: { enum: ['Rhine'] } })], max_tokens: 400 },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['get_water', { river: 'Rhine' }]]),
  }),
  chat('no tools when tool_choice is none', 'weather', {
    body: { tools: TOOLS, tool_choice: 'none' },
    json: (body) =>
      assert.deepEqual([body.choices[0].message.content, body.choices[0].finish_reason], [PUPPET_SCRIPTS.weather.answer, 'stop']),
  }),
  chat('a required tool call from a model that would rather talk', 'hello', {
    body: { tools: TOOLS, tool_choice: 'required', max_tokens: 400, seed: 1 },
    json: (body) => assert.ok(body.choices[0].finish_reason === 'length' || calls(body.choices[0].message).length > 0),
  }),
  chat('a named tool', 'weather', {
    body: { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'get_weather' } } },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['get_weather', { city: 'Paris', unit: 'celsius' }]]),
  }),
  chat('no arguments for a tool that names no parameters', 'weather', {
    body: { tools: [{ type: 'function', function: { name: 'get_weather', parameters: null } }] },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['get_weather', {}]]),
  }),
  chat('a tool of those that are allowed', 'weather', {
    body: {
      tools: TOOLS,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_weather' } }] },
      },
    },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['get_weather', { city: 'Paris', unit: 'celsius' }]]),
  }),
  chat('a named tool that does not exist', 'weather', {
    status: 400,
    body: { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'get_tea' } } },
    contains: ['get_tea', 'get_weather, add_numbers, get_time'],
  }),
  {
    name: 'the turn after a tool result',
    method: 'POST',
    path: CHAT,
    body: {
      model,
      temperature: 0,
      tools: TOOLS,
      messages: [
        { role: 'user', content: 'weather' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: null, type: null, function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '21 degrees' },
      ],
    },
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_TOOL_ANSWERS.get_weather.answer),
  },
];
