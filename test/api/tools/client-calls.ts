import assert from 'node:assert/strict';
import type { Scenario } from '../../support/scenario.js';
import { ADDER, CALLS, CLIENT_TOOL, call, delta, POST, prepared, provider, tools, user } from '../../support/tools-stage.js';

/** Calls of tools that the client runs, beside those of servers. */
export const CLIENT_CALLS: Scenario[] = [
  {
    name: 'a call of a client tool ends the turn, after the calls of servers in the same message',
    ...POST,
    headers: { 'X-No-Session': '1' },
    body: prepared(user('x', { tools: [CLIENT_TOOL] }), { add: ADDER }, [
      ...call('add', '{"a":1,"b":1}', 0),
      ...call('lamp', '{"on":true}', 1),
      CALLS,
    ]),
    json: (body) => {
      const [choice] = body.choices;
      assert.equal(choice.finish_reason, 'tool_calls');
      assert.deepEqual(
        choice.message.tool_calls.map((one: { function: { name: string } }) => one.function.name),
        ['lamp'],
      );
      assert.deepEqual(tools.calls, [{ name: 'add', args: { a: 1, b: 1 } }]);
      assert.equal(body.x_tool_messages.at(-1).content, '2');
      assert.equal(provider.asked.length, 1);
    },
  },
  {
    name: 'in a stream the fragments of a client tool come as they are, counted from 0',
    ...POST,
    body: prepared(user('x', { stream: true, tools: [CLIENT_TOOL] }), { add: ADDER }, [
      ...call('add', '{"a":1,"b":1}', 0),
      ...call('lamp', '{"on":true}', 1),
      CALLS,
    ]),
    events: [
      delta({ role: 'assistant' }),
      delta({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'lamp', arguments: '' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"on":true}' } }] }),
      { tool_call: { name: 'add' } },
      { tool_result: { result: '2' } },
      delta({}, 'tool_calls'),
      '[DONE]',
    ],
  },
  {
    name: 'a tool of the client takes the place of a server tool of its name',
    ...POST,
    body: prepared(user('x', { tools: [CLIENT_TOOL] }), { lamp: {} }, [...call('lamp'), CALLS]),
    json: (body) => {
      assert.equal(body.choices[0].finish_reason, 'tool_calls');
      assert.equal(tools.calls.length, 0);
      assert.match(body.x_tool_notes[0], /lamp of server desk is not offered/);
    },
  },
];
