import assert from 'node:assert/strict';
import { after, asked, CHAT, chunk, echo, POST, text, user } from '../../support/chat-stage.js';
import type { Scenario } from '../../support/scenario.js';
import { FINISH, type Step } from '../../unit/runtime/chat/scripted-provider.js';

/** Calls of tools that the client runs. */
export const CALLS: Scenario[] = [
  {
    name: '40: a call to a tool of the client ends the turn',
    ...POST,
    headers: { 'X-Session-ID': 'tools' },
    body: after(
      [
        { type: 'tool_call', index: 0, id: 'call_1', name: 'add', arguments: '{"a":' },
        { type: 'tool_call', index: 0, arguments: '1}' },
        { ...FINISH, reason: 'tool_calls' } as Step,
      ],
      user('add', {
        tools: [{ type: 'function', function: { name: 'add', description: '{{what | sums}}' } }],
        tool_choice: 'auto',
        parallel_tool_calls: false,
      }),
    ),
    json: (body) => {
      assert.equal(body.choices[0].finish_reason, 'tool_calls');
      assert.deepEqual(body.choices[0].message, {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
      });
      assert.deepEqual(asked().tools, [{ type: 'function', function: { name: 'add', description: 'sums' } }]);
      assert.equal(asked().parallel_tool_calls, false);
    },
  },
  {
    name: '40: and a tool message continues it',
    ...POST,
    headers: { 'X-Session-ID': 'tools' },
    body: after(echo, { messages: [{ role: 'tool', tool_call_id: 'call_1', content: '3' }] }),
    contains: ['echo: 3'],
    json: () =>
      assert.deepEqual(
        asked().messages.map((message) => message.role),
        ['user', 'assistant', 'tool'],
      ),
  },
  {
    name: '40: in order',
    path: `${CHAT}/sessions/tools/history`,
    json: (body) =>
      assert.deepEqual(
        body.messages.map((message: { role: string }) => message.role),
        ['user', 'assistant', 'tool', 'assistant'],
      ),
  },
  {
    name: '40: a call that breaks off in a stream',
    ...POST,
    headers: { 'X-Session-ID': 'torn' },
    body: after(
      [
        { type: 'tool_call', index: 0, id: 'call_1', name: 'add', arguments: '{"a":"Par' },
        text('<tool_call>{"name":"add","arguments":{"a":"Par'),
        FINISH,
      ],
      user('add', { stream: true, tools: [{ type: 'function', function: { name: 'add' } }] }),
    ),
    contains: ['[DONE]'],
  },
  {
    name: '40: is remembered as the text that it is',
    path: `${CHAT}/sessions/torn/history`,
    json: (body) =>
      assert.deepEqual(body.messages.at(-1), { role: 'assistant', content: '<tool_call>{"name":"add","arguments":{"a":"Par' }),
  },
  {
    name: '40: a streamed call',
    ...POST,
    body: after(
      [
        { type: 'tool_call', index: 0, id: 'call_1', name: 'add', arguments: '' },
        { type: 'tool_call', index: 0, arguments: '{}' },
        { ...FINISH, reason: 'tool_calls' } as Step,
      ],
      user('add', { stream: true, tools: [{ type: 'function', function: { name: 'add' } }] }),
    ),
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ],
  },
  {
    name: '38: whole conversations with tool messages are accepted',
    ...POST,
    headers: { 'X-No-Session': '1' },
    body: after(echo, {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
      ],
    }),
    contains: ['echo: r'],
  },
  { name: 'a request without a user message is accepted', ...POST, body: after(echo, { messages: [{ role: 'system', content: 'go' }] }) },
];
