import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatEndpoints } from '../../gateway/core/chat.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import { ConversationStage } from '../support/conversation-stage.js';
import { scenarios } from '../support/scenario.js';
import { ADDER, ADDING, asked, CALLS, call, clock, openRuntime, stage, text, tools, user } from '../support/tools-stage.js';
import { FINISH, type Step } from '../unit/runtime/chat/scripted-provider.js';
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

describe('an answer of a conversation that broke off behind calls', () => {
  const adding = (id: string, a: number) => ({
    calls: {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'add', arguments: `{"a":${a},"b":3}` } }],
    },
    result: { role: 'tool', tool_call_id: id, content: String(a + 3) },
  });
  const first = adding('call_0', 2);
  const question = { role: 'user', content: '2+3?' };
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
  };

  it('goes on behind its calls and their results, and keeps them with those that follow', async () => {
    stage({ add: ADDER }, ADDING[1] as Step[], [text('It'), new Error('the host is gone')]);
    const conversations = new ConversationStage(await openRuntime());
    const id = await conversations.create();
    const broken = await conversations.turn(id, { message: { content: '2+3?' } });
    assert.deepEqual([broken.status, broken.content, broken.made_calls?.length], ['failed', 'Let me see.\n\nIt', 1]);
    stage({ add: ADDER }, [text(' takes more.'), ...call('add', '{"a":5,"b":3}', 0, 'call_1'), CALLS], [text('It is 8.'), FINISH]);
    const whole = await conversations.turn(id, { continue: broken.id });
    const begun = { role: 'assistant', content: 'Let me see.\n\nIt' };
    assert.deepEqual(asked(0).messages, [question, first.calls, first.result, begun]);
    const second = adding('call_1', 5);
    const later = { ...second.calls, content: 'Let me see.\n\nIt takes more.' };
    assert.deepEqual(asked(1).messages, [question, first.calls, first.result, later, second.result]);
    assert.deepEqual([whole.status, whole.content], ['done', 'Let me see.\n\nIt takes more.\n\nIt is 8.']);
    assert.deepEqual(
      whole.made_calls?.map(({ result }) => result),
      ['5', '8'],
    );
    stage({ add: ADDER }, [text('Yes.'), FINISH]);
    await conversations.turn(id, { message: { content: 'Sure?' } });
    const answer = { role: 'assistant', content: whole.content };
    const all = [question, first.calls, first.result, second.calls, second.result, answer, { role: 'user', content: 'Sure?' }];
    assert.deepEqual(asked(0).messages, all);
    await conversations.close();
  });

  it('has the calls that were answered when its client left among others', async () => {
    const dig = (_args: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    stage({ add: ADDER, dig: { call: dig } }, [...call('add', '{"a":2,"b":3}', 0), ...call('dig', '{}', 1), CALLS]);
    const conversations = new ConversationStage(await openRuntime());
    const id = await conversations.create();
    const turn = conversations.begin('conversation_turn', { ids: { conversation_id: id }, body: { message: { content: '2+3?' } } });
    await until(() => turn.written.includes('event: tool_result'));
    turn.leave();
    await until(() => conversations.runtime.conversations.shared.running.size === 0);
    stage({ add: ADDER }, [text('It is 5.'), FINISH]);
    const whole = await conversations.turn(id, { continue: (await conversations.messages(id)).at(-1)!.id });
    assert.deepEqual(asked(0).messages, [question, first.calls, first.result]);
    assert.deepEqual([whole.status, whole.content], ['done', 'It is 5.']);
    await conversations.close();
  });
});

describe('an answer that goes on in a session', () => {
  it('is one answer of its history', async () => {
    stage({}, [text(' upon a time.'), FINISH]);
    const runtime = await openRuntime();
    const messages = [
      { role: 'user', content: 'a story' },
      { role: 'assistant', content: 'Once' },
    ];
    const request = { messages, continue_final_message: true } as ChatRequest;
    await (
      await runtime.chat.complete(
        { namespace: 'ns', project: 'p', request, stateful: true, sessionId: 'goes-on' },
        new AbortController().signal,
      )
    ).body();
    assert.deepEqual(await runtime.chat.history('ns', 'p', 'goes-on'), [messages[0], { role: 'assistant', content: 'Once upon a time.' }]);
    await runtime.close();
  });
});
