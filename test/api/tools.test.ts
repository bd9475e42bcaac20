import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatEndpoints } from '../../gateway/core/chat.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import { scenarios } from '../support/scenario.js';
import { ADDER, ADDING, CALLS, call, clock, openRuntime, stage, text, tools, user } from '../support/tools-stage.js';
import { FINISH } from '../unit/runtime/chat/scripted-provider.js';
import { BOUNDS } from './tools/bounds.js';
import { CLIENT_CALLS } from './tools/client-calls.js';
import { NOTES } from './tools/notes.js';
import { RESULTS } from './tools/results.js';
import { SERVER_CALLS } from './tools/server-calls.js';

scenarios('tools of servers in chat', { endpoints: chatEndpoints, context: openRuntime, close: (runtime) => runtime.close() }, [
  ...SERVER_CALLS,
  ...CLIENT_CALLS,
  ...RESULTS,
  ...BOUNDS,
  ...NOTES,
]);

const ASKING: Parameters<typeof stage> = [
  { add: ADDER, erase: { ask: true, call: () => 'erased' } },
  [text('Wait.'), ...call('add', '{"a":1,"b":2}', 0), ...call('erase', '{"id":7}', 1), CALLS],
  (request) => [text(`Result: ${request.messages.at(-1)!.content}`), FINISH],
];

interface Body {
  choices: { message: { content: string }; finish_reason: string }[];
  x_waiting?: { id: string; tool: string; arguments: string }[];
  x_tool_calls?: { result: string }[];
  usage: { total_tokens: number };
}

describe('calls that a person must allow', () => {
  const never = new AbortController().signal;
  const turnOf = (body: object, sessionId?: string) => ({
    namespace: 'ns',
    project: 'p',
    request: body as ChatRequest,
    stateful: sessionId !== undefined,
    sessionId,
  });

  it('an answer in one piece tells what waits; the decision goes on, also after a restart', async () => {
    stage(...ASKING);
    let runtime = await openRuntime();
    const first = (await (await runtime.chat.complete(turnOf(user('go'), 'asked'), never)).body()) as unknown as Body;
    assert.match(
      first.choices[0]!.message.content,
      /^Wait\.\n\nThis answer waits until somebody allows or denies a call of a tool: erase of desk\.$/,
    );
    assert.deepEqual(tools.calls, [{ name: 'add', args: { a: 1, b: 2 } }]);
    const [waiting] = first.x_waiting!;
    assert.equal(waiting!.arguments, '{"id":7}');
    assert.deepEqual(await runtime.chat.history('ns', 'p', 'asked'), []);
    await runtime.close();
    runtime = await openRuntime();
    assert.deepEqual(
      runtime.chat.waitingCalls('ns', 'p').map(({ id }) => id),
      [waiting!.id],
    );
    const { completion, ...reply } = await runtime.chat.decide('ns', 'p', waiting!.id, 'allow', never);
    assert.deepEqual(reply, { id: waiting!.id, decision: 'allow', waiting: [] });
    const rest = completion as unknown as Body;
    assert.equal(rest.choices[0]!.message.content, 'Wait.\n\nResult: erased');
    assert.equal(rest.usage.total_tokens, 18);
    assert.deepEqual(
      rest.x_tool_calls!.map(({ result }) => result),
      ['3', 'erased'],
    );
    assert.deepEqual(
      (await runtime.chat.history('ns', 'p', 'asked')).map(({ role, content }) => [role, content]),
      [
        ['user', 'go'],
        ['assistant', null],
        ['tool', '3'],
        ['tool', 'erased'],
        ['assistant', 'Wait.\n\nResult: erased'],
      ],
    );
    await assert.rejects(runtime.chat.decide('ns', 'p', waiting!.id, 'allow', never), { code: 'CallNotWaiting' });
    assert.equal(tools.calls.length, 2);
    await runtime.close();
  });

  it('a call that is denied is not made, and the model is told', async () => {
    stage(...ASKING);
    const runtime = await openRuntime();
    const first = (await (await runtime.chat.complete(turnOf(user('go')), never)).body()) as unknown as Body;
    const { completion } = await runtime.chat.decide('ns', 'p', first.x_waiting![0]!.id, 'deny', never);
    assert.equal((completion as unknown as Body).choices[0]!.message.content, 'Wait.\n\nResult: Error: the user did not allow this call.');
    assert.equal(tools.calls.length, 1);
    await runtime.close();
  });

  it('of several calls each is decided; two who decide at once do it once', async () => {
    stage(
      { erase: { ask: true, call: () => 'erased' } },
      [...call('erase', '{}', 0), ...call('erase', '{}', 1), CALLS],
      [text('ok'), FINISH],
    );
    const runtime = await openRuntime();
    const first = (await (await runtime.chat.complete(turnOf(user('go')), never)).body()) as unknown as Body;
    const [one, other] = first.x_waiting!;
    const half = await runtime.chat.decide('ns', 'p', one!.id, 'allow', never);
    assert.equal(half.completion, null);
    assert.deepEqual(
      half.waiting.map(({ id }) => id),
      [other!.id],
    );
    const both = await Promise.allSettled(
      ['allow', 'deny'].map((said) => runtime.chat.decide('ns', 'p', other!.id, said as 'allow', never)),
    );
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.deepEqual(runtime.chat.waitingCalls('ns', 'p'), []);
    await runtime.close();
  });

  it('a turn that nobody decides is gone after half an hour, and one whose session is deleted at once', async () => {
    const runtime = await openRuntime();
    for (const end of [
      () => runtime.chat.sweep(),
      () => runtime.chat.deleteSession('ns', 'p', 'over'),
      () => runtime.chat.deleteSessions('ns', 'p'),
    ]) {
      stage(...ASKING);
      const first = (await (await runtime.chat.complete(turnOf(user('go'), 'over'), never)).body()) as unknown as Body;
      assert.equal(runtime.chat.waitingCalls('ns', 'p').length, 1);
      clock.aheadMs = end.toString().includes('sweep') ? 31 * 60_000 : 0;
      await end();
      assert.deepEqual(runtime.chat.waitingCalls('ns', 'p'), []);
      clock.aheadMs = 0;
      await assert.rejects(runtime.chat.decide('ns', 'p', first.x_waiting![0]!.id, 'allow', never), { code: 'CallNotWaiting' });
    }
    await runtime.close();
  });

  it('a stream waits, is told what for, and goes on by itself', async () => {
    stage(...ASKING);
    const runtime = await openRuntime();
    const turn = await runtime.chat.complete(turnOf(user('go', { stream: true })), never);
    let all = '';
    for await (const frame of turn.frames()) {
      all += frame;
      const found = /"id":"(mcall_[^"]*)"/.exec(frame);
      if (!found) continue;
      const id = found[1]!;
      assert.deepEqual(
        runtime.chat.waitingCalls('ns', 'p').map((one) => one.id),
        [id],
      );
      const { completion } = await runtime.chat.decide('ns', 'p', id, 'allow', never);
      assert.equal(completion, null);
    }
    assert.match(all, /Result: erased/);
    assert.match(all, /\[DONE\]/);
    await runtime.close();
  });

  it('what waits goes with the client that leaves', async () => {
    stage(...ASKING);
    const runtime = await openRuntime();
    const gone = new AbortController();
    const turn = await runtime.chat.complete(turnOf(user('go', { stream: true })), gone.signal);
    for await (const frame of turn.frames()) {
      if (!frame.includes('tool_waiting')) continue;
      gone.abort(new Error('the client left'));
    }
    assert.deepEqual(runtime.chat.waitingCalls('ns', 'p'), []);
    await runtime.close();
  });
});

describe('a turn with tools that is left', () => {
  it('ends the call that is under way', async () => {
    let ended = false;
    const dig = (
      _args: unknown,
      { signal, onProgress }: { signal: AbortSignal; onProgress?: (progress: { progress: number }) => void },
    ) => {
      onProgress?.({ progress: 1 });
      return new Promise<string>((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          ended = true;
          reject(signal.reason as Error);
        }),
      );
    };
    stage({ dig: { call: dig } }, [...call('dig'), CALLS]);
    const runtime = await openRuntime();
    const turn = await runtime.chat.complete(
      { namespace: 'ns', project: 'p', request: user('x', { stream: true }) as ChatRequest, stateful: true, sessionId: 'left' },
      new AbortController().signal,
    );
    for await (const frame of turn.frames()) if (frame.includes('tool_progress')) break;
    assert.equal(ended, true);
    assert.deepEqual(await runtime.chat.history('ns', 'p', 'left'), []);
    await runtime.close();
  });

  it('calls nothing a second time when it is repeated, but what only reads', async () => {
    stage(
      { add: ADDER, erase: { call: () => 'erased' } },
      [...call('add', '{"a":1,"b":2}', 0), ...call('erase', '{}', 1), CALLS],
      [text('done'), FINISH],
      [...call('add', '{"a":1,"b":2}', 0), ...call('erase', '{}', 1), CALLS],
      (request) => [text(String(request.messages.at(-1)!.content)), FINISH],
    );
    const runtime = await openRuntime();
    const never = new AbortController().signal;
    const request = user('x') as ChatRequest;
    const turn = await runtime.chat.complete({ namespace: 'ns', project: 'p', request, stateful: false }, never);
    await turn.body();
    const { replayed } = await runtime.chat.replay('ns', 'p', turn.eventId!, { config: 'current' }, never);
    assert.equal(replayed.response, 'Error: a replay calls only tools that are read-only.');
    assert.deepEqual(
      tools.calls.map(({ name }) => name),
      ['add', 'erase', 'add'],
    );
    await runtime.close();
  });

  it('notes each call in the event of the turn', async () => {
    stage(...ADDING);
    const runtime = await openRuntime();
    const turn = await runtime.chat.complete(
      { namespace: 'ns', project: 'p', request: user('x') as ChatRequest, stateful: false },
      new AbortController().signal,
    );
    await turn.body();
    const { sub_events: steps } = await runtime.events.get('ns', 'p', turn.eventId!);
    const names = steps.map((step) => step.event_name);
    assert.deepEqual(names.slice(-3), ['tool_call', 'tool_result', 'response_generated']);
    const { data } = steps.at(-2) as { data: Record<string, unknown> };
    assert.equal(data.result, '5');
    assert.equal(typeof data.duration_ms, 'number');
    await runtime.close();
  });
});
