import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatEndpoints } from '../../gateway/core/chat.js';
import { openRuntime, PLAIN, project, provider, text, user } from '../support/chat-stage.js';
import { scenarios } from '../support/scenario.js';
import { FINISH } from '../unit/runtime/chat/scripted-provider.js';
import { ENDINGS } from './chat/endings.js';
import { REQUESTS } from './chat/requests.js';
import { SESSIONS } from './chat/sessions.js';
import { SETTINGS } from './chat/settings.js';
import { STREAMS } from './chat/streams.js';
import { CALLS } from './chat/tool-calls.js';

scenarios('chat of the core API', { endpoints: chatEndpoints, context: openRuntime, close: (runtime) => runtime.close() }, [
  ...SESSIONS,
  ...STREAMS,
  ...REQUESTS,
  ...SETTINGS,
  ...CALLS,
  ...ENDINGS,
]);

describe('chat turns', () => {
  const call = (request: object, sessionId: string) => ({
    namespace: 'ns',
    project: 'p',
    stateful: true,
    sessionId,
    request: request as never,
  });

  it('46: two turns of one session at once both succeed, and the history has both', async () => {
    const runtime = await openRuntime();
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    provider.say((request) => {
      const content = String(request.messages.at(-1)?.content);
      return [text(`${content}-1 `), ...(content === 'slow' ? [gate] : []), text(`${content}-2`), FINISH];
    });
    const never = new AbortController().signal;
    const slow = (await runtime.chat.complete(call(user('slow'), 'both'), never)).body();
    const fast = await (await runtime.chat.complete(call(user('fast'), 'both'), never)).body();
    release();
    await slow;
    assert.ok(JSON.stringify(fast).includes('fast-1 fast-2'));
    assert.deepEqual(
      (await runtime.chat.history('ns', 'p', 'both')).map((message) => message.content),
      ['fast', 'fast-1 fast-2', 'slow', 'slow-1 slow-2'],
    );
    await runtime.close();
  });

  it('47: a client that leaves ends the generation, and the turn is not stored', async () => {
    const runtime = await openRuntime();
    provider.say([text('a'), text('b'), FINISH]);
    const before = provider.left;
    const turn = await runtime.chat.complete(call(user('x', { stream: true }), 'leaver'), new AbortController().signal);
    for await (const frame of turn.frames()) {
      assert.ok(frame.includes('"content":"a"'));
      break;
    }
    assert.equal(provider.left, before + 1);
    assert.deepEqual(await runtime.chat.history('ns', 'p', 'leaver'), []);
    await runtime.close();
  });

  it('a turn that has been sent in full is on disk', async () => {
    let runtime = await openRuntime();
    provider.say([text('kept'), FINISH]);
    const turn = await runtime.chat.complete(call(user('x', { stream: true }), 'kept'), new AbortController().signal);
    for await (const frame of turn.frames()) if (frame.includes('"finish_reason":"stop"')) break;
    await runtime.close();
    runtime = await openRuntime();
    assert.deepEqual(
      (await runtime.chat.history('ns', 'p', 'kept')).map((message) => message.content),
      ['x', 'kept'],
    );
    await runtime.close();
  });

  it('the sessions of a purged project go with it', async () => {
    const runtime = await openRuntime();
    project('ns', 'doomed', { runtime: { models: [PLAIN] } });
    provider.say([text('a'), FINISH]);
    const turn = await runtime.chat.complete({ ...call(user('x'), 's'), project: 'doomed' }, new AbortController().signal);
    await turn.body();
    await runtime.projects.delete('ns', 'doomed', { purge: true });
    project('ns', 'doomed', { runtime: { models: [PLAIN] } });
    assert.deepEqual(await runtime.chat.history('ns', 'doomed', 's'), []);
    await runtime.close();
  });
});
