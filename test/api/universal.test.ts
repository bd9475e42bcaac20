import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Completions } from '../../runtime/completions/completions.js';
import { Models } from '../../runtime/models/residency/models.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Tool } from '../../schemas/generated/common.js';
import { emptyDataDir } from '../support/daemon.js';
import { decidedPuppetPath, puppetPath } from '../support/models/cache.js';
import { PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../support/models/puppet-scripts.js';
import { writeTinyCausal } from '../support/models/tiny-causal/tiny-causal.js';
import { writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { ANY_EVENTS, type Scenario, scenarios } from '../support/scenario.js';

const dataDir = emptyDataDir();
const own = join(dataDir, 'models');
writeTinyEncoders(own);
writeTinyCausal(join(own, 'tiny/writer'));
writeTinyCausal(join(own, 'tiny/thinker'), { thinks: true });
mkdirSync(join(own, 'tiny/gguf-writer'));
copyFileSync(puppetPath(), join(own, 'tiny/gguf-writer/model-Q4_K_M.gguf'));
copyFileSync(puppetPath(), join(own, 'tiny/gguf-writer/model-Q8_0.gguf'));
mkdirSync(join(own, 'tiny/matrix'));
copyFileSync(puppetPath(), join(own, 'tiny/matrix/model-imatrix.gguf'));

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Answer = any;

const CHAT = '/v1/chat/completions';
const model = puppetPath();
const tool = (name: string, properties: Record<string, unknown> = {}, required = Object.keys(properties)): Tool => ({
  type: 'function',
  function: { name, description: name, parameters: { type: 'object', properties, required } },
});
const TOOLS = [
  tool('get_weather', { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } }, ['city']),
  tool('add_numbers', { a: { type: 'integer' }, b: { type: 'integer' } }),
  tool('get_time'),
];

/** A chat of one user message. */
const chat = (
  name: string,
  content: string,
  rest: Omit<Scenario, 'name' | 'path' | 'body'> & { body?: Record<string, unknown> },
): Scenario => ({
  method: 'POST',
  path: CHAT,
  name,
  ...rest,
  body: { model, temperature: 0, messages: [{ role: 'user', content }], ...rest.body },
});

/** A message with an image as a data URI of that many MiB. */
const withImage = (mib: number) => ({
  role: 'user',
  content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(mib * 2 ** 20)}` } }],
});

const calls = (message: { tool_calls: { id: string; type: string; function: { name: string; arguments: string } }[] }) =>
  message.tool_calls.map((call) => {
    assert.match(call.id, /^call_[0-9a-f-]{36}$/);
    assert.equal(call.type, 'function');
    return [call.function.name, JSON.parse(call.function.arguments)];
  });

const delta = (members: Record<string, unknown>) => ({ object: 'chat.completion.chunk', choices: { 0: { delta: members } } });

const textsOf = (body: Answer): string[] => body.choices.map((choice: Answer) => choice.message.content);
const drawn = { temperature: 1, min_p: 0, top_k: 0 };

/** What requests for several choices get. */
const CHOICES: Scenario[] = [
  chat('eight choices whose prompt is counted once', 'hello', {
    body: { n: 8 },
    json: async (body) => {
      const one = await ask({ model, temperature: 0, messages: [{ role: 'user', content: 'hello' }] });
      assert.deepEqual(textsOf(body), Array(8).fill(PUPPET_SCRIPTS.hello.answer));
      assert.deepEqual(
        body.choices.map((choice: Answer) => [choice.index, choice.finish_reason]),
        Array.from({ length: 8 }, (_, index) => [index, 'stop']),
      );
      const { prompt_tokens: prompt, completion_tokens: completion } = one.usage;
      const usage = { prompt_tokens: prompt, completion_tokens: 8 * completion, total_tokens: prompt + 8 * completion };
      assert.deepEqual(body.usage, usage);
      assert.deepEqual(body.x_context_usage, one.x_context_usage);
    },
  }),
  ...[{ seed: 3 }, { seed: 3, deterministic: true }, { seed: 3, extra_body: { n_slots: 1, n_ctx: 512 } }].map((more) =>
    chat(`choices drawn with seeds in a row: ${JSON.stringify(more)}`, 'coin', {
      body: { ...drawn, ...more, n: 3 },
      json: async (body) => {
        const alone = [3, 4, 5].map((seed) => ask({ model, messages: [{ role: 'user', content: 'coin' }], ...drawn, ...more, seed }));
        assert.deepEqual(textsOf(body), (await Promise.all(alone)).flatMap(textsOf));
        assert.equal(new Set(textsOf(body)).size, 3);
      },
    }),
  ),
  chat('choices without a seed differ', 'coin', {
    body: { ...drawn, n: 4 },
    json: (body) => assert.ok(new Set(textsOf(body)).size > 1),
  }),
  chat('choices in a stream', 'count', {
    body: { n: 3, stream: true, stream_options: { include_usage: true } },
    json: (_body, answer) => {
      assert.equal(answer.events.at(-1), '[DONE]');
      const frames: Answer[] = answer.events.slice(0, -1).map((event) => JSON.parse(event));
      const chunks = frames.slice(0, -1).map((frame) => frame.choices[0]);
      for (const index of [0, 1, 2]) {
        const own = chunks.filter((choice) => choice.index === index);
        assert.equal(own[0].delta.role, 'assistant');
        assert.equal(own.map((choice) => choice.delta.content ?? '').join(''), PUPPET_SCRIPTS.long.answer);
        assert.deepEqual(
          own.flatMap((choice) => choice.finish_reason ?? []),
          ['stop'],
        );
      }
      assert.ok(chunks.findIndex((choice) => choice.index === 2) < chunks.findIndex((choice) => choice.finish_reason), 'side by side');
      assert.deepEqual(frames.flatMap((frame) => frame.usage ?? []).length, 1);
    },
  }),
  chat('choices that call tools', 'hello', {
    body: { n: 2, tools: TOOLS, tool_choice: { type: 'function', function: { name: 'get_time' } }, max_tokens: 60 },
    json: (body) => {
      for (const choice of body.choices)
        assert.deepEqual(
          calls(choice.message).map(([name]) => name),
          ['get_time'],
        );
      assert.equal(new Set(body.choices.map((choice: Answer) => choice.message.tool_calls[0].id)).size, 2);
    },
  }),
  chat('choices with logprobs', 'hello', {
    body: { n: 2, logprobs: true, max_tokens: 3 },
    json: (body) => {
      assert.deepEqual(
        body.choices.map((choice: Answer) => [choice.logprobs.content.length, choice.finish_reason]),
        [
          [3, 'length'],
          [3, 'length'],
        ],
      );
    },
  }),
  chat('choices held to a schema', 'hello', {
    body: { n: 2, max_tokens: 60, response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { enum: ['yes', 'no'] } } } },
    json: (body) => {
      for (const text of textsOf(body)) assert.match(text, /^"(yes|no)"$/);
    },
  }),
  chat('choices in a stream whose prompt has no room', 'word '.repeat(3000), {
    status: 400,
    body: { n: 2, stream: true, n_ctx: 512, auto_truncate: false },
    contains: ['context_length_exceeded'],
  }),
  chat('choices of an ONNX export', 'hello', {
    body: { model: 'tiny/thinker', n: 2, think: true, max_tokens: 40 },
    json: (body) => {
      assert.equal(textsOf(body)[0], textsOf(body)[1]);
      assert.equal(body.choices.length, 2);
      assert.ok(body.choices.every((choice: Answer) => choice.thinking.content.length > 0) && !('thinking' in body));
    },
  }),
];

const table: Scenario[] = [
  {
    name: 'health before a model is loaded',
    path: '/health',
    json: (body) => {
      assert.deepEqual([body.status, body.loaded_models, body.pid], ['healthy', [], process.pid]);
      assert.match(body.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
      assert.equal(body.device.node_version, process.version);
      assert.match(body.builtin_models.at(-1).description, /no trained language model/);
    },
  },
  { name: 'no models before one is loaded', path: '/v1/models', json: (body) => assert.deepEqual(body, { object: 'list', data: [] }) },
  chat('a whole answer', 'hello', {
    json: (body) => {
      assert.match(body.id, /^chatcmpl-[0-9a-f]{32}$/);
      assert.equal(body.object, 'chat.completion');
      assert.equal(body.model, model);
      assert.deepEqual(body.choices, [
        { index: 0, message: { role: 'assistant', content: PUPPET_SCRIPTS.hello.answer }, finish_reason: 'stop' },
      ]);
      const { prompt_tokens, completion_tokens, total_tokens } = body.usage;
      assert.ok(prompt_tokens > 3 && completion_tokens > 3);
      assert.equal(total_tokens, prompt_tokens + completion_tokens);
      assert.equal(body.x_context_usage.prompt_tokens, prompt_tokens);
      assert.deepEqual([body.x_context_usage.truncated, body.x_context_usage.strategy_used], [false, null]);
      assert.ok(!('thinking' in body));
    },
  }),
  {
    name: 'the loaded model is listed under the name that requests have for it',
    path: '/v1/models',
    json: (body) => {
      assert.equal(body.data.length, 1);
      const [entry] = body.data;
      assert.ok(entry.key.startsWith('language:') && entry.key.includes(':ctx'));
      assert.deepEqual([entry.id, entry.object, entry.owned_by, entry.type], [model, 'model', 'transformers-runtime', 'language']);
    },
  },
  {
    name: 'health names the loaded model and its devices',
    path: '/health',
    json: (body) => {
      assert.equal(body.loaded_models.length, 1);
      assert.ok(body.engines[0].used.length > 0);
      assert.match(body.engines[0].options.template, /^[0-9a-f]{16}$/);
    },
  },
  // Steps that pile up while JavaScript is busy leave as one piece: only a long answer is sure to come in several.
  chat('a stream', 'count', {
    body: { stream: true },
    answerHeaders: { 'content-type': /^text\/event-stream/, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
    json: (_body, answer) => {
      const frames = answer.events.slice(0, -1).map((event) => JSON.parse(event));
      assert.equal(answer.events.at(-1), '[DONE]');
      assert.deepEqual(frames[0].choices[0].delta, { role: 'assistant', content: '' });
      assert.equal(frames.map((frame) => frame.choices[0].delta.content ?? '').join(''), PUPPET_SCRIPTS.long.answer);
      assert.ok(frames.length > 4, 'piece by piece');
      assert.equal(frames.at(-1).choices[0].finish_reason, 'stop');
      assert.ok(frames.every((frame) => frame.id === frames[0].id && !('usage' in frame)));
    },
  }),
  chat('a stream with usage', 'hello', {
    body: { stream: true, stream_options: { include_usage: true } },
    events: [
      delta({ role: 'assistant' }),
      ANY_EVENTS,
      { choices: { 0: { finish_reason: 'stop' } }, usage: null },
      /"choices":\[\],"usage":\{"prompt_tokens":\d+/,
      '[DONE]',
    ],
  }),
  chat('letters of many scripts, cut over tokens', 'languages', {
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.languages.answer),
  }),
  chat('emoji in a stream', 'emoji', {
    body: { stream: true },
    json: (_body, answer) => {
      const text = answer.events
        .slice(0, -1)
        .map((event) => JSON.parse(event).choices[0].delta.content ?? '')
        .join('');
      assert.equal(text, PUPPET_SCRIPTS.emoji.answer);
    },
  }),
  chat('an empty answer', 'silence', {
    json: (body) => assert.deepEqual([body.choices[0].message.content, body.choices[0].finish_reason], ['', 'stop']),
  }),
  chat('thinking apart from the answer', 'ponder', {
    body: { think: true },
    json: (body) => {
      assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.think.answer);
      assert.equal(body.thinking.content, PUPPET_SCRIPTS.think.thinking.trim());
      assert.ok(body.thinking.tokens > 0 && body.thinking.tokens < body.usage.completion_tokens);
      assert.equal(body.usage.completion_tokens_details.reasoning_tokens, body.thinking.tokens);
    },
  }),
  chat('thinking in a stream', 'ponder', {
    body: { stream: true, extra_body: { think: true } },
    json: (_body, answer) => {
      const deltas = answer.events.slice(0, -1).map((event) => JSON.parse(event).choices[0].delta);
      assert.equal(deltas.map((one) => one.reasoning_content ?? '').join(''), PUPPET_SCRIPTS.think.thinking.trim());
      assert.equal(deltas.map((one) => one.content ?? '').join(''), PUPPET_SCRIPTS.think.answer);
    },
  }),
  chat('thinking cut by its budget', 'ponder', {
    body: { think: true, thinking_budget: 3 },
    json: (body) => {
      assert.ok(body.thinking.content.length < PUPPET_SCRIPTS.think.thinking.trim().length);
      assert.ok(PUPPET_SCRIPTS.think.thinking.includes(body.thinking.content));
    },
  }),
  chat('45: max_tokens for the answer, whatever thinking leaves of its budget', 'count', {
    body: { think: true, thinking_budget: 256, max_tokens: 64 },
    json: (body) => assert.deepEqual([body.choices[0].finish_reason, body.usage.completion_tokens], ['length', 64]),
  }),
  chat('an answer cut by max_tokens', 'count', {
    body: { max_tokens: 5 },
    json: (body) => assert.deepEqual([body.choices[0].finish_reason, body.usage.completion_tokens], ['length', 5]),
  }),
  chat('the newer name of max_tokens', 'count', {
    body: { max_tokens: null, max_completion_tokens: 4 },
    json: (body) => assert.equal(body.usage.completion_tokens, 4),
  }),
  chat('a stop string, not part of the answer', 'stops', {
    body: { stop: ['END', 'STOP'] },
    json: (body) => assert.deepEqual([body.choices[0].message.content, body.choices[0].finish_reason], ['alpha beta ', 'stop']),
  }),
  chat('a stop string in a stream', 'stops', {
    body: { stop: 'STOPPED', stream: true },
    lacks: ['STOPPED', 'gamma'],
    contains: ['[DONE]'],
  }),
  chat('the same seed twice', 'coin', {
    body: { temperature: 1, seed: 7 },
    json: async (body) => {
      const again = await ask({ model, messages: [{ role: 'user', content: 'coin' }], temperature: 1, seed: 7 });
      assert.equal(again.choices[0].message.content, body.choices[0].message.content);
    },
  }),
  chat('as the file recommends, without a temperature', 'coin', {
    body: { model: decidedPuppetPath(), temperature: undefined },
    json: async (body) => {
      const tosses = async (more: Record<string, unknown>): Promise<Set<string>> => {
        const toss = { model: decidedPuppetPath(), messages: [{ role: 'user', content: 'coin' }], ...more };
        const answers = await Promise.all(Array.from({ length: 20 }, (_, seed) => ask({ ...toss, seed })));
        return new Set(answers.map((answer) => answer.choices[0].message.content));
      };
      assert.deepEqual(await tosses({}), new Set([body.choices[0].message.content]), 'temperature 0 of the file');
      assert.ok((await tosses({ temperature: 1 })).size > 1, 'a temperature of the request');
      assert.ok((await tosses({ temperature: null })).size > 1, 'null, which is 0.7');
    },
  }),
  chat('logprobs', 'hello', {
    body: { logprobs: true, top_logprobs: 3 },
    json: (body) => {
      const { content } = body.choices[0].logprobs;
      assert.equal(content.map((entry: { token: string }) => entry.token).join(''), PUPPET_SCRIPTS.hello.answer);
      for (const entry of content) {
        assert.ok(entry.logprob <= 0 && entry.top_logprobs.length <= 3);
        assert.deepEqual(Buffer.from(entry.bytes).toString(), entry.token);
      }
    },
  }),
  chat('a tool call', 'weather', {
    body: { tools: TOOLS },
    json: (body) => {
      const { message, finish_reason } = body.choices[0];
      assert.deepEqual([message.content, finish_reason], [null, 'tool_calls']);
      assert.deepEqual(calls(message), [['get_weather', { city: 'Paris', unit: 'celsius' }]]);
    },
  }),
  chat('a tool call in a stream', 'forecast', {
    body: { tools: TOOLS, stream: true },
    json: (_body, answer) => {
      const choices = answer.events.slice(0, -1).map((event) => JSON.parse(event).choices[0]);
      assert.equal(choices.map((choice) => choice.delta.content ?? '').join(''), 'Let me look that up.');
      const parts = choices.flatMap((choice) => choice.delta.tool_calls ?? []);
      assert.deepEqual([parts[0].index, parts[0].function.name, parts[0].type], [0, 'get_weather', 'function']);
      assert.ok(parts.slice(1).every((part) => part.index === 0 && part.id === undefined && part.function.name === undefined));
      assert.deepEqual(JSON.parse(parts.map((part) => part.function.arguments).join('')), { city: 'Oslo' });
      assert.equal(choices.at(-1).finish_reason, 'tool_calls');
    },
  }),
  chat('two tool calls', 'sum', {
    body: { tools: TOOLS },
    json: (body) =>
      assert.deepEqual(calls(body.choices[0].message), [
        ['add_numbers', { a: 2, b: 3 }],
        ['add_numbers', { a: 40, b: 2 }],
      ]),
  }),
  chat('one tool call when parallel calls are off', 'sum', {
    body: { tools: TOOLS, parallel_tool_calls: false },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['add_numbers', { a: 2, b: 3 }]]),
  }),
  chat('thinking before a tool call', 'plan', {
    body: { tools: TOOLS, think: true },
    json: (body) => {
      assert.deepEqual(calls(body.choices[0].message), [['get_time', {}]]);
      assert.equal(body.thinking.content, PUPPET_SCRIPTS.plan.thinking.trim());
    },
  }),
  ...([{ max_tokens: 1 }, { max_tokens: 8 }, { max_tokens: 10 }, { stop: ['\n'] }, { stop: ['city'] }] as const).flatMap((end) => {
    let whole: unknown;
    const shown = ({
      content,
      tool_calls: made,
    }: {
      content?: string | null;
      tool_calls?: { function: { name?: string; arguments: string } }[];
    }) => [content || '', (made ?? []).map(({ function: { name, arguments: args } }) => `${name ?? ''}${args}`).join('')];
    return [
      chat(`a tool call that is cut off by ${JSON.stringify(end)} shows no markup`, 'broken', {
        body: { tools: TOOLS, ...end },
        json: (body) => {
          const { message, finish_reason } = body.choices[0];
          whole = shown(message);
          assert.equal(finish_reason, 'length');
          assert.ok(!/[<>]/.test(message.content ?? ''), message.content);
        },
      }),
      chat('and streams the same', 'broken', {
        body: { tools: TOOLS, stream: true, ...end },
        json: (_body, answer) => {
          const choices = answer.events.slice(0, -1).map((event) => JSON.parse(event).choices[0]);
          const parts = choices.map(({ delta: part }) => shown(part));
          assert.deepEqual([parts.map(([text]) => text).join(''), parts.map(([, call]) => call).join('')], whole);
          assert.equal(choices.at(-1).finish_reason, 'length');
        },
      }),
    ];
  }),
  chat('a tool call of another tool than the model would call', 'weather', {
    body: { tools: [tool('get_water', { river: { enum: ['Rhine'] } })], max_tokens: 400 },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['get_water', { river: 'Rhine' }]]),
  }),
  chat('no tools when tool_choice is none', 'weather', {
    body: { tools: TOOLS, tool_choice: 'none' },
    json: (body) =>
      assert.deepEqual([body.choices[0].message.content, body.choices[0].finish_reason], [PUPPET_SCRIPTS.weather.answer, 'stop']),
  }),
  chat('a required tool call from a model that would rather talk', 'hello', {
    body: { tools: TOOLS, tool_choice: 'required', max_tokens: 400, seed: 1 },
    json: (body) => assert.ok(body.choices[0].finish_reason === 'length' || calls(body.choices[0].message).length > 0),
  }),
  chat('a named tool', 'weather', {
    body: { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'get_weather' } } },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['get_weather', { city: 'Paris', unit: 'celsius' }]]),
  }),
  chat('no arguments for a tool that names no parameters', 'weather', {
    body: { tools: [{ type: 'function', function: { name: 'get_weather', parameters: null } }] },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['get_weather', {}]]),
  }),
  chat('a tool of those that are allowed', 'weather', {
    body: {
      tools: TOOLS,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_weather' } }] },
      },
    },
    json: (body) => assert.deepEqual(calls(body.choices[0].message), [['get_weather', { city: 'Paris', unit: 'celsius' }]]),
  }),
  chat('a named tool that does not exist', 'weather', {
    status: 400,
    body: { tools: TOOLS, tool_choice: { type: 'function', function: { name: 'get_tea' } } },
    contains: ['get_tea', 'get_weather, add_numbers, get_time'],
  }),
  {
    name: 'the turn after a tool result',
    method: 'POST',
    path: CHAT,
    body: {
      model,
      temperature: 0,
      tools: TOOLS,
      messages: [
        { role: 'user', content: 'weather' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: null, type: null, function: { name: 'get_weather', arguments: '{"city":"Paris"}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: '21 degrees' },
      ],
    },
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_TOOL_ANSWERS.get_weather.answer),
  },
  chat('a response_format with an empty schema beside it', 'hello', {
    body: { response_format: { type: 'text', json_schema: null } },
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer),
  }),
  chat('no JSON without the schema that its type needs', 'hello', {
    status: 422,
    body: { response_format: { type: 'json_schema', json_schema: null } },
    contains: ['response_format must be'],
  }),
  chat('any JSON object', 'json', {
    body: { response_format: { type: 'json_object' } },
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.json.answer),
  }),
  chat('JSON of a schema, from a model that would rather talk', 'hello', {
    body: {
      seed: 3,
      max_tokens: 300,
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'x',
          strict: true,
          schema: {
            type: 'object',
            properties: { ok: { type: 'boolean' }, n: { type: 'integer', minimum: 3, maximum: 5 } },
            required: ['ok', 'n'],
          },
        },
      },
    },
    json: (body) => {
      const value = JSON.parse(body.choices[0].message.content);
      assert.equal(typeof value.ok, 'boolean');
      assert.ok([3, 4, 5].includes(value.n));
    },
  }),
  chat('a schema that cannot be enforced, strictly', 'hello', {
    status: 422,
    body: { response_format: { type: 'json_schema', json_schema: { strict: true, schema: { not: {} } } } },
    contains: ['\\"not\\"'],
  }),
  chat('a prompt over the context', `hello ${'word '.repeat(3000)}`, {
    status: 400,
    body: { n_ctx: 1024, auto_truncate: false },
    json: (body) => {
      assert.equal(body.detail.error, 'context_length_exceeded');
      assert.equal(body.detail.message, body.message);
      const { total_context, prompt_tokens, available_for_completion } = body.detail.context_usage;
      assert.ok(total_context <= 1024 && prompt_tokens > total_context && available_for_completion === 0);
      assert.equal(body.error.code, 'context_length_exceeded');
    },
  }),
  {
    name: 'a history over the context, shortened',
    method: 'POST',
    path: CHAT,
    body: {
      model,
      temperature: 0,
      extra_body: { n_ctx: 1024 },
      truncation_strategy: 'keep_system',
      messages: [
        { role: 'system', content: 'Be kind.' },
        ...Array.from({ length: 30 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', content: `${n} ${'word '.repeat(60)}` })),
        { role: 'user', content: 'hello' },
      ],
    },
    json: (body) => {
      assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer);
      assert.equal(body.x_context_usage.strategy_used, 'keep_system');
      assert.ok(body.x_context_usage.truncated && body.x_context_usage.truncated_messages > 0);
    },
  },
  ...(
    [
      ['quern-standin', ['tools', 'thinking', 'embeddings']],
      ['tiny/writer', ['tools']],
      ['tiny/writer:Q4_K_M', ['tools']],
      ['tiny%2Fthinker', ['tools', 'thinking']],
      ['tiny/embedder', ['embeddings']],
      ['tiny/embedder:int8', ['embeddings']],
      ['tiny/embedder:fp16', ['embeddings']],
      ['tiny/gguf', ['embeddings']],
      ['tiny/gguf-writer', ['tools', 'thinking', 'embeddings']],
      ['tiny/gguf-writer:Q8_0', ['tools', 'thinking', 'embeddings']],
      ['tiny/gguf-ranker', []],
      ['tiny/nli', []],
    ] as const
  ).map(
    ([id, able]): Scenario => ({
      name: `what ${id} can do`,
      path: `/v1/models/${id}/capabilities`,
      json: ({ capabilities }) => {
        const { chat_template: template, notes, ...known } = capabilities;
        assert.deepEqual(Object.keys(known), ['native_audio', 'vision', 'tools', 'thinking', 'embeddings']);
        assert.deepEqual(
          Object.keys(known).filter((name) => known[name]),
          able,
        );
        assert.equal(template, known.tools ? 'own' : null);
        assert.ok(Array.isArray(notes));
      },
    }),
  ),
  ...['tiny/gguf-writer', 'tiny/gguf-writer:Q8_0'].map((name) =>
    chat(`an answer of ${name}, a folder of GGUF files`, 'hello', {
      body: { model: name },
      json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer),
    }),
  ),
  ...(
    [
      ['an importance matrix alone', 'tiny/matrix', 400],
      ['a format that is not there', 'tiny/writer:FP16', 404],
    ] as const
  ).flatMap(([what, name, status]): Scenario[] => {
    let refusal: { code: string; message: string };
    return [
      chat(`no chat with ${what}`, 'hello', {
        status,
        body: { model: name },
        json: ({ code, message }) => {
          refusal = { code, message };
        },
      }),
      {
        name: `capabilities of ${what} are refused as the chat is`,
        path: `/v1/models/${name}/capabilities`,
        status,
        json: ({ code, message }) => assert.deepEqual({ code, message }, refusal),
      },
    ];
  }),
  {
    name: 'what an unknown model can do',
    path: '/v1/models/no-org/no-model:Q4_K_M/capabilities',
    status: 404,
    contains: ['ModelNotFound', 'quern pull no-org/no-model:Q4_K_M'],
  },
  { name: 'capabilities of no name', path: '/v1/models/a/b/c/capabilities', status: 400, contains: ['InvalidModelName'] },
  { name: 'malformed JSON', method: 'POST', path: CHAT, status: 422, headers: { 'content-type': 'application/json' }, body: '{"model": ' },
  { name: 'no model', method: 'POST', path: CHAT, status: 422, body: { messages: [{ role: 'user', content: 'hi' }] }, contains: ['model'] },
  { name: 'no messages', method: 'POST', path: CHAT, status: 422, body: { model, messages: [] }, contains: ['messages'] },
  chat('an image of 3 MiB for a model that sees none', 'hello', {
    status: 400,
    body: { messages: [withImage(3)] },
    contains: ['image input needs', 'image_url'],
  }),
  chat('a file', 'hello', {
    status: 400,
    body: { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    contains: ['file input needs'],
  }),
  chat('an image in an earlier turn', 'hello', {
    status: 400,
    body: { stream: true, messages: [withImage(0), { role: 'user', content: 'hello' }] },
    contains: ['image input needs'],
  }),
  chat('more than 16 MiB', 'hello', { status: 413, body: { messages: [withImage(16)] }, contains: ['16777216'] }),
  chat('fields that say nothing', 'hello', {
    body: { response_format: {}, stop: [], logit_bias: {}, metadata: {}, modalities: [] },
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer),
  }),
  chat('an answer until the context ends', 'endless', {
    body: { max_tokens: -1, n_ctx: 1024 },
    json: (body) => {
      assert.equal(body.choices[0].finish_reason, 'length');
      assert.ok(body.usage.total_tokens >= body.x_context_usage.total_context - 1, JSON.stringify(body.usage));
    },
  }),
  chat('a whole answer without a limit', 'hello', {
    body: { max_completion_tokens: -1 },
    json: (body) => assert.equal(body.choices[0].finish_reason, 'stop'),
  }),
  ...[0, -2].map((max_tokens) =>
    chat(`max_tokens ${max_tokens}`, 'hello', { status: 422, body: { max_tokens }, contains: ['max_tokens'] }),
  ),
  chat('a model in the home folder that is not there', 'hello', {
    status: 404,
    body: { model: '~/no-such.gguf' },
    contains: [join(homedir(), 'no-such.gguf')],
  }),
  chat('a temperature out of range', 'hi', { status: 422, body: { temperature: 3 }, contains: ['temperature'] }),
  chat('a bias of a token that the model does not have', 'hi', {
    status: 422,
    body: { logit_bias: { 1: 2, 99999: -1 } },
    lacks: ['biasTokens'],
    json: (body) => {
      assert.match(body.message, /^logit_bias names the token 99999; this model has \d+ tokens, 0 to \d+\.$/);
      assert.deepEqual(body.errors[0].loc, ['body', 'logit_bias', '99999']);
    },
  }),
  ...[0, 9, 1.5].map((n) => chat(`${n} choices`, 'hi', { status: 422, body: { n }, contains: ['"n"'] })),
  ...CHOICES,
  chat('an unknown cache type', 'hi', { status: 422, body: { extra_body: { cache_type_k: 'q3' } }, contains: ['q8_0'] }),
  chat('an adapter', 'hi', { status: 404, body: { lora: [{ path: 'none.gguf' }] }, contains: ['AdapterNotFound'] }),
  chat('an adapter in its extra_body', 'hi', { status: 422, body: { extra_body: { lora: 'a.gguf' } }, contains: ['lora'] }),
  chat('slots out of range', 'hi', { status: 422, body: { extra_body: { n_slots: 0 } }, contains: ['n_slots'] }),
  chat('a model that is not there', 'hi', { status: 404, body: { model: 'no-org/no-model:Q4_K_M' }, contains: ['no-org/no-model'] }),
  {
    name: 'audio input',
    method: 'POST',
    path: CHAT,
    status: 400,
    body: { model, messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] }] },
    contains: ['audio input needs'],
  },
];

let running: Runtime;

/** One more chat, outside of the table. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
async function ask(body: Record<string, unknown>): Promise<any> {
  const [endpoint] = universalEndpoints.filter((one) => one.path === CHAT);
  const reply = await endpoint!.handler(running, {
    id: 'x',
    method: 'POST',
    params: {},
    query: {},
    body,
    bodyBytes: 0,
    files: [],
    header: () => undefined,
    signal: new AbortController().signal,
  });
  return 'json' in reply ? reply.json : undefined;
}

scenarios<Runtime>(
  'the universal runtime',
  {
    endpoints: universalEndpoints,
    context: () => {
      const models = new Models({ dataDir });
      // The endpoints under test use no other part of the runtime.
      running = { version: '0.0.0', models, completions: new Completions({ models }) } as unknown as Runtime;
      return running;
    },
    close: (runtime) => runtime.models.close(),
  },
  table,
);
