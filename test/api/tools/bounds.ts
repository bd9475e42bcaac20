import assert from 'node:assert/strict';
import { TOO_MANY_CALLS } from '../../../runtime/chat/agent/agent.js';
import type { CompletionPart } from '../../../runtime/completions/contract.js';
import { Failure } from '../../../schemas/errors.js';
import type { Scenario } from '../../support/scenario.js';
import { ADDER, ADDING, asked, CALLS, call, POST, prepared, provider, text, tools, user } from '../../support/tools-stage.js';
import { FINISH } from '../../unit/runtime/chat/scripted-provider.js';

/** How far a turn with tools may go. */
export const BOUNDS: Scenario[] = [
  {
    name: 'where the model has no room for the tools the turn goes on without them, and says so',
    ...POST,
    body: prepared(user('x'), { add: ADDER }, (request) =>
      request.tools ? [new Failure('bad_request', 'too long', { code: 'context_length_exceeded' })] : [text('hi'), FINISH],
    ),
    json: (body) => {
      assert.equal(body.choices[0].message.content, 'hi');
      assert.match(body.x_tool_notes[0], /left out of this turn.*model m has no room/);
    },
  },
  {
    name: 'a tool of a server can be named',
    ...POST,
    body: prepared(user('x', { tool_choice: { type: 'function', function: { name: 'add' } } }), ...ADDING),
    json: (body) => {
      assert.deepEqual(asked(0).tool_choice, { type: 'function', function: { name: 'add' } });
      assert.equal(body.x_tool_calls.length, 1);
    },
  },
  {
    name: 'a turn ends at its tenth model call, which may call nothing more',
    ...POST,
    body: prepared(user('x'), { add: ADDER }, (request) =>
      request.tool_choice === 'none' ? [text('enough'), FINISH] : [...call('add'), CALLS],
    ),
    json: (body) => {
      assert.equal(provider.asked.length, 10);
      assert.equal(body.choices[0].message.content, 'enough');
      assert.match(String(asked().messages.at(-1)!.content), /Answer now with what you have/);
      assert.equal(new Set(body.x_tool_calls.map((one: { tool_call_id: string }) => one.tool_call_id)).size, 9);
    },
  },
  {
    name: 'a model that calls on and on gets no further, and the client is told',
    ...POST,
    body: prepared(user('x', { model: 'short' }), { add: ADDER }, [...call('add'), CALLS]),
    json: (body) => {
      assert.equal(provider.asked.length, 3);
      assert.equal(tools.calls.length, 2);
      assert.equal(body.choices[0].message.content, TOO_MANY_CALLS);
      assert.equal(body.choices[0].finish_reason, 'stop');
      assert.match(body.x_tool_notes[0], /limit of 3 model calls/);
    },
  },
  {
    name: 'nor does one that goes on in its text',
    ...POST,
    body: prepared(user('x', { model: 'short' }), { add: ADDER }, (request) =>
      request.tool_choice === 'none'
        ? [text('<tool_call>{"name": "add", '), text('"arguments": {}}</tool_call>'), FINISH]
        : [...call('add'), CALLS],
    ),
    json: (body) => assert.equal(body.choices[0].message.content, TOO_MANY_CALLS),
  },
  {
    name: 'an answer that ran out of tokens calls nothing',
    ...POST,
    body: prepared(user('x'), { add: ADDER }, [text('so'), ...call('add', '{"a'), { ...FINISH, reason: 'length' } as CompletionPart]),
    json: (body) => {
      assert.equal(body.choices[0].finish_reason, 'length');
      assert.equal(body.choices[0].message.tool_calls, undefined);
      assert.equal(tools.calls.length, 0);
    },
  },
];
