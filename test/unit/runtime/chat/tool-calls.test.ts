import assert from 'node:assert/strict';
import { afterEach, describe, it, mock } from 'node:test';
import { type CallParts, makeCalls } from '../../../../runtime/chat/agent/calls.js';
import { TurnTools } from '../../../../runtime/chat/agent/turn-tools.js';
import { WaitingCalls } from '../../../../runtime/chat/agent/waiting.js';
import { systemClock } from '../../../../runtime/chat/session.js';
import type { CompletionPart } from '../../../../runtime/completions/contract.js';
import { ScriptedTools } from '../../../support/scripted-tools.js';

const tools = new ScriptedTools();
const waiting = new WaitingCalls<{ sessionId: null }>(undefined as never, systemClock);
const never = new AbortController().signal;

async function parts(): Promise<CallParts> {
  const toolbox = await tools.open({}, undefined);
  const offered = new TurnTools([], toolbox, undefined, 128);
  const consent = waiting.consent('ns', 'p');
  const told = { record: undefined, made: () => undefined };
  return { toolbox, tools: offered, signal: never, sessionId: undefined, maxCharacters: 1000, consent, decided: {}, ...told };
}

const call = (name: string, index: number) => ({ id: `call_${index}`, type: 'function' as const, function: { name, arguments: '{}' } });

async function events(source: AsyncGenerator<CompletionPart, unknown, undefined>, until: string): Promise<Record<string, unknown>[]> {
  const seen: Record<string, unknown>[] = [];
  for (;;) {
    const { value, done } = await source.next();
    if (done) return seen;
    const event = value as { name: string; data: object };
    seen.push({ name: event.name, ...event.data });
    if (event.name === until) return seen;
  }
}

describe('calls of tools over time', () => {
  afterEach(() => mock.timers.reset());

  it('tells every ten seconds that a call is under way', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    tools.tools = {
      dig: {
        call: (_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
    };
    const source = makeCalls([call('dig', 0)], await parts());
    await events(source, 'tool_call');
    const next = events(source, 'tool_progress');
    mock.timers.tick(10_000);
    const [progress] = await next;
    assert.deepEqual([progress!.tool_call_id, typeof progress!.elapsed_ms], ['call_0', 'number']);
    await source.return();
  });

  it('gives up on a call that nobody allows in five minutes', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    tools.tools = { erase: { ask: true } };
    tools.calls.length = 0;
    const source = makeCalls([call('erase', 0)], await parts());
    await events(source, 'tool_waiting');
    const next = events(source, 'tool_result');
    mock.timers.tick(5 * 60_000);
    const [result] = await next;
    assert.equal(result!.result, 'Error: nobody allowed this call in time.');
    assert.deepEqual(tools.calls, []);
    await source.return();
  });

  it('makes 32 calls of one answer, 8 at a time', async () => {
    tools.tools = { look: { readOnly: true, call: () => new Promise((resolve) => setImmediate(() => resolve('seen'))) } };
    tools.calls.length = 0;
    tools.most = 0;
    const source = makeCalls(
      Array.from({ length: 40 }, (_, index) => call('look', index)),
      await parts(),
    );
    const results = (await events(source, 'never')).filter(({ name }) => name === 'tool_result');
    assert.deepEqual([tools.calls.length, tools.most, results.length], [32, 8, 40]);
    const last = results.find((one) => one.tool_call_id === 'call_39');
    assert.match(String(last!.result), /^Error: one answer makes at most 32 calls/);
  });
});
