import assert from 'node:assert/strict';
import type { Scenario } from '../../support/scenario.js';
import { ADDER, ADDING, asked, CALLS, call, delta, POST, prepared, stage, text, tools, user } from '../../support/tools-stage.js';
import { FINISH, type Step } from '../../unit/runtime/chat/scripted-provider.js';

let told: object[] = [];

/** Calls of tools that servers of the project have. */
export const SERVER_CALLS: Scenario[] = [
  {
    name: 'a tool of a server is called, and the model answers with its result',
    ...POST,
    headers: { 'X-Session-ID': 'adding' },
    body: prepared(user('2+3?'), ...ADDING),
    json: (body) => {
      assert.deepEqual(body.choices, [
        { index: 0, message: { role: 'assistant', content: 'Let me see.\n\nIt is 5.' }, finish_reason: 'stop' },
      ]);
      assert.deepEqual(body.usage, { prompt_tokens: 14, completion_tokens: 4, total_tokens: 18 });
      assert.equal(body.x_tool_messages, undefined);
      const [{ duration_ms: ms, ...made }] = body.x_tool_calls;
      assert.equal(typeof ms, 'number');
      assert.deepEqual(made, {
        tool_call_id: 'call_0',
        name: 'add',
        server: 'desk',
        tool: 'add',
        arguments: '{"a":2,"b":3}',
        failed: false,
        result: '5',
      });
      assert.equal(asked(0).tools![0]!.function.name, 'add');
      assert.deepEqual(asked(1).messages, [
        { role: 'user', content: '2+3?' },
        {
          role: 'assistant',
          content: 'Let me see.',
          tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'add', arguments: '{"a":2,"b":3}' } }],
        },
        { role: 'tool', tool_call_id: 'call_0', content: '5' },
      ]);
    },
  },
  {
    name: 'the history keeps the call and its result',
    path: '/v1/projects/ns/p/chat/sessions/adding/history',
    json: ({ messages }) => {
      assert.deepEqual(
        messages.map((message: { role: string; content: string | null }) => [message.role, message.content]),
        [
          ['user', '2+3?'],
          ['assistant', null],
          ['tool', '5'],
          ['assistant', 'Let me see.\n\nIt is 5.'],
        ],
      );
    },
  },
  {
    name: 'a stream shows the call and its result as events of their own',
    ...POST,
    headers: { 'X-No-Session': '1' },
    body: prepared(user('2+3?', { stream: true, stream_options: { include_usage: true } }), ...ADDING),
    events: [
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Let me see.' }),
      { ...delta({}), tool_call: { tool_call_id: 'call_0', name: 'add', server: 'desk', tool: 'add', arguments: '{"a":2,"b":3}' } },
      { ...delta({}), tool_result: { tool_call_id: 'call_0', failed: false, result: '5' } },
      delta({ content: '\n\n' }),
      delta({ content: 'It is 5.' }),
      {
        ...delta({}, 'stop'),
        x_tool_messages: [
          { role: 'assistant', content: null },
          { role: 'tool', content: '5' },
        ],
      },
      { choices: [], usage: { total_tokens: 18 } },
      '[DONE]',
    ],
    lacks: ['tool_calls":[{"index'],
    json: (_body, answer) => assert.match(answer.text, /^event: tool_call\ndata: /m),
  },
  {
    name: 'without a session a client goes on with the calls and results that it was given',
    ...POST,
    headers: { 'X-No-Session': '1' },
    body: prepared(user('2+3?'), ...ADDING),
    json: (body) => {
      told = [{ role: 'user', content: '2+3?' }, ...body.x_tool_messages, body.choices[0].message];
      assert.equal(body.x_tool_messages.length, 2);
    },
  },
  {
    name: 'which the model then reads',
    ...POST,
    headers: { 'X-No-Session': '1' },
    body: () => {
      stage({ add: ADDER }, [text('Yes.'), FINISH]);
      return { messages: [...told, { role: 'user', content: 'Sure?' }] };
    },
    json: () => assert.deepEqual(asked().messages.slice(0, -1), told),
  },
  {
    name: 'what must be called is asked for once',
    ...POST,
    body: prepared(user('x', { tool_choice: 'required' }), ...ADDING),
    json: () => assert.deepEqual([asked(0).tool_choice, asked(1).tool_choice], ['required', 'auto']),
  },
  {
    name: 'an answer that has a form is that alone',
    ...POST,
    body: prepared(
      user('2+3?', { response_format: { type: 'json_object' } }),
      { add: ADDER },
      [text('Let me see.'), ...call('add', '{"a":2,"b":3}'), CALLS],
      [text('{"sum":5}'), FINISH],
    ),
    json: (body) => assert.equal(body.choices[0].message.content, '{"sum":5}'),
  },
  {
    name: 'tool_choice none offers no tool of a server',
    ...POST,
    body: prepared(user('x', { tool_choice: 'none' }), { add: ADDER }, [text('no'), FINISH]),
    json: (body) => {
      assert.equal(asked().tools, undefined);
      assert.equal(body.choices[0].message.content, 'no');
    },
  },
  {
    name: 'a model without servers has no tools of them',
    ...POST,
    body: prepared(user('x', { model: 'bare' }), { add: ADDER }, [text('no'), FINISH]),
    json: () => assert.equal(asked().tools, undefined),
  },
  {
    name: 'a model names its servers',
    ...POST,
    body: prepared(user('x', { model: 'some' }), { add: ADDER }, [text('no'), FINISH]),
    json: () => assert.deepEqual(tools.servers, ['desk']),
  },
  {
    name: 'several answers at once get no tools of servers, and are told so',
    ...POST,
    body: prepared(user('x', { n: 2 }), { add: ADDER }, [text('a'), { ...text('b'), choice: 1 } as Step, FINISH, { ...FINISH, choice: 1 }]),
    json: (body) => {
      assert.equal(asked().tools, undefined);
      assert.match(body.choices[0].x_tool_notes?.[0] ?? body.x_tool_notes?.[0], /leave out n/);
    },
  },
];
