import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allocate, completionRoom } from '../../../../runtime/completions/budget.js';
import { fitPrompt } from '../../../../runtime/completions/fit-context.js';
import type { PlainMessage } from '../../../../runtime/completions/messages.js';
import { compressHistory } from '../../../../runtime/completions/shorten-history.js';
import {
  type CountedMessage,
  cutContents,
  dropMessages,
  keptTokens,
  leastTokens,
  strategyOf,
  TRUNCATION_STRATEGIES,
  type TruncationStrategy,
  totalTokens,
} from '../../../../runtime/completions/truncation.js';
import type { PrepareRequest } from '../../../../runtime/engines/contracts/language.js';
import { Failure } from '../../../../schemas/errors.js';
import type { Tool } from '../../../../schemas/generated/common.js';
import { ScriptedModel } from '../../../support/scripted-model.js';

const signal = new AbortController().signal;
const user = (content: string): PlainMessage => ({ role: 'user', content });
const assistant = (content: string): PlainMessage => ({ role: 'assistant', content });
const system = (content: string): PlainMessage => ({ role: 'system', content });

describe('the token budget', () => {
  const CASES: [string, number, Parameters<typeof allocate>[1], { completion: number; safety: number; maxPrompt: number }][] = [
    ['defaults', 4096, {}, { completion: 512, safety: 204, maxPrompt: 3380 }],
    ['an asked-for length', 4096, { max_tokens: 1000 }, { completion: 1000, safety: 204, maxPrompt: 2892 }],
    ['thinking', 8192, { think: true }, { completion: 1536, safety: 409, maxPrompt: 6247 }],
    ['a thinking budget', 8192, { think: true, thinking_budget: 100, max_tokens: 100 }, { completion: 200, safety: 409, maxPrompt: 7583 }],
    ['thinking off', 8192, { think: false, thinking_budget: 100 }, { completion: 512, safety: 409, maxPrompt: 7271 }],
    ['a tiny context', 256, {}, { completion: 64, safety: 12, maxPrompt: 180 }],
    ['a length beyond the context', 512, { max_tokens: 5000 }, { completion: 5000, safety: 25, maxPrompt: 128 }],
  ];
  for (const [name, context, request, expected] of CASES) {
    it(name, () => {
      const { completion, safety, maxPrompt } = allocate(context, request);
      assert.deepEqual({ completion, safety, maxPrompt }, expected);
    });
  }

  it('never generates beyond the context', () => {
    assert.equal(completionRoom(allocate(512, { max_tokens: 5000 }), 100), 412);
    assert.equal(completionRoom(allocate(512, { max_tokens: 5 }), 100), 5);
    assert.equal(completionRoom(allocate(512, {}), 600), 0);
  });

  it('fails when the context is unknown', () => {
    assert.throws(
      () => allocate(0, {}),
      (error: Failure) => error.code === 'context_validation_unavailable' && error.status === 400,
    );
  });
});

describe('compression', () => {
  it('leaves the last four messages identical', () => {
    const messages = [user('a\n\n\n\nb'), user('c\n\n\n\nd'), assistant('e  f'), user('g'), assistant('h\n\n\n\ni')];
    const before = structuredClone(messages);
    const out = compressHistory(messages);
    assert.equal(out[0]?.content, 'a\n\nb');
    assert.deepEqual(out.slice(1), messages.slice(1));
    assert.deepEqual(messages, before);
  });

  it('tidies blank space in short histories, indentation apart', () => {
    assert.deepEqual(
      compressHistory([user(' a   b\n    indented\n\n\n\nc ')]).map((message) => message.content),
      ['a b\n    indented\n\nc'],
    );
  });

  it('shortens old tool results and long code', () => {
    const code = `look:\n\`\`\`js\n${Array.from({ length: 30 }, (_, n) => `line${n}`).join('\n')}\n\`\`\`\nend`;
    const tail = [user('1'), user('2'), user('3'), user('4')];
    const [tool, answer] = compressHistory([{ role: 'tool', content: 'x'.repeat(5000) }, assistant(code), ...tail]);
    assert.ok(tool!.content.length < 900 && /shortened/.test(tool!.content));
    assert.match(answer!.content, /line4\n\[25 more lines left out\]\n```\nend$/);
    assert.ok(!answer!.content.includes('line5'));
  });

  it('keeps the newest of repeated messages', () => {
    const text = 'Please tell me again and again what the weather is like in Paris, today!';
    const out = compressHistory([user(text), assistant('sun'), user(text.toUpperCase()), user('1'), user('2'), user('3'), user(text)]);
    assert.deepEqual(
      out.map((message) => message.content),
      ['sun', '1', '2', '3', text],
    );
  });
});

const counted = (messages: PlainMessage[], tokens = 100): CountedMessage[] => messages.map((message) => ({ message, tokens }));
const HISTORY = counted([system('s'), user('u1'), assistant('a1'), user('u2'), assistant('a2'), user('u3')]);
const contents = (list: CountedMessage[]) => list.map((entry) => entry.message.content);

describe('dropping messages', () => {
  const CASES: [TruncationStrategy, number, string[]][] = [
    ['sliding_window', 300, ['u2', 'a2', 'u3']],
    ['keep_system', 300, ['s', 'a2', 'u3']],
    ['middle_out', 300, ['s', 'u1', 'u3']],
    ['middle_out', 400, ['s', 'u1', 'a2', 'u3']],
    ['summarize', 300, ['s', 'a2', 'u3']],
    ['sliding_window', 600, ['s', 'u1', 'a1', 'u2', 'a2', 'u3']],
    ['keep_system', 10, ['s', 'u3']],
    ['sliding_window', 10, ['u3']],
  ];
  for (const [strategy, limit, expected] of CASES)
    it(`${strategy} to ${limit}`, () => assert.deepEqual(contents(dropMessages(HISTORY, limit, strategy)), expected));

  it('drops tool results with their call', () => {
    const call: PlainMessage = { ...assistant('call'), tool_calls: [{ function: { name: 'f' } }] };
    const history = counted([
      user('u1'),
      call,
      { role: 'tool', content: 'r1' },
      { role: 'tool', content: 'r2' },
      assistant('a'),
      user('u2'),
    ]);
    assert.deepEqual(contents(dropMessages(history, 400, 'keep_system')), ['a', 'u2']);
  });

  it('reads strategy names', () => {
    for (const name of TRUNCATION_STRATEGIES) assert.equal(strategyOf(name, false), name);
    assert.equal(strategyOf(null, false), 'summarize');
    assert.equal(strategyOf('nonsense', false), 'summarize');
    assert.equal(strategyOf('sliding_window', true), 'keep_system');
  });
});

describe('shortening contents', () => {
  it('keeps what the rules say', () => {
    assert.deepEqual([20_000, 10_001, 4000, 1001, 1000, 200].map(keptTokens), [500, 500, 300, 300, 500, 100]);
  });

  it('cuts the largest first and the last user message last', () => {
    const history = [
      ...counted([system('s'.repeat(800))], 200),
      ...counted([assistant('a'.repeat(8000))], 2000),
      ...counted([user('u'.repeat(1200))], 300),
    ];
    const out = cutContents(history, 900);
    assert.ok(out[1]!.message.content.length < 1300 && out[1]!.message.content.endsWith('to fit the context ...]'));
    assert.equal(out[0], history[0]);
    assert.equal(out[2], history[2]);
    assert.ok(totalTokens(out) <= 900);
  });

  it('leaves small messages and surrogate pairs whole', () => {
    const small = counted([user('x')], 90);
    assert.deepEqual(cutContents(small, 1), small);
    const [cut] = cutContents(
      [
        { message: assistant('😀'.repeat(500)), tokens: 505 },
        { message: user('u'), tokens: 5 },
      ],
      100,
    );
    assert.ok(!/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(cut!.message.content));
  });
});

describe('the fewest tokens of messages', () => {
  const CASES: [what: string, messages: PlainMessage[], longestToken: number | undefined, expected: number][] = [
    ['the characters by the longest token', [user('x'.repeat(100)), system('y'.repeat(60))], 16, 10],
    ['blanks at the ends, which templates leave out', [user(`${' '.repeat(500)}x${'\n'.repeat(500)}`)], 1, 1],
    ['thinking that is over', [assistant(`<think>${'x'.repeat(500)}</think>\n\nyes`)], 1, 3],
    ['the same in a question, where it is text', [user(`${'x'.repeat(500)}</think>yes`)], 1, 511],
    ['a tokenizer with tokens for unknown words', [user('x'.repeat(5_000))], undefined, 0],
  ];
  for (const [what, messages, longestToken, expected] of CASES)
    it(what, () => assert.equal(leastTokens(messages, longestToken === undefined ? {} : { longestToken }), expected));
});

describe('fitting a prompt', () => {
  const long = (n: number) => 'word '.repeat(n);
  const conversation = () => [
    system('You are kind.'),
    ...Array.from({ length: 20 }, (_, n) => (n % 2 ? assistant(`answer ${n} ${long(100)}`) : user(`question ${n} ${long(100)}`))),
    user('What now?'),
  ];

  async function fit(
    messages: PlainMessage[],
    strategy: TruncationStrategy,
    contextSize = 2048,
    autoTruncate = true,
    model = new ScriptedModel({ contextSize }),
  ) {
    const before = structuredClone(messages);
    const allocation = allocate(contextSize, {});
    const render = (list: PlainMessage[]) => ({ messages: list, addGenerationPrompt: true });
    const fitted = await fitPrompt({ model, messages, allocation, strategy, render }, autoTruncate, signal);
    assert.deepEqual(messages, before, 'the input stays as it is');
    assert.ok(fitted.prepared.promptTokens <= allocation.maxPrompt);
    return { ...fitted, model, sent: model.prepared.at(-1)!.messages.map((message) => String(message.content)) };
  }

  it('leaves a prompt that fits alone, in one round trip', async () => {
    const { truncation, model, sent } = await fit([user('a\n\n\n\nb')], 'summarize');
    assert.deepEqual(truncation, { truncated: false, truncatedMessages: 0, strategyUsed: null });
    assert.deepEqual([sent, model.prepared.length], [['a\n\n\n\nb'], 1]);
  });

  for (const strategy of ['sliding_window', 'keep_system', 'middle_out'] as const) {
    it(strategy, async () => {
      const { truncation, sent } = await fit(conversation(), strategy);
      assert.equal(truncation.strategyUsed, strategy);
      assert.ok(truncation.truncated && truncation.truncatedMessages > 0);
      assert.equal(sent.at(-1), 'What now?');
      assert.equal(sent[0], strategy === 'sliding_window' ? sent[0] : 'You are kind.');
      assert.equal(
        sent.some((text) => text.startsWith('question 0 ')),
        strategy === 'middle_out',
      );
    });
  }

  it('summarises the older part with the model itself', async () => {
    const model = new ScriptedModel({ contextSize: 2560, output: ['<think>x</think>', 'They ', 'talked.'] });
    const { truncation, sent } = await fit(conversation(), 'summarize', 2560, true, model);
    assert.equal(truncation.strategyUsed, 'summarize');
    assert.equal(sent[0], 'You are kind.\n\n[Conversation Summary]\nThey talked.');
    assert.equal(sent.length, 9);
    assert.equal(model.generated[0]?.temperature, 0.3);
    assert.ok(String(model.prepared[2]?.messages[1]?.content).includes('question 0'));
  });

  it('falls back to keep_system when the summary fails', async () => {
    const model = new ScriptedModel({ contextSize: 2048, failAfter: { events: 0, error: new Failure('unavailable', 'gone') } });
    const { truncation, sent } = await fit(conversation(), 'summarize', 2048, true, model);
    assert.equal(truncation.strategyUsed, 'summarize+keep_system');
    assert.equal(sent[0], 'You are kind.');
  });

  it('shortens a message of 50 000 characters', async () => {
    const { truncation, sent } = await fit([user('x'.repeat(50_000))], 'summarize');
    assert.ok(truncation.truncated);
    assert.ok(sent[0]!.endsWith('to fit the context ...]'));
    assert.ok(sent[0]!.length > 3000, 'what fits stays');
  });

  it('shortens an oversized system message', async () => {
    const { sent } = await fit([system('s'.repeat(50_000)), user('hi')], 'keep_system');
    assert.equal(sent[1], 'hi');
    assert.ok(sent[0]!.length < 8000);
  });

  const tool = (words: number): Tool => ({ type: 'function', function: { name: 'go', description: long(words) } });
  const ADDED: [what: string, added: (tools: Tool[]) => Partial<PrepareRequest>][] = [
    ['the template', (tools) => ({ tools })],
    ['the system message', (tools) => ({ messages: [system(JSON.stringify(tools))] })],
  ];
  for (const [where, added] of ADDED) {
    it(`refuses 15 million characters of tools in ${where} without asking the engine, though the history may be shortened`, async () => {
      const messages = [user('hi')];
      const fitting = (words: number, model: ScriptedModel) => {
        const render = (list: PlainMessage[]) => ({ addGenerationPrompt: true, messages: list, ...added([tool(words)]) });
        return fitPrompt({ model, messages, allocation: allocate(2048, {}), strategy: 'summarize', render }, true, signal);
      };
      const model = new ScriptedModel({ contextSize: 2048, longestToken: 64 });
      await assert.rejects(fitting(3_000_000, model), {
        code: 'context_length_exceeded',
        message: /at least \d+ tokens.*tools alone are too long/,
      });
      assert.equal(model.prepared.length, 0);
      assert.equal((await fitting(20, model)).truncation.truncated, false);
    });
  }

  const FAR: [what: string, messages: () => PlainMessage[]][] = [
    ['one message of 15 million characters', () => [user('word, '.repeat(2_500_000))]],
    ['a system message of 15 million characters', () => [system('word, '.repeat(2_500_000)), user('Well?')]],
    ['ten thousand messages', () => Array.from({ length: 10_001 }, (_, n) => (n % 2 ? assistant(long(200)) : user(long(200))))],
    ['a long message that is nothing but letters', () => [user('a'), assistant('é'.repeat(7_000_000)), user('b')]],
  ];
  for (const [what, messages] of FAR) {
    it(`refuses ${what} without asking the engine`, async () => {
      const model = new ScriptedModel({ contextSize: 2048, longestToken: 64 });
      await assert.rejects(fit(messages(), 'summarize', 2048, false, model), {
        code: 'context_length_exceeded',
        message: /has at least \d+ tokens/,
      });
      assert.equal(model.prepared.length, 0);
    });

    it(`shortens ${what} before the engine sees it`, async () => {
      for (const strategy of TRUNCATION_STRATEGIES) {
        const model = new ScriptedModel({ contextSize: 2048, longestToken: 64, output: ['They talked.'] });
        const { truncation } = await fit(messages(), strategy, 2048, true, model);
        assert.ok(truncation.truncated);
        for (const { messages: sent } of model.prepared) {
          const chars = sent.reduce((sum, { content }) => sum + String(content).length, 0);
          assert.ok(chars <= 2048 * 16 * 5, `${strategy}: ${chars} characters`);
        }
      }
    });
  }

  it('fails with the numbers when nothing helps, and when it may not truncate', async () => {
    const code = (wanted: string) => (error: Failure) =>
      error.code === wanted &&
      error.status === 400 &&
      Number((error.fields?.context_usage as { prompt_tokens: number } | undefined)?.prompt_tokens) > 100;
    const many = Array.from({ length: 400 }, (_, n) => system(`rule ${n}`));
    await assert.rejects(fit([...many, user('hi')], 'keep_system', 512), code('context_truncation_failed'));
    await assert.rejects(fit(conversation(), 'keep_system', 2048, false), code('context_length_exceeded'));
  });
});
