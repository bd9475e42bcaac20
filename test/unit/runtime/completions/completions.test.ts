import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collect } from '../../../../runtime/completions/collect.js';
import { Completions } from '../../../../runtime/completions/completions.js';
import type { CollectedCompletion } from '../../../../runtime/completions/contract.js';
import type { UniversalRequest } from '../../../../runtime/completions/request.js';
import { createUniversalProvider } from '../../../../runtime/providers/universal.js';
import { Failure } from '../../../../schemas/errors.js';
import type { Tool } from '../../../../schemas/generated/common.js';
import type { ModelConfig } from '../../../../schemas/generated/config/project.js';
import { Gbnf } from '../../../support/gbnf.js';
import { type Script, ScriptedModel } from '../../../support/scripted-model.js';

const never = new AbortController().signal;
const HERMES = '{% if tools %}<tool_call>{% endif %}';
const MISTRAL = "{% if tools %}{{ '[TOOL_CALLS] [' }}{% endif %}";
const LLAMA = '{% if tools %}<|start_header_id|>"parameters"{% endif %}';
const weather: Tool = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
};
const CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>';

const request = (given: Partial<UniversalRequest> = {}): UniversalRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  options: {},
  autoTruncate: true,
  ...given,
});

async function run(script: Script, given: Partial<UniversalRequest> = {}): Promise<{ model: ScriptedModel; answer: CollectedCompletion }> {
  const model = new ScriptedModel(script);
  const completion = await new Completions({ models: model }).open(request(given), never);
  const answer = await collect(completion.parts);
  assert.equal(model.released, 1, 'the model is given back once');
  assert.equal(model.running, 0);
  return { model, answer };
}

const codes = (code: string) => (error: unknown) => error instanceof Failure && error.code === code;

describe('a completion', () => {
  it('counts what the engine counted and keeps its finish', async () => {
    const { answer } = await run({ output: ['Hel', 'lo'], finish: 'length' });
    assert.deepEqual(
      [answer.text, answer.finishReason, answer.usage],
      ['Hello', 'length', { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }],
    );
  });

  it('fills in the sampling defaults', async () => {
    const { model } = await run({}, { stop: ['', 'x'] });
    const { seed, ...sent } = model.generated[0]!;
    assert.ok(Number.isInteger(seed) && seed! >= 0 && seed! < 2 ** 32);
    assert.deepEqual(sent, {
      promptId: 0,
      maxTokens: 512,
      startsInThinking: false,
      temperature: 1,
      top_p: 1,
      top_k: 40,
      min_p: 0.05,
      stop: ['x'],
    });
    const fixed = await run({}, { seed: -1, temperature: 0 });
    assert.deepEqual([fixed.model.generated[0]?.seed, fixed.model.generated[0]?.temperature], [2 ** 32 - 1, 0]);
  });

  it('takes what the file recommends where a request says nothing', async () => {
    const sampling = { temperature: 0.2, top_k: 7, frequency_penalty: 0.5, repeat_penalty: 1.2, dry_multiplier: 1, dry_base: 2 };
    const silent = (await run({ sampling })).model.generated[0];
    const penalties = [silent?.frequency_penalty, silent?.repeat_penalty, silent?.dry_multiplier];
    assert.deepEqual([silent?.temperature, silent?.top_p, silent?.top_k, ...penalties], [0.2, 1, 7, 0.5, 1.2, 1]);
    const told = (await run({ sampling }, { temperature: 0, top_k: 0, frequency_penalty: 0, repeat_penalty: 1.1, dry_multiplier: 0 })).model
      .generated[0];
    const kept = [told?.frequency_penalty, told?.repeat_penalty, told?.dry_multiplier, told?.dry_base];
    assert.deepEqual([told?.temperature, told?.top_k, ...kept], [0, 0, undefined, 1.1, undefined, undefined]);
    const json = (await run({ sampling, output: ['{}'] }, { response_format: { type: 'json_object' } })).model.generated[0];
    assert.deepEqual([json?.temperature, json?.frequency_penalty, json?.dry_multiplier, json?.dry_base], [0.2, undefined, 1, 2]);
  });

  it('separates thinking, with a budget only when it is on', async () => {
    const output = ['<th', 'ink>', 'so', '</think>', '\n\n', 'yes'];
    const on = await run({ output, thinking: true }, { think: true, thinking_budget: 9, max_tokens: 5 });
    assert.deepEqual([on.answer.reasoning, on.answer.text], ['so', 'yes']);
    assert.ok(on.answer.thinkingTokens! > 0);
    assert.deepEqual(
      [on.model.prepared[0]?.enableThinking, on.model.generated[0]?.thinkingBudget, on.model.generated[0]?.maxTokens],
      [true, 9, 14],
    );
    assert.equal(on.model.generated[0]?.answerTokens, 5);
    const off = await run({ output, thinking: true });
    assert.deepEqual([off.answer.reasoning, off.answer.text, off.model.generated[0]?.thinkingBudget], ['so', 'yes', undefined]);
    assert.equal(off.model.prepared[0]?.enableThinking, false);
    const opened = await run({ output: ['so</think>yes'], endsInThinking: true });
    assert.deepEqual([opened.answer.reasoning, opened.answer.text, opened.model.generated[0]?.startsInThinking], ['so', 'yes', true]);
  });

  it('goes on in the last message of the assistant where that is asked for', async () => {
    const begun = [
      { role: 'user' as const, content: 'hi' },
      { role: 'assistant' as const, content: 'Once upon' },
    ];
    const script = { output: [' a', ' time <think>'], thinking: true };
    const { answer, model } = await run(script, { messages: begun, continue_final_message: true, think: true });
    const [prepared] = model.prepared;
    assert.deepEqual([prepared?.messages, prepared?.begunAnswer, prepared?.enableThinking], [begun.slice(0, 1), 'Once upon', false]);
    assert.deepEqual([answer.text, answer.reasoning], [' a time <think>', '']);
    assert.equal(model.generated[0]?.thinkingBudget, undefined);
    for (const other of [
      { messages: begun },
      { messages: begun.slice(0, 1), continue_final_message: true },
      { messages: begun.slice(1), continue_final_message: true },
      { messages: begun, continue_final_message: true, response_format: { type: 'json_object' } },
    ]) {
      const [prompt] = (await run({ output: ['{}'] }, other)).model.prepared;
      assert.deepEqual([prompt?.messages.length, prompt?.begunAnswer], [other.messages.length, undefined]);
    }
  });

  it('cuts logprobs to what was asked and keeps them with their text', async () => {
    const { answer } = await run({ output: ['a', 'b'] }, { logprobs: true, top_logprobs: 2 });
    assert.deepEqual(
      answer.logprobs.map((entry) => [entry.token, entry.top_logprobs.length]),
      [
        ['a', 2],
        ['b', 2],
      ],
    );
    const thought = await run({ output: ['<think>', 'x', '</think>', 'b'] }, { logprobs: true });
    assert.deepEqual(
      thought.answer.logprobs.map((entry) => entry.token),
      ['b'],
    );
  });

  it('says how full the context was', async () => {
    const model = new ScriptedModel({ contextSize: 1000 });
    const completion = await new Completions({ models: model }).open(request(), never);
    assert.deepEqual(completion.contextUsage, {
      total_context: 1000,
      prompt_tokens: 5,
      available_for_completion: 945,
      truncated: false,
      truncated_messages: 0,
      strategy_used: null,
    });
    await collect(completion.parts);
  });

  it('refuses a prompt over the context when it may not shorten it', async () => {
    const model = new ScriptedModel({ contextSize: 512 });
    const long = request({ autoTruncate: false, messages: [{ role: 'user', content: 'x'.repeat(4000) }] });
    await assert.rejects(new Completions({ models: model }).open(long, never), codes('context_length_exceeded'));
    assert.equal(model.released, 1);
  });

  it('takes text parts, and refuses images, files and audio before anything is loaded', async () => {
    const { model } = await run(
      {},
      {
        messages: [
          { role: 'developer', content: 'd' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
        ],
      },
    );
    assert.deepEqual(
      model.prepared[0]?.messages.map((message) => message.role),
      ['system', 'user'],
    );
    assert.equal(model.prepared[0]?.messages[1]?.content, 'a\nb');
    const deaf = new ScriptedModel();
    const parts = [
      [{ type: 'input_audio' as const, input_audio: { data: '' } }, 'audio_input_unavailable'],
      [{ type: 'image_url' as const, image_url: { url: 'x' } }, 'image_input_unavailable'],
      [{ type: 'file' as const, file: {} }, 'file_input_unavailable'],
    ] as const;
    for (const [part, code] of parts)
      await assert.rejects(
        new Completions({ models: deaf }).open(request({ messages: [{ role: 'user', content: [part] }] }), never),
        codes(code),
      );
    assert.equal(deaf.acquired.length, 0);
  });
});

describe('tools of a completion', () => {
  it('are rendered by a template that knows them', async () => {
    const { model, answer } = await run({ template: HERMES, tools: true, output: ['Hm. ', ...CALL] }, { tools: [weather] });
    assert.deepEqual(model.prepared[0]?.tools, [weather]);
    assert.deepEqual(
      answer.toolCalls.map((call) => call.function),
      [{ name: 'weather', arguments: '{"city":"Paris"}' }],
    );
    assert.deepEqual([answer.text, answer.finishReason], ['Hm.', 'tool_calls']);
  });

  it('go into the prompt as text when the template cannot, its form is unknown, it fails, or the project says so', async () => {
    const cases: [Script, Partial<UniversalRequest>][] = [
      [{}, {}],
      [{ template: '{{ tools }}', tools: true }, {}],
      [{ template: HERMES, tools: true, toolsFail: new Failure('invalid', 'template') }, {}],
      [{ template: HERMES, tools: true }, { injectTools: true }],
    ];
    for (const [script, given] of cases) {
      const { model, answer } = await run({ ...script, output: [CALL] }, { tools: [weather], ...given });
      const last = model.prepared.at(-1)!;
      assert.equal(last.tools, undefined);
      assert.match(String(last.messages[0]?.content), /<tools>/);
      assert.equal(answer.toolCalls.length, 1);
    }
  });

  it('do not hide a host that is gone', async () => {
    const model = new ScriptedModel({ template: HERMES, tools: true, toolsFail: new Failure('unavailable', 'gone') });
    await assert.rejects(new Completions({ models: model }).open(request({ tools: [weather] }), never), codes('unavailable'));
  });

  it('are read from output only when offered', async () => {
    for (const given of [{}, { tools: [weather], tool_choice: 'none' as const }]) {
      const { answer } = await run({ template: HERMES, tools: true, output: [CALL] }, given);
      assert.deepEqual([answer.text, answer.toolCalls, answer.finishReason], [CALL, [], 'stop']);
    }
  });

  it('are forced by grammar when required or named', async () => {
    const required = await run(
      { output: [CALL] },
      { tools: [weather, { type: 'function', function: { name: 'clock' } }], tool_choice: 'required' },
    );
    const gbnf = new Gbnf(required.model.generated[0]!.grammar!);
    for (const text of [CALL, `\n${CALL}\n${CALL}`, '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>'])
      assert.ok(gbnf.accepts(text), text);
    for (const text of [
      'Hello',
      '<tool_call>{"name": "tea", "arguments": {}}</tool_call>',
      '<tool_call>{"name": "weather", "arguments": {}}</tool_call>',
      '',
    ])
      assert.ok(!gbnf.accepts(text), text);
    const named = await run(
      { output: [CALL] },
      {
        tools: [weather, { type: 'function', function: { name: 'clock' } }],
        tool_choice: { type: 'function', function: { name: 'weather' } },
      },
    );
    const one = new Gbnf(named.model.generated[0]!.grammar!);
    assert.ok(one.accepts(CALL) && !one.accepts(CALL + CALL) && !one.accepts('<tool_call>{"name": "clock", "arguments": {}}</tool_call>'));
  });

  it('are held to the schemas of their tools from the tag on where they are free', async () => {
    const tools: Tool[] = [weather, { type: 'function', function: { name: 'clock' } }];
    const sent = async (more: Partial<UniversalRequest>, script: Script = {}) =>
      (await run({ output: ['x'], ...script }, { tools, ...more })).model.generated[0]!;
    const several = await sent({});
    assert.equal(several.grammarStart, '<tool_call>');
    const held = (text: string): string => text.slice('<tool_call>'.length);
    const gbnf = new Gbnf(several.grammar!);
    const clock = '<tool_call>\n{"name": "clock", "arguments": {}}\n</tool_call>';
    for (const text of [CALL, CALL + clock, `${clock}\n${CALL}`, `${CALL}\n`]) assert.ok(gbnf.accepts(held(text)), text);
    const others = ['tea', 'weather'].map((name) => `<tool_call>{"name": "${name}", "arguments": {}}</tool_call>`);
    for (const text of [...others, `${CALL}Done.`, '<tool_call>{"name": "clock"']) assert.ok(!gbnf.accepts(held(text)), text);
    const one = new Gbnf((await sent({ parallel_tool_calls: false })).grammar!);
    assert.ok(one.accepts(held(CALL)) && !one.accepts(held(CALL + CALL)));
    const forms = [
      [MISTRAL, '[TOOL_CALLS]', ' [{"name": "clock", "arguments": {}}, {"name": "clock", "arguments": {}}]'],
      [LLAMA, '<|python_tag|>', '{"name": "clock", "parameters": {}}; {"name": "clock", "parameters": {}}'],
    ] as const;
    for (const [template, start, text] of forms) {
      const { grammar, grammarStart } = await sent({}, { template, tools: true });
      assert.equal(grammarStart, start);
      assert.ok(new Gbnf(grammar!).accepts(text) && !new Gbnf(grammar!).accepts(start + text), text);
    }
    assert.equal((await sent({ tools: [] })).grammar, undefined);
  });

  it('have their arguments in any order where these are few, each once and the required ones all', async () => {
    const properties = { unit: { enum: ['c', 'f'] }, city: { type: 'string' }, days: { type: 'integer' } };
    const tool: Tool = { type: 'function', function: { name: 'w', parameters: { type: 'object', properties, required: ['city'] } } };
    const { model } = await run({ output: ['x'] }, { tools: [tool] });
    const gbnf = new Gbnf(model.generated[0]!.grammar!);
    const accepts = (args: string): boolean => gbnf.accepts(`\n{"name": "w", "arguments": {${args}}}\n</tool_call>`);
    for (const args of ['"city": "A"', '"city": "A", "unit": "c"', '"unit": "c", "days": 2, "city": "A"', '"days":1,"city":""'])
      assert.ok(accepts(args), args);
    for (const args of ['', '"unit": "c"', '"city": "A", "city": "B"', '"city": "A", "more": 1', '"city": "A",'])
      assert.ok(!accepts(args), args);
  });

  it('are held to the names alone where a schema makes no grammar', async () => {
    let deep: Record<string, unknown> = { type: 'string' };
    for (let level = 0; level < 200; level += 1) deep = { type: 'array', items: deep };
    const text = { type: 'string', minLength: 5, maxLength: 2 };
    for (const odd of [deep, text, { $ref: '#/$defs/100%' }]) {
      const parameters = { type: 'object', properties: { odd }, required: ['odd'] };
      const tools: Tool[] = [{ type: 'function', function: { name: 'odd', parameters } }, weather];
      const { model } = await run({ output: ['x'] }, { tools });
      const gbnf = new Gbnf(model.generated[0]!.grammar!);
      for (const end of ['"odd", "arguments": {"odd": [1]}}', '"weather", "arguments": {"city": "A"}}'])
        assert.ok(gbnf.accepts(`{"name": ${end}</tool_call>`), end);
      for (const end of ['"even", "arguments": {}}', '"weather", "arguments": {}}'])
        assert.ok(!gbnf.accepts(`{"name": ${end}</tool_call>`), end);
      await assert.rejects(run({ output: ['x'] }, { tools, tool_choice: 'required' }), Failure, JSON.stringify(odd).slice(0, 80));
    }
    const stringly: Tool = { type: 'function', function: { name: 's', parameters: { type: 'string' } } };
    const { model } = await run({ output: ['x'] }, { tools: [stringly] });
    assert.ok(new Gbnf(model.generated[0]!.grammar!).accepts('{"name": "s", "arguments": {}}</tool_call>'));
  });

  it('stop after one call when parallel calls are off', async () => {
    const { answer } = await run({ output: [CALL, CALL], endless: true }, { tools: [weather], parallel_tool_calls: false });
    assert.deepEqual([answer.toolCalls.length, answer.finishReason, answer.usage.completion_tokens], [1, 'tool_calls', 1]);
  });

  for (const stream of [false, true]) {
    for (const finish of ['length', 'stop'] as const) {
      it(`that end early (${finish}) show no markup, ${stream ? 'streamed' : 'whole'}`, async () => {
        const read = async (output: string): Promise<unknown[]> => {
          const { answer } = await run({ output: [output], finish }, { tools: [weather], stream });
          return [answer.text, answer.toolCalls.map((call) => [call.function.name, call.function.arguments]), answer.finishReason];
        };
        assert.deepEqual(await read('<tool_call>\n'), ['', [], 'length']);
        assert.deepEqual(await read('Hm.<tool_call>{"name": "weat'), ['Hm.', [], 'length']);
        assert.deepEqual(await read('<tool_call>{"name": "weather", "argu'), ['', [['weather', '']], 'length']);
        assert.deepEqual(await read('<tool_call>{"name": "weather", "arguments": {"city": "Pa'), [
          '',
          [['weather', '{"city":"Pa']],
          'length',
        ]);
        assert.deepEqual(await read('<tool_call>{"name": "weather", "arguments": {}}'), ['', [['weather', '{}']], 'tool_calls']);
      });
    }
  }

  it('never let a native prompt be shortened', async () => {
    const model = new ScriptedModel({ template: HERMES, tools: true, contextSize: 512 });
    const long = request({ tools: [weather], messages: [{ role: 'user', content: 'x'.repeat(4000) }] });
    await assert.rejects(new Completions({ models: model }).open(long, never), codes('context_length_exceeded'));
  });

  it('of an unknown name fail before anything is loaded', async () => {
    const model = new ScriptedModel();
    await assert.rejects(
      new Completions({ models: model }).open(
        request({ tools: [weather], tool_choice: { type: 'function', function: { name: 'tea' } } }),
        never,
      ),
      codes('unknown_tool'),
    );
    assert.equal(model.acquired.length, 0);
  });
});

describe('a response format', () => {
  const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };

  it('becomes a grammar', async () => {
    const grammarOf = async (given: Partial<UniversalRequest>, script: Script = {}) =>
      (await run(script, given)).model.generated[0]!.grammar!;
    const any = new Gbnf(await grammarOf({ response_format: { type: 'json_object' } }));
    assert.ok(any.accepts('{"x": [1]}') && !any.accepts('[1]'));
    const typed = new Gbnf(await grammarOf({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }));
    assert.ok(typed.accepts('{"a": 1}') && !typed.accepts('{"a": "1"}') && !typed.accepts('<think>x</think>{"a":1}'));
    const wanted = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } }, think: true };
    // The engine takes what stands between the tags, and the closing tag, out of what the grammar sees.
    const thinking = new Gbnf(await grammarOf(wanted));
    assert.ok(thinking.accepts('<think>\n\n{"a": 1}') && thinking.accepts('{"a":1}') && !thinking.accepts('<think>x{"a":1}'));
    const opened = new Gbnf(await grammarOf(wanted, { endsInThinking: true }));
    assert.ok(opened.accepts('\n\n{"a":1}') && !opened.accepts('<think>{"a":1}'));
    const either = new Gbnf(
      await grammarOf({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } }, tools: [weather] }),
    );
    assert.ok(either.accepts('{"a": 1}') && either.accepts(CALL) && !either.accepts('text'));
    assert.equal(await grammarOf({ response_format: { type: 'text' } }), undefined);
  });

  it('that cannot be used is refused before a model is loaded', async () => {
    for (const format of [
      { type: 'xml' },
      { type: 'json_schema' },
      { type: 'json_schema', json_schema: { strict: true, schema: { not: {} } } },
    ]) {
      const model = new ScriptedModel();
      await assert.rejects(
        new Completions({ models: model }).open(request({ response_format: format }), never),
        (error: Failure) => error.kind === 'invalid',
      );
      assert.equal(model.acquired.length, 0);
    }
  });
});

describe('the end of a completion', () => {
  it('comes early when the reader leaves', async () => {
    const model = new ScriptedModel({ endless: true });
    const completion = await new Completions({ models: model }).open(request(), never);
    for await (const _part of completion.parts) break;
    assert.deepEqual([model.released, model.running], [1, 0]);
  });

  it('comes when a reader leaves before it started', async () => {
    const model = new ScriptedModel({ endless: true });
    const completion = await new Completions({ models: model }).open(request(), never);
    await completion.parts[Symbol.asyncIterator]().return?.();
    assert.equal(model.released, 1);
  });

  it('comes when the signal aborts, read or not', async () => {
    const model = new ScriptedModel({ endless: true });
    const abort = new AbortController();
    const completion = await new Completions({ models: model }).open(request(), abort.signal);
    abort.abort();
    assert.equal(model.released, 1);
    await assert.rejects(collect(completion.parts), { name: 'AbortError' });
    assert.deepEqual([model.released, model.running], [1, 0]);
  });

  it('comes when the signal was aborted during loading', async () => {
    const model = new ScriptedModel();
    const abort = new AbortController();
    const opening = new Completions({ models: model }).open(request(), abort.signal);
    abort.abort();
    await assert.rejects(opening, { name: 'AbortError' });
    assert.equal(model.released, 1);
  });

  it('is a failure before the first step when the host dies there, and in the stream when it dies later', async () => {
    const error = new Failure('unavailable', 'gone');
    const early = new ScriptedModel({ failAfter: { events: 0, error } });
    await assert.rejects(new Completions({ models: early }).open(request(), never), error);
    assert.equal(early.released, 1);
    const late = new ScriptedModel({ output: ['a', 'b', 'c'], failAfter: { events: 2, error } });
    const completion = await new Completions({ models: late }).open(request(), never);
    await assert.rejects(collect(completion.parts), error);
    assert.equal(late.released, 1);
  });
});

describe('a deterministic answer', () => {
  const asked = async (model: ScriptedModel, ofModel: object, ofRequest: object): Promise<boolean | undefined> => {
    const provider = createUniversalProvider(new Completions({ models: model }));
    const given = { name: 'n', provider: 'universal', model: 'm', extra_body: ofModel } as ModelConfig;
    const completion = await provider.open(given, { messages: [{ role: 'user', content: 'hi' }], ...ofRequest }, never);
    await collect(completion.parts);
    return model.generated.at(-1)?.deterministic;
  };

  for (const [name, ofModel, ofRequest, wanted] of [
    ['by default', {}, {}, undefined],
    ['of the request', {}, { deterministic: true }, true],
    ["of the model's extra_body", { deterministic: true }, {}, true],
    ["of the request's extra_body", {}, { extra: { deterministic: true } }, true],
    ['that the request does without', { deterministic: true }, { deterministic: false }, undefined],
  ] as const)
    it(name, async () => assert.equal(await asked(new ScriptedModel(), ofModel, ofRequest), wanted));

  it('is drawn with the same seed each time where the request has none', async () => {
    const model = new ScriptedModel();
    for (const seed of [undefined, undefined, 7]) await asked(model, {}, { deterministic: true, ...(seed === undefined ? {} : { seed }) });
    assert.deepEqual(
      model.generated.map((one) => one.seed),
      [0, 0, 7],
    );
  });

  it('is another text, not another copy of the model', async () => {
    const model = new ScriptedModel();
    await asked(model, {}, { extra: { deterministic: true } });
    assert.deepEqual(model.acquired.at(-1)?.options, {});
  });

  it('has a deterministic summary of what was too long', async () => {
    const model = new ScriptedModel({ contextSize: 2560, output: ['short'] });
    const long = Array.from({ length: 24 }, (_, i) => ({
      role: i % 2 ? ('assistant' as const) : ('user' as const),
      content: `${i} ${'word '.repeat(100)}${i}`,
    }));
    const extra = { auto_truncate: true, truncation_strategy: 'summarize' };
    await asked(model, {}, { messages: long, deterministic: true, extra });
    assert.deepEqual(
      model.generated.map(({ deterministic }) => deterministic),
      [true, true],
    );
  });
});

describe('the universal provider', () => {
  const config = (given: Partial<ModelConfig>): ModelConfig =>
    ({ name: 'n', provider: 'universal', model: 'org/m:Q8_0', ...given }) as ModelConfig;

  it('loads the model with its options; the request wins', async () => {
    const model = new ScriptedModel({ template: HERMES, tools: true });
    const provider = createUniversalProvider(new Completions({ models: model }));
    const given = config({
      extra_body: { n_ctx: 512, n_batch: 64, top_k: 7 } as ModelConfig['extra_body'],
      tool_call_strategy: 'prompt_based',
    });
    const completion = await provider.open(
      given,
      { messages: [{ role: 'user', content: 'hi' }], n_ctx: 1024, tools: [weather], extra: { n_batch: 128, think: true } },
      never,
    );
    await collect(completion.parts);
    assert.deepEqual(model.acquired, [{ id: 'org/m:Q8_0', options: { n_ctx: 1024, n_batch: 128 } }]);
    assert.equal(model.generated[0]?.top_k, 7);
    assert.equal(model.generated[0]?.thinkingBudget, 1024);
    assert.equal(model.prepared[0]?.tools, undefined);
  });

  it('refuses options out of range, naming what is allowed', async () => {
    const provider = createUniversalProvider(new Completions({ models: new ScriptedModel() }));
    const open = async (extra: Record<string, unknown>) =>
      provider.open(config({}), { messages: [{ role: 'user', content: 'hi' }], extra }, never);
    await assert.rejects(
      open({ cache_type_k: 'q3' }),
      (error: Failure) => error.kind === 'invalid' && /q8_0/.test(JSON.stringify(error.errors)),
    );
    await assert.rejects(
      open({ n_slots: 65 }),
      (error: Failure) => error.kind === 'invalid' && error.errors?.[0]?.loc.join('.') === 'body.extra_body.n_slots',
    );
  });

  it('shortens a history only when extra_body says so', async () => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(8000) }];
    const provider = createUniversalProvider(new Completions({ models: new ScriptedModel({ contextSize: 512 }) }));
    await assert.rejects(provider.open(config({}), { messages }, never), codes('context_length_exceeded'));
    const completion = await provider.open(config({}), { messages, extra: { auto_truncate: true } }, never);
    assert.equal(completion.contextUsage?.truncated, true);
    await collect(completion.parts);
  });
});
