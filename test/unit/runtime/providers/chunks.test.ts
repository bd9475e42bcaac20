import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect, collectChoices } from '../../../../runtime/completions/collect.js';
import type { CollectedCompletion, CompletionPart } from '../../../../runtime/completions/contract.js';
import { ChunkReader } from '../../../../runtime/providers/compat/chunks.js';
import { Failure } from '../../../../schemas/errors.js';
import { delta, usage } from '../../../support/scripted-openai.js';

function read(...chunks: Record<string, unknown>[]): Promise<CollectedCompletion> {
  const reader = new ChunkReader();
  async function* parts(): AsyncGenerator<CompletionPart> {
    for (const chunk of chunks) yield* reader.read(chunk);
    yield* reader.end();
  }
  return collect(parts());
}

const calls = (...list: unknown[]): Record<string, unknown> => delta({ tool_calls: list });
const shown = async (...chunks: Record<string, unknown>[]): Promise<string[]> =>
  (await read(...chunks)).toolCalls.map(
    (call) => `${call.id.startsWith('call_') ? 'call_' : call.id} ${call.function.name} ${call.function.arguments}`,
  );

describe('tool calls', () => {
  const CASES: readonly (readonly [name: string, chunks: Record<string, unknown>[], expected: string[]])[] = [
    [
      'in fragments',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '' } }),
        calls({ index: 0, function: { arguments: '{"x"' } }),
        calls({ index: 0, function: { arguments: ':1}' } }),
      ],
      ['a f {"x":1}'],
    ],
    [
      'whole, without an index',
      [calls({ id: 'a', function: { name: 'f', arguments: '{}' } }), calls({ id: 'b', function: { name: 'g', arguments: '{"y":2}' } })],
      ['a f {}', 'b g {"y":2}'],
    ],
    [
      'whole, several in one delta',
      [calls({ id: 'a', function: { name: 'f', arguments: '{}' } }, { id: 'b', function: { name: 'g', arguments: '{}' } })],
      ['a f {}', 'b g {}'],
    ],
    [
      'whole, all with index 0',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }),
        calls({ index: 0, id: 'b', function: { name: 'f', arguments: '{}' } }),
      ],
      ['a f {}', 'b f {}'],
    ],
    [
      'interleaved',
      [
        calls({ index: 1, id: 'b', function: { name: 'g' } }, { index: 0, id: 'a', function: { name: 'f' } }),
        calls({ index: 0, function: { arguments: '{"p":0}' } }),
        calls({ index: 1, function: { arguments: '{"q":1}' } }),
      ],
      ['b g {"q":1}', 'a f {"p":0}'],
    ],
    ['without an id', [calls({ index: 0, function: { name: 'f', arguments: '{}' } })], ['call_ f {}']],
    [
      'fragments without index and id',
      [calls({ function: { name: 'f', arguments: '{"x"' } }), calls({ function: { arguments: ':1}' } })],
      ['call_ f {"x":1}'],
    ],
    [
      'two by name only',
      [calls({ function: { name: 'f', arguments: '{}' } }), calls({ function: { name: 'f', arguments: '{}' } })],
      ['call_ f {}', 'call_ f {}'],
    ],
    [
      'the id in every piece',
      [
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }),
        calls({ index: 0, id: 'a', function: { name: 'f', arguments: '}' } }),
      ],
      ['a f {}'],
    ],
    [
      'arguments before the name',
      [calls({ index: 0, id: 'a', function: { arguments: '{"x":' } }), calls({ index: 0, function: { name: 'f', arguments: '1}' } })],
      ['a f {"x":1}'],
    ],
    ['arguments as an object', [calls({ index: 0, id: 'a', function: { name: 'f', arguments: { x: [1] } } })], ['a f {"x":[1]}']],
    ['no arguments at all', [calls({ index: 0, id: 'a', function: { name: 'f' } })], ['a f {}']],
    [
      'the old function_call',
      [delta({ function_call: { name: 'f', arguments: '{"x"' } }), delta({ function_call: { arguments: ':1}' } }, 'function_call')],
      ['call_ f {"x":1}'],
    ],
    ['never named', [calls({ index: 0, id: 'a', function: { arguments: '{}' } })], []],
    ['not a list, not objects', [delta({ tool_calls: 'x' }), calls(null, 1, 'x')], []],
  ];
  for (const [name, chunks, expected] of CASES) it(name, async () => assert.deepEqual(await shown(...chunks), expected));

  it('end the turn whatever the host calls it', async () => {
    const call = calls({ index: 0, id: 'a', function: { name: 'f' } });
    for (const reason of ['stop', 'tool_calls', 'function_call', null])
      assert.equal((await read(call, delta({}, reason))).finishReason, 'tool_calls');
    assert.equal((await read(call, delta({}, 'length'))).finishReason, 'length');
  });

  it('are limited', () =>
    assert.rejects(
      read(...Array.from({ length: 129 }, (_value, index) => calls({ index, id: `${index}`, function: { name: 'f' } }))),
      (error: unknown) => error instanceof Failure && error.kind === 'model_failed',
    ));
});

describe('chunks', () => {
  it('take reasoning from any of its names', async () => {
    for (const name of ['reasoning_content', 'reasoning', 'thinking']) {
      const { reasoning, text } = await read(delta({ [name]: 'why' }), delta({ content: 'so' }));
      assert.deepEqual([reasoning, text], ['why', 'so']);
    }
    assert.equal((await read(delta({ reasoning_content: 'why', reasoning: 'why' }))).reasoning, 'why');
    const whole = { choices: [{ index: 0, message: { content: 'so' }, finish_reason: 'stop' }], thinking: { content: 'why', tokens: 1 } };
    assert.equal((await read(whole)).reasoning, 'why');
  });

  it('take a leading think block for reasoning, however it is cut', async () => {
    const cases = [
      ['<think>a b</think>\n\nc', 'a b', 'c'],
      ['  <THINK>a</Think>b <think>c', 'a', 'b <think>c'],
      ['<think>never closed', 'never closed', ''],
      ['<thin', '', '<thin'],
      ['x <think>a', '', 'x <think>a'],
    ] as const;
    for (const [answer, reasoning, text] of cases)
      for (let size = 1; size <= answer.length; size++) {
        const pieces = Array.from({ length: Math.ceil(answer.length / size) }, (_value, i) =>
          delta({ content: answer.slice(i * size, (i + 1) * size) }),
        );
        const whole = await read(...pieces, delta({}, 'stop'));
        assert.deepEqual([whole.reasoning, whole.text], [reasoning, text], `${answer} cut every ${size}`);
      }
    const separated = await read(delta({ reasoning_content: 'why' }), delta({ content: '<think>' }), delta({ content: '</think>' }));
    assert.equal(separated.text, '<think></think>');
  });

  it('map finish reasons', async () => {
    const cases = { stop: 'stop', eos: 'stop', length: 'length', max_tokens: 'length', content_filter: 'content_filter', whatever: 'stop' };
    for (const [theirs, ours] of Object.entries(cases)) assert.equal((await read(delta({}, theirs))).finishReason, ours);
  });

  it('keep logprobs with their text', async () => {
    const item = { token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [{ token: 'b', logprob: -1, bytes: null }] };
    const chunk = { choices: [{ index: 0, delta: { content: 'a' }, logprobs: { content: [item] } }] };
    assert.deepEqual((await read(chunk, delta({}, 'stop'))).logprobs, [item]);
    assert.deepEqual((await read({ choices: [{ index: 0, delta: { content: 'a' }, logprobs: { content: 'x' } }] })).logprobs, []);
  });

  it('count tokens as the host says, and nothing else', async () => {
    const given = (usage: unknown): Promise<CollectedCompletion> =>
      read(delta({ content: 'a' }), { choices: [], usage } as Record<string, unknown>);
    assert.deepEqual((await given({ prompt_tokens: 3, completion_tokens: 4 })).usage, {
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
    });
    for (const [told, kept] of [
      [{ cached_tokens: 2 }, { prompt_tokens_details: { cached_tokens: 2 } }],
      [{ cached_tokens: 0 }, {}],
      [{ cached_tokens: '2' }, {}],
      [null, {}],
    ])
      assert.deepEqual((await given({ prompt_tokens: 3, completion_tokens: 4, prompt_tokens_details: told })).usage, {
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        ...kept,
      });
    assert.deepEqual((await given({ prompt_tokens: -1, completion_tokens: '4' })).usage, {
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
    });
    assert.equal(
      (await given({ prompt_tokens: 1, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 5 } })).thinkingTokens,
      5,
    );
    assert.equal((await given(null)).usage.total_tokens, 0);
  });

  it('read only choice 0, and survive nonsense', async () => {
    const other = { choices: [{ index: 1, delta: { content: 'no' } }] };
    const nonsense = [{ choices: null }, { choices: [null] }, { choices: [{ delta: 5 }] }, { choices: {} }, { usage: [] }, {}] as Record<
      string,
      unknown
    >[];
    assert.equal((await read(other, ...nonsense, delta({ content: 'yes' }), delta({ content: null }))).text, 'yes');
  });
});

describe('the choices of a host', () => {
  const of = (index: number, members: Record<string, unknown>, finish: string | null = null) => ({
    choices: [{ index, delta: members, finish_reason: finish }],
  });
  const texts = async (asked: number, ...chunks: Record<string, unknown>[]): Promise<unknown[][]> => {
    const reader = new ChunkReader(asked);
    async function* parts(): AsyncGenerator<CompletionPart> {
      for (const chunk of chunks) yield* reader.read(chunk);
      yield* reader.end();
    }
    const all = await collectChoices(parts());
    return all.map(({ text, finishReason, usage: counts }) => [text, finishReason, counts.prompt_tokens, counts.completion_tokens]);
  };
  const both = [of(0, { content: 'a' }), of(1, { content: '<think>hm</think>b' }), of(0, {}, 'stop'), of(1, {}, 'length'), usage(3, 9)];

  it('are read each on its own, and counted together', async () => {
    assert.deepEqual(await texts(2, ...both), [
      ['a', 'stop', 3, 9],
      ['b', 'length', 0, 0],
    ]);
    const whole = { choices: [0, 1].map((index) => ({ index, message: { content: `w${index}` }, finish_reason: 'stop' })) };
    assert.deepEqual(
      (await texts(2, whole)).map(([text]) => text),
      ['w0', 'w1'],
    );
  });

  it('that have no numbers are taken by their places', async () => {
    const whole = { choices: ['a', 'b'].map((content) => ({ message: { content }, finish_reason: 'stop' })) };
    assert.deepEqual(
      (await texts(2, whole)).map(([text]) => text),
      ['a', 'b'],
    );
    assert.deepEqual(
      (await texts(1, whole)).map(([text]) => text),
      ['a'],
    );
  });

  it('may be fewer than asked for; others are not read', async () => {
    assert.deepEqual(await texts(3, of(0, { content: 'a' }, 'stop'), usage(3, 2)), [['a', 'stop', 3, 2]]);
    assert.deepEqual(await texts(1, ...both), [['a', 'stop', 3, 9]]);
  });

  it('have ended when each has', () => {
    const reader = new ChunkReader(2);
    reader.read(of(0, { content: 'a' }, 'stop'));
    assert.deepEqual([reader.whole, reader.finished], [true, false]);
    reader.read(of(1, { content: 'b' }));
    assert.deepEqual([reader.whole, reader.finished], [false, false]);
    reader.read(of(1, {}, 'stop'));
    assert.deepEqual([reader.whole, reader.finished], [true, true]);
  });
});
