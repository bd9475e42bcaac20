import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../../../runtime/completions/collect.js';
import type { CompletionPart } from '../../../../runtime/completions/contract.js';
import { chunkFrames, completionId, type FrameOptions, responseBody } from '../../../../runtime/completions/wire.js';
import { Failure } from '../../../../schemas/errors.js';

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const wireUsage = { ...usage, completion_tokens_details: { reasoning_tokens: 1 } };
const finish: CompletionPart = { type: 'finish', reason: 'stop', usage, thinkingTokens: 1 };
const options: FrameOptions = { id: 'chatcmpl-1', model: 'a "model"', created: 7 };

async function* stream(parts: CompletionPart[], error?: unknown): AsyncGenerator<CompletionPart> {
  yield* parts;
  if (error) throw error;
}

interface Choice {
  index: number;
  delta: Record<string, unknown>;
  message: Record<string, unknown>;
  finish_reason: string | null;
  logprobs?: unknown;
}

interface Frame {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: Choice[];
  usage?: unknown;
  error?: unknown;
}

/** Every data line, parsed; `[DONE]` as text. */
async function frames(parts: CompletionPart[], given: Partial<FrameOptions> = {}, error?: unknown): Promise<(Frame & string)[]> {
  let text = '';
  for await (const piece of chunkFrames(stream(parts, error), { ...options, ...given })) {
    assert.ok(piece.endsWith('\n\n'), 'whole frames');
    text += piece;
  }
  return text
    .trimEnd()
    .split('\n\n')
    .map((frame) => {
      assert.ok(frame.startsWith('data: ') && !frame.includes('\n'));
      return frame === 'data: [DONE]' ? '[DONE]' : JSON.parse(frame.slice(6));
    });
}

const deltas = (list: Frame[]) => list.filter((frame) => frame.choices?.[0]).map((frame) => frame.choices[0]!.delta);

describe('chunk frames', () => {
  it('tell how far a prompt is read in comments, which are no part of the answer', async () => {
    const progress = (read: number): CompletionPart => ({ type: 'progress', read, of: 8000 });
    const pieces: string[] = [];
    const parts = [progress(2048), progress(4096), { type: 'text', text: 'a' }, finish] as CompletionPart[];
    for await (const piece of chunkFrames(stream(parts), options)) pieces.push(piece);
    assert.deepEqual(pieces.slice(0, 2), [': prompt 2048/8000\n\n', ': prompt 4096/8000\n\n']);
    assert.match(pieces[2]!, /^data: .*"role":"assistant".*\n\ndata: .*"content":"a"/);
    assert.deepEqual(await collect(stream(parts)), await collect(stream(parts.slice(2))));
    const failed = await frames([], { fallbackText: 'sorry' }, new Error('x'));
    assert.deepEqual(deltas(failed)[1], { content: 'sorry' });
  });

  it('send the role, each part, the finish and the end', async () => {
    const list = await frames([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'a"\n😀' }, finish]);
    assert.deepEqual(deltas(list), [{ role: 'assistant', content: '' }, { reasoning_content: 'hm' }, { content: 'a"\n😀' }, {}]);
    assert.deepEqual(
      list.slice(0, -1).map((frame) => frame.choices[0]!.finish_reason),
      [null, null, null, 'stop'],
    );
    assert.equal(list.at(-1), '[DONE]');
    for (const frame of list.slice(0, -1)) {
      assert.deepEqual([frame.id, frame.object, frame.created, frame.model], ['chatcmpl-1', 'chat.completion.chunk', 7, 'a "model"']);
      assert.ok(!('usage' in frame));
    }
  });

  it('send usage in a frame of its own when asked', async () => {
    const list = await frames([{ type: 'text', text: 'x' }, finish], { includeUsage: true });
    assert.deepEqual(list.at(-2), {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'a "model"',
      choices: [],
      usage: wireUsage,
    });
    assert.ok(list.slice(0, -2).every((frame) => frame.usage === null));
  });

  it('send tool calls as the clients join them', async () => {
    const list = await frames([
      { type: 'tool_call', index: 0, id: 'call_1', name: 'f', arguments: '' },
      { type: 'tool_call', index: 0, arguments: '{"a":' },
      { type: 'tool_call', index: 0, arguments: '1}' },
      { ...finish, reason: 'tool_calls' },
    ]);
    assert.deepEqual(deltas(list).slice(1), [
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '1}' } }] },
      {},
    ]);
    assert.equal(list.at(-2)!.choices[0]!.finish_reason, 'tool_calls');
  });

  it('send logprobs beside their text', async () => {
    const logprobs = [{ token: 'x', logprob: -1, bytes: [120], top_logprobs: [] }];
    const list = await frames([{ type: 'text', text: 'x', logprobs }, finish]);
    assert.deepEqual(list[1]!.choices[0]!.logprobs, { content: logprobs });
  });

  it('turn a failure into an error frame', async () => {
    const seen: unknown[] = [];
    const list = await frames(
      [{ type: 'text', text: 'x' }],
      { onFailure: (error) => seen.push(error) },
      new Failure('unavailable', 'the host is gone'),
    );
    assert.deepEqual(list.slice(2), [
      { error: { message: 'the host is gone', type: 'server_error', param: null, code: 'unavailable' } },
      '[DONE]',
    ]);
    assert.equal(seen.length, 1);
    for (const [kind, type] of [
      ['model_failed', 'server_error'],
      ['invalid', 'invalid_request_error'],
    ] as const)
      assert.equal(((await frames([], {}, new Failure(kind, 'x'))).at(-2)!.error as { type: string }).type, type);
    const hidden = await frames([], {}, new Error('secret path'));
    assert.ok(!JSON.stringify(hidden).includes('secret'));
    assert.equal(hidden.at(-1), '[DONE]');
  });

  it('fall back to a text on the core API', async () => {
    const fallbackText = 'Sorry.';
    for (const list of [await frames([], { fallbackText }), await frames([], { fallbackText }, new Error('x'))]) {
      assert.deepEqual(deltas(list), [{ role: 'assistant', content: '' }, { content: 'Sorry.' }, {}]);
      assert.equal(list.at(-2)!.choices[0]!.finish_reason, 'stop');
      assert.equal(list.at(-1), '[DONE]');
    }
    const broken = await frames([{ type: 'text', text: 'x' }], { fallbackText }, new Error('x'));
    assert.deepEqual(deltas(broken), [{ role: 'assistant', content: '' }, { content: 'x' }]);
    assert.equal(broken.at(-1), '[DONE]');
  });

  it('give each choice its index, role and finish, and count them together', async () => {
    const of = (choice: number, part: CompletionPart): CompletionPart => ({ ...part, choice });
    const list = await frames(
      [{ type: 'text', text: 'a' }, of(1, { type: 'text', text: 'b' }), of(1, finish), { type: 'reasoning', text: 'c' }, finish],
      { includeUsage: true },
    );
    assert.deepEqual(
      list.slice(0, -2).map(({ choices: [choice] }) => [choice!.index, choice!.delta, choice!.finish_reason]),
      [
        [0, { role: 'assistant', content: '' }, null],
        [0, { content: 'a' }, null],
        [1, { role: 'assistant', content: '' }, null],
        [1, { content: 'b' }, null],
        [1, {}, 'stop'],
        [0, { reasoning_content: 'c' }, null],
        [0, {}, 'stop'],
      ],
    );
    const together = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, completion_tokens_details: { reasoning_tokens: 2 } };
    assert.deepEqual([list.at(-2)!.choices, list.at(-2)!.usage, list.at(-1)], [[], together, '[DONE]']);
  });

  it('end the parts when the reader leaves', async () => {
    let ended = false;
    async function* endless(): AsyncGenerator<CompletionPart> {
      try {
        for (;;) yield { type: 'text', text: 'x' };
      } finally {
        ended = true;
      }
    }
    for await (const _frame of chunkFrames(endless(), options)) break;
    assert.ok(ended);
  });
});

describe('the response body', () => {
  it('has several choices, each with what it thought and what its schema left', async () => {
    const thought = await collect(stream([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'hi' }, finish]));
    const noted = await collect(
      stream([{ type: 'text', text: '{}' }, { ...finish, thinkingTokens: 0, schemaNotes: ['a note'] } as CompletionPart]),
    );
    const body = responseBody([thought, noted], options);
    assert.deepEqual(body.choices, [
      { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop', thinking: { content: 'hm', tokens: 1 } },
      { index: 1, message: { role: 'assistant', content: '{}' }, finish_reason: 'stop', x_schema_notes: ['a note'] },
    ]);
    assert.deepEqual(body.usage, { ...wireUsage, completion_tokens: 4, total_tokens: 7 });
    assert.ok(!('thinking' in body) && !('x_schema_notes' in body));
  });

  it('counts as cached what was read before the request, and not what its choices take from one another', async () => {
    const cached = (tokens: number): CompletionPart => ({
      ...finish,
      usage: { ...wireUsage, prompt_tokens_details: { cached_tokens: tokens } },
    });
    const choices = await Promise.all([2, 3].map((tokens) => collect(stream([{ type: 'text', text: 'hi' }, cached(tokens)]))));
    const detailsOf = (of: typeof choices): unknown =>
      (responseBody(of, options) as { usage: { prompt_tokens_details?: object } }).usage.prompt_tokens_details;
    assert.deepEqual(detailsOf(choices), { cached_tokens: 2 });
    const none = await collect(stream([{ type: 'text', text: 'hi' }, finish]));
    assert.equal(detailsOf([choices[0]!, none]), undefined);
  });

  it('has the answer, thinking, usage and context', async () => {
    const context = {
      total_context: 10,
      prompt_tokens: 3,
      available_for_completion: 7,
      truncated: false,
      truncated_messages: 0,
      strategy_used: null,
    };
    const whole = await collect(stream([{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'hi' }, finish]));
    assert.deepEqual(responseBody([whole], { ...options, contextUsage: context }), {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 7,
      model: 'a "model"',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: wireUsage,
      thinking: { content: 'hm', tokens: 1 },
      x_context_usage: context,
    });
  });

  it('has null content beside tool calls, and logprobs when asked', async () => {
    const whole = await collect(
      stream([
        { type: 'tool_call', index: 0, id: 'call_1', name: 'f', arguments: '{}' },
        { ...finish, reason: 'tool_calls' },
      ]),
    );
    const [choice] = responseBody([whole], { ...options, logprobs: true }).choices as [Choice];
    assert.deepEqual(choice.message, {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    });
    assert.deepEqual(choice.logprobs, { content: [] });
    assert.equal(choice.finish_reason, 'tool_calls');
  });

  it('has an id of 32 hex digits', () => assert.match(completionId(), /^chatcmpl-[0-9a-f]{32}$/));
});
