import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { collect, collectChoices } from '../../runtime/completions/collect.js';
import type { CollectedCompletion, CompletionPart, CompletionRequest } from '../../runtime/completions/contract.js';
import type { Provider } from '../../runtime/providers/contract.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { until } from '../support/until.js';

/** What a model can be brought to do. `endless` writes until it is stopped. */
export type Act = 'text' | 'length' | 'stop' | 'reasoning' | 'tool_call' | 'two_calls' | 'endless';

/** What an act is expected to bring; a member that is absent is not compared. */
export interface Expected {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { name: string; arguments: unknown }[];
}

/** A provider in a place where acts can be arranged: in front of a scripted host, or of a real engine with a model that does as it is told. */
export interface Stage {
  readonly provider: Provider;
  readonly model: ModelConfig;
  /** Acts that cannot be arranged here; their cases are skipped. */
  readonly cannot?: readonly Act[];
  /** Arranges that the next request, which it returns, brings about the act. */
  arrange(act: Act): { request: CompletionRequest; expected: Expected };
  /** Answers being made right now behind the provider. */
  active(): number | Promise<number>;
  close(): Promise<void>;
}

/** A signal that never aborts. */
export const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/** Reads all parts, and checks what every completion must keep: one finish, last, and sums that add up. */
export async function readAll(parts: AsyncIterable<CompletionPart>): Promise<{ parts: CompletionPart[]; whole: CollectedCompletion }> {
  const list: CompletionPart[] = [];
  for await (const part of parts) list.push(part);
  assert.equal(list.filter((part) => part.type === 'finish').length, 1, 'exactly one finish');
  const last = list.at(-1)!;
  assert.equal(last.type, 'finish', 'the finish comes last');
  if (last.type === 'finish') assert.equal(last.usage.total_tokens, last.usage.prompt_tokens + last.usage.completion_tokens);
  const named = new Set<number>();
  for (const part of list) {
    if (part.type === 'text') assert.ok(part.text !== '' || part.logprobs, 'no empty text');
    if (part.type !== 'tool_call') continue;
    if (!named.has(part.index)) assert.ok(part.id && part.name, 'id and name come in the first part of a call');
    named.add(part.index);
  }
  assert.deepEqual(
    [...named],
    [...named.keys()].map((_value, i) => i),
    'calls are numbered from 0 in order',
  );
  async function* again(): AsyncGenerator<CompletionPart> {
    yield* list;
  }
  return { parts: list, whole: await collect(again()) };
}

function compare(whole: CollectedCompletion, expected: Expected): void {
  if (expected.text !== undefined) assert.equal(whole.text, expected.text);
  if (expected.reasoning !== undefined) assert.equal(whole.reasoning, expected.reasoning);
  if (expected.calls)
    assert.deepEqual(
      whole.toolCalls.map((call) => ({ name: call.function.name, arguments: JSON.parse(call.function.arguments) })),
      expected.calls,
    );
}

/** What every provider must do, whatever stands behind it. */
export function providerSuite(name: string, open: () => Promise<Stage>): void {
  describe(`provider ${name}`, () => {
    let stage: Stage;
    before(async () => {
      stage = await open();
    });
    after(() => stage.close());

    const act = (kind: Act, title: string, run: () => Promise<void>): void => {
      it(title, async (t) => {
        if (stage.cannot?.includes(kind)) t.skip(`cannot arrange ${kind}`);
        else await run();
      });
    };
    const complete = async (kind: Act): Promise<{ parts: CompletionPart[]; whole: CollectedCompletion }> => {
      const { request, expected } = stage.arrange(kind);
      const completion = await stage.provider.open(stage.model, request, NEVER);
      const read = await readAll(completion.parts);
      compare(read.whole, expected);
      return read;
    };

    act('text', 'streams text and counts tokens', async () => {
      const { parts, whole } = await complete('text');
      assert.ok(parts.filter((part) => part.type === 'text').length > 1, 'text comes in several parts');
      assert.equal(whole.finishReason, 'stop');
      assert.ok(whole.usage.prompt_tokens > 0 && whole.usage.completion_tokens > 0);
    });
    act('text', 'makes two choices of one request', async () => {
      const { request, expected } = stage.arrange('text');
      const { parts } = await stage.provider.open(stage.model, { ...request, n: 2 }, NEVER);
      const choices = await collectChoices(parts);
      assert.equal(choices.length, 2);
      for (const choice of choices) compare(choice, expected);
      assert.ok(choices.every(({ finishReason }) => finishReason === 'stop'));
      assert.ok(choices[0]!.usage.prompt_tokens > 0 && choices[0]!.usage.completion_tokens > 0);
    });
    act('endless', 'leaving two choices early ends the work of both', async () => {
      const { request } = stage.arrange('endless');
      const { parts } = await stage.provider.open(stage.model, { ...request, n: 2 }, NEVER);
      for await (const part of parts) if (part.type === 'text') break;
      await until(async () => (await stage.active()) === 0, 'nothing is active');
    });
    act('length', 'says when the answer was cut at max_tokens', async () => {
      assert.equal((await complete('length')).whole.finishReason, 'length');
    });
    act('stop', 'ends at a stop string', async () => {
      assert.equal((await complete('stop')).whole.finishReason, 'stop');
    });
    act('reasoning', 'keeps reasoning apart from the answer', async () => {
      const { whole } = await complete('reasoning');
      assert.ok(whole.reasoning.length > 0);
      assert.doesNotMatch(whole.text + whole.reasoning, /<\/?think>/);
    });
    for (const kind of ['tool_call', 'two_calls'] as const)
      act(kind, `streams ${kind === 'tool_call' ? 'a tool call' : 'two tool calls'}`, async () => {
        const { whole } = await complete(kind);
        assert.equal(whole.finishReason, 'tool_calls');
        assert.equal(whole.toolCalls.length, kind === 'tool_call' ? 1 : 2);
        assert.equal(new Set(whole.toolCalls.map((call) => call.id)).size, whole.toolCalls.length);
      });

    act('endless', 'an abort in the middle ends the work behind it', async () => {
      const controller = new AbortController();
      const { request } = stage.arrange('endless');
      const completion = await stage.provider.open(stage.model, request, controller.signal);
      const reason = new Error('the client is gone');
      let seen = 0;
      await assert.rejects(async () => {
        for await (const _part of completion.parts) if (++seen === 3) controller.abort(reason);
      });
      await until(async () => (await stage.active()) === 0, 'nothing is active');
    });
    act('endless', 'an abort while nobody reads ends the work too', async () => {
      const controller = new AbortController();
      const { request } = stage.arrange('endless');
      const completion = await stage.provider.open(stage.model, request, controller.signal);
      controller.abort();
      await until(async () => (await stage.active()) === 0, 'nothing is active');
      await assert.rejects(async () => {
        for await (const _part of completion.parts);
      });
    });
    act('endless', 'leaving the loop early ends the work', async () => {
      const { request } = stage.arrange('endless');
      const completion = await stage.provider.open(stage.model, request, NEVER);
      for await (const part of completion.parts) if (part.type === 'text') break;
      await until(async () => (await stage.active()) === 0, 'nothing is active');
    });
    act('text', 'an aborted signal opens nothing', async () => {
      const { request } = stage.arrange('text');
      await assert.rejects(stage.provider.open(stage.model, request, AbortSignal.abort(new Error('too late'))));
      await until(async () => (await stage.active()) === 0, 'nothing is active');
    });
    act('text', 'serves 50 completions at once', async () => {
      const all = Array.from({ length: 50 }, () => complete('text'));
      assert.equal((await Promise.all(all)).length, 50);
    });
  });
}
