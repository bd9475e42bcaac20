import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { chatEndpoints } from '../../../gateway/core/chat.js';
import type { Runtime } from '../../../runtime/runtime.js';
import type { Request, StreamReply } from '../../../schemas/endpoint.js';

const endpoint = chatEndpoints.find(({ id }) => id === 'chat_completions')!;
const request = {
  params: { namespace: 'a', project: 'b' },
  body: { messages: [], stream: true },
  header: () => undefined,
  signal: new AbortController().signal,
} as unknown as Request;

async function* frames() {
  yield 'data: [DONE]\n\n';
}

describe('a streamed chat whose model takes long', () => {
  it('begins without its turn, in the session that the turn then has', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let open!: (turn: object) => void;
      let session = '';
      const complete = (call: { sessionId: string }) => {
        session = call.sessionId;
        return new Promise((resolve) => (open = resolve));
      };
      const answering = endpoint.handler({ chat: { complete } } as unknown as Runtime, request) as Promise<StreamReply>;
      mock.timers.tick(15_000);
      const { headers, events } = await answering;
      assert.match(session, /^[0-9a-f-]{36}$/);
      assert.deepEqual(headers, { 'X-Session-ID': session });
      const first = events[Symbol.asyncIterator]().next();
      open({ frames });
      assert.deepEqual(await first, { value: 'data: [DONE]\n\n', done: false });
    } finally {
      mock.timers.reset();
    }
  });

  it('answers with the status of what fails before', async () => {
    const complete = () => Promise.reject(new Error('no model'));
    await assert.rejects(async () => endpoint.handler({ chat: { complete } } as unknown as Runtime, request), /no model/);
  });
});
