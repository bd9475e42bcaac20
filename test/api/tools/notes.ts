import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANY_EVENTS, type Scenario } from '../../support/scenario.js';
import { CALLS, call, delta, POST, prepared, stage, text, tools, user } from '../../support/tools-stage.js';
import { FINISH } from '../../unit/runtime/chat/scripted-provider.js';

/** What a client is told beside the answer, and decisions that are none. */
export const NOTES: Scenario[] = [
  {
    name: 'notes of the tool servers are shown',
    ...POST,
    body: () => {
      stage({}, [text('hi'), FINISH]);
      tools.notes = ['The server desk waits for an approval.'];
      return user('x');
    },
    json: (body) => assert.deepEqual(body.x_tool_notes, ['The server desk waits for an approval.']),
  },
  {
    name: 'a stream shows them with its finish',
    ...POST,
    body: () => {
      stage({}, [text('hi'), FINISH]);
      tools.notes = ['The server desk waits for an approval.'];
      return user('x', { stream: true });
    },
    events: [
      delta({ role: 'assistant' }),
      delta({ content: 'hi' }),
      { ...delta({}, 'stop'), x_tool_notes: ['The server desk waits for an approval.'] },
      '[DONE]',
    ],
  },
  {
    name: 'progress of a long call reaches the stream',
    ...POST,
    body: prepared(
      user('x', { stream: true }),
      {
        dig: {
          call: async (_args, { onProgress }) => {
            onProgress?.({ progress: 1, total: 2, message: 'half' });
            await sleep(5);
            return 'found';
          },
        },
      },
      [...call('dig'), CALLS],
      [text('done'), FINISH],
    ),
    events: [ANY_EVENTS, { tool_progress: { tool_call_id: 'call_0', progress: 1, total: 2, message: 'half' } }, ANY_EVENTS, '[DONE]'],
  },
  { name: 'nothing waits', path: '/v1/projects/ns/p/mcp/calls', json: (body) => assert.deepEqual(body, { calls: [] }) },
  ...[`mcall_${'0'.repeat(32)}`, `mcall_${'0'.repeat(32)}_0`, '%2E%2E_0', 'x'.repeat(300)].map(
    (id): Scenario => ({
      name: `404: a call that does not wait: ${id.slice(0, 50)}`,
      method: 'POST',
      path: `/v1/projects/ns/p/mcp/calls/${id}`,
      body: { decision: 'allow' },
      status: 404,
      contains: ['No call waits as', 'Send the message again'],
    }),
  ),
  {
    name: '422: a decision that is none',
    method: 'POST',
    path: '/v1/projects/ns/p/mcp/calls/x',
    body: { decision: 'perhaps' },
    status: 422,
    contains: ['decision'],
  },
];
