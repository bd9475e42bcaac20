import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { chatEndpoints } from '../../gateway/core/chat.js';
import { Chat } from '../../runtime/chat/chat.js';
import { APOLOGY } from '../../runtime/chat/turn.js';
import type { CompletionPart } from '../../runtime/completions/contract.js';
import { Projects } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openStore } from '../../runtime/store/store.js';
import { Failure } from '../../schemas/errors.js';
import type { Answer } from '../support/exchange.js';
import { type Scenario, scenarios } from '../support/scenario.js';
import { FINISH, ScriptedProvider, type Step } from '../unit/runtime/chat/scripted-provider.js';

const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-chat-'));
const provider = new ScriptedProvider();
const text = (value: string): Step => ({ type: 'text', text: value });
const echo: Step[] | undefined = undefined;
/** A reference to an environment variable, as the operator's file or a request writes it. */
const reference = (name: string): string => `\${env:${name}}`;
const CONFIGURED_VARIABLE = reference('QUERN_CHAT_TEST');
const REQUESTED_VARIABLE = reference('HOME');

function project(namespace: string, name: string, config: object): void {
  const folder = join(dataDir, 'projects', namespace, name);
  mkdirSync(folder, { recursive: true });
  // JSON is YAML.
  writeFileSync(join(folder, 'project.yaml'), JSON.stringify({ version: 'v1', name, namespace, ...config }));
}

const PLAIN = { name: 'plain', provider: 'universal', model: 'file.gguf' };
project('ns', 'p', {
  runtime: {
    default_model: 'plain',
    models: [
      {
        name: 'tuned',
        provider: 'openai',
        model: 'm',
        model_api_parameters: { temperature: 0.3, top_p: 0.5, max_tokens: 33, stop: 'END', reasoning_effort: 'low' },
        extra_body: { n_threads: 2, tag: CONFIGURED_VARIABLE },
        prompts: ['few'],
        tools: [{ type: 'function', name: 'weather', description: 'In {{city | Oslo}}', parameters: { type: 'object' } }],
      },
      { ...PLAIN, prompts: [] },
      { ...PLAIN, name: 'prompted' },
      { ...PLAIN, name: 'ranked', model_api_parameters: { top_k: 9, temperature: 0.3 } },
    ],
  },
  prompts: [
    { name: 'base', messages: [{ role: 'system', content: 'You are {{who | Bob}}.' }] },
    {
      name: 'few',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Example?' },
        { role: 'assistant', content: 'Example!' },
      ],
    },
  ],
});
project('ns', 'q', { runtime: { models: [PLAIN] } });
project('ns', 'strict', { runtime: { models: [PLAIN] }, prompts: [{ name: 'a', messages: [{ role: 'system', content: 'Hi {{name}}' }] }] });
project('ns', 'bare', { runtime: { models: [] } });
for (const [name, schema] of [
  ['typed', 'schemas/a.py::A'],
  ['json', 'schemas/a.json::A'],
  ['whole-json', 'schemas/a.json'],
  ['no-file', 'schemas/none.py::A'],
  ['no-class', 'schemas/a.py::B'],
  ['no-definition', 'schemas/a.json::B'],
  ['code', 'schemas/code.py::A'],
  ['escape', 'schemas/link.json'],
] as const) {
  project('ns', name, { runtime: { models: [PLAIN] }, schema });
  const folder = join(dataDir, 'projects', 'ns', name, 'schemas');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.py'), 'from pydantic import BaseModel\n\nclass A(BaseModel):\n    n: int\n');
  writeFileSync(join(folder, 'a.json'), JSON.stringify({ type: 'object', $defs: { A: { type: 'integer' } } }));
  writeFileSync(join(folder, 'code.py'), '\nprint("hello")\n');
  symlinkSync(join(dataDir, 'projects', 'ns', 'p', 'project.yaml'), join(folder, 'link.json'));
}
project('ns', 'hot', { runtime: { models: [{ ...PLAIN, model_api_parameters: { temperature: 9 } }] } });
project('ns', 'broken', { runtime: { models: [{ name: 'x' }] } });

const CHAT = '/v1/projects/ns/p/chat';
const POST = { method: 'POST', path: `${CHAT}/completions` } as const;
const LATE_USAGE = {
  total_context: 100,
  prompt_tokens: 3,
  available_for_completion: 97,
  truncated: false,
  truncated_messages: 0,
  strategy_used: null,
};
const user = (content: string, more: object = {}): object => ({ messages: [{ role: 'user', content }], ...more });
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
let sessionId = '';

/** Sets what the provider answers when the row's turn comes. */
function after(script: Parameters<ScriptedProvider['say']>[0] | undefined, body: object): () => object {
  return () => {
    provider.asked.length = 0;
    provider.say(script ?? ((request) => [text(`echo: ${request.messages.at(-1)?.content}`), FINISH]));
    return body;
  };
}

const asked = (): (typeof provider.asked)[number]['request'] => provider.asked.at(-1)!.request;
const chunk = (delta: object, finish: string | null = null): Record<string, unknown> => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const invalid = (name: string, more: object, path: string): Scenario => ({
  name: `422: ${name}`,
  ...POST,
  body: after(echo, user('x', more)),
  status: 422,
  json: (body) => {
    assert.equal(typeof body.detail, 'string');
    assert.equal(typeof body.error, 'string');
    assert.ok(body.errors[0].loc.join('.').startsWith(`body.${path}`), JSON.stringify(body.errors));
    assert.equal(provider.asked.length, 0);
  },
});

/** A refusal, whole and in a stream, and what a client that sends these headers finds in its `error`. */
const errorOf = (client: string, headers: Record<string, string>, form: 'text' | 'object'): Scenario[] => [
  {
    name: `error is ${form === 'text' ? 'a text' : 'an object'} for ${client}`,
    ...POST,
    headers,
    body: {},
    status: 422,
    json: (body) => {
      assert.equal(typeof body.detail, 'string');
      assert.equal(form === 'text' ? body.error : body.error.message, form === 'text' ? 'invalid' : body.detail);
    },
  },
];

/** A project whose schema is this. */
const structured = (name: string, wanted: object): Scenario => ({
  name: `the schema of ${name}`,
  method: 'POST',
  path: `/v1/projects/ns/${name}/chat/completions`,
  body: after(echo, user('x')),
  json: () => assert.deepEqual(asked().response_format, { type: 'json_schema', json_schema: wanted }),
});
/** A project whose schema cannot be used. */
const unstructured = (name: string, says: string): Scenario => ({
  name: `400: the schema of ${name}`,
  method: 'POST',
  path: `/v1/projects/ns/${name}/chat/completions`,
  body: after(echo, user('x')),
  status: 400,
  contains: [says],
  json: () => assert.equal(provider.asked.length, 0),
});

process.env.QUERN_CHAT_TEST = 'from the environment';

const table: Scenario[] = [
  {
    name: '30: answers, and names a new session',
    ...POST,
    body: after(echo, user('hello')),
    answerHeaders: { 'x-session-id': UUID },
    json: (body, answer: Answer) => {
      sessionId = answer.headers['x-session-id']!;
      assert.match(body.id, /^chatcmpl-/);
      assert.ok(Math.abs(body.created - Date.now() / 1000) < 100);
      const { id: _id, created: _created, ...rest } = body;
      assert.deepEqual(rest, {
        object: 'chat.completion',
        model: 'plain',
        choices: [{ index: 0, message: { role: 'assistant', content: 'echo: hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
      });
      assert.deepEqual(asked(), { messages: [{ role: 'user', content: 'hello' }], stream: false });
    },
  },
  {
    name: '30: goes on with the session that is named',
    ...POST,
    headers: () => ({ 'X-Session-ID': sessionId }),
    body: after(echo, user('again')),
    json: (_body, answer) => {
      assert.equal(answer.headers['x-session-id'], sessionId);
      assert.deepEqual(
        asked().messages.map((message) => message.content),
        ['hello', 'echo: hello', 'again'],
      );
    },
  },
  {
    name: '30: has four messages of history',
    path: () => `${CHAT}/sessions/${sessionId}/history`,
    json: (body) =>
      assert.deepEqual(body, {
        messages: [
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: 'echo: hello' },
          { role: 'user', content: 'again' },
          { role: 'assistant', content: 'echo: again' },
        ],
      }),
  },
  {
    name: '31: the same id in another project is another session',
    method: 'POST',
    path: '/v1/projects/ns/q/chat/completions',
    headers: () => ({ 'X-Session-ID': sessionId }),
    body: after(echo, user('here')),
    json: () => assert.equal(asked().messages.length, 1),
  },
  {
    name: '31: with its own history',
    path: () => `/v1/projects/ns/q/chat/sessions/${sessionId}/history`,
    json: (body) => assert.equal(body.messages.length, 2),
  },
  {
    name: '32: X-No-Session wins, remembers nothing and names no session',
    ...POST,
    headers: () => ({ 'X-No-Session': '1', 'X-Session-ID': sessionId }),
    body: after(echo, user('secret')),
    lacks: ['x-session-id'],
    json: () => assert.equal(asked().messages.length, 1),
  },
  { name: '32: nothing of it in the history', path: () => `${CHAT}/sessions/${sessionId}/history`, lacks: ['secret'] },
  {
    name: '32: stateless messages pass as they are',
    ...POST,
    headers: { 'X-No-Session': 'yes' },
    body: after(echo, {
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'a' },
        { role: 'system', content: 'T' },
        { role: 'user', content: 'b' },
      ],
    }),
    json: () =>
      assert.deepEqual(
        asked().messages.map((m) => m.content),
        ['S', 'a', 'T', 'b'],
      ),
  },
  {
    name: '32: a stateless stream carries no session header',
    ...POST,
    headers: { 'X-No-Session': '1' },
    body: after(echo, user('x', { stream: true })),
    lacks: ['x-session-id'],
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: 'echo: x' }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '37: a stream starts with the role, ends with a finish reason and [DONE]',
    ...POST,
    body: after([text('one'), text(' two "quoted"\n'), FINISH], user('x', { stream: true })),
    answerHeaders: { 'content-type': /^text\/event-stream/, 'x-session-id': UUID },
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'one' }),
      chunk({ content: ' two "quoted"\n' }),
      chunk({}, 'stop'),
      '[DONE]',
    ],
    lacks: ['usage'],
  },
  {
    name: 'include_usage adds a last chunk without choices',
    ...POST,
    body: after([text('a'), FINISH], user('x', { stream: true, stream_options: { include_usage: true } })),
    events: [
      { usage: null },
      { usage: null },
      { usage: null },
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 } },
      '[DONE]',
    ],
  },
  {
    name: 'thinking is apart from the answer, in streams too',
    ...POST,
    body: after([{ type: 'reasoning', text: 'hm' }, text('4'), FINISH], user('x', { stream: true, think: true, thinking_budget: 9 })),
    events: [chunk({ role: 'assistant' }), chunk({ reasoning_content: 'hm' }), chunk({ content: '4' }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '45: thinking of a whole answer',
    ...POST,
    headers: { 'X-Session-ID': 'thinker' },
    body: after(
      [{ type: 'reasoning', text: 'hm' }, text('4'), { ...FINISH, thinkingTokens: 3 } as Step],
      user('x', { think: true, max_completion_tokens: 5, max_tokens: 9 }),
    ),
    json: (body) => {
      assert.deepEqual(body.thinking, { content: 'hm', tokens: 3 });
      assert.equal(body.choices[0].message.content, '4');
      assert.equal(asked().think, true);
      assert.equal(asked().max_tokens, 5);
    },
  },
  { name: '45: thinking is not part of the history', path: `${CHAT}/sessions/thinker/history`, lacks: ['"hm"'], contains: ['"4"'] },
  {
    name: 'context usage that comes with the finish is in the answer',
    ...POST,
    headers: { 'X-No-Session': '' },
    body: () => {
      provider.lateUsage = LATE_USAGE;
      return after([text('4'), FINISH], user('x'))();
    },
    json: (body) => assert.deepEqual(body.x_context_usage, LATE_USAGE),
  },
  {
    name: 'context usage that comes with the finish is in the stream',
    ...POST,
    headers: { 'X-No-Session': '' },
    body: after([text('4'), FINISH], user('x', { stream: true })),
    json: (_body, answer) => {
      provider.lateUsage = undefined;
      assert.deepEqual(JSON.parse(answer.events.at(-2)!).x_context_usage, LATE_USAGE);
    },
  },
  {
    name: '35: an empty stream gets the fallback',
    ...POST,
    headers: { 'X-Session-ID': 'empty' },
    body: after([FINISH], user('x', { stream: true })),
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: APOLOGY }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '36: a model that fails before its first part gets the fallback',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([Promise.resolve(), new Failure('unavailable', 'host crashed')], user('x', { stream: true })),
    lacks: ['host crashed'],
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: APOLOGY }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '36: a provider that fails while it opens gets the fallback',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([new Failure('model_failed', 'sent an empty answer')], user('x', { stream: true })),
    lacks: ['empty answer'],
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: APOLOGY }), chunk({}, 'stop'), '[DONE]'],
  },
  {
    name: '36: a provider that fails while it opens is an error in a whole answer',
    ...POST,
    body: after([new Failure('model_failed', 'sent an empty answer')], user('x')),
    status: 500,
    contains: ['empty answer'],
  },
  {
    name: '36: what the caller can mend is a status before a stream, too',
    ...POST,
    body: after([new Failure('unavailable', 'start it')], user('x', { stream: true })),
    status: 503,
    contains: ['start it'],
  },
  {
    name: '36: a model that fails in the middle still ends with [DONE]',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([text('half'), new Error('secret reason')], user('x', { stream: true })),
    lacks: ['secret reason'],
    events: [chunk({ role: 'assistant', content: '' }), chunk({ content: 'half' }), '[DONE]'],
  },
  {
    name: 'a stream whose answer breaks its strict schema says so',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after(
      [text('[1'), new Failure('model_failed', 'The answer does not fit', { code: 'schema_not_met' })],
      user('x', { stream: true }),
    ),
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: '[1' }),
      { error: { message: 'The answer does not fit', code: 'schema_not_met' } },
      '[DONE]',
    ],
  },
  {
    name: '36: a whole answer that fails is an error',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([text('half'), new Error('secret reason')], user('x')),
    status: 500,
    lacks: ['secret reason'],
    json: (body) => assert.equal(typeof body.detail, 'string'),
  },
  {
    name: 'a model that ends without finishing is an error',
    ...POST,
    headers: { 'X-Session-ID': 'failing' },
    body: after([text('half')], user('x')),
    status: 500,
    contains: ['broke off'],
  },
  {
    name: 'a host that crashes is a 503',
    ...POST,
    body: after([text('h'), new Failure('unavailable', 'The engine of "m" ended.')], user('x')),
    status: 503,
    contains: ['The engine of'],
  },
  {
    name: '36: nothing of failed turns is remembered',
    path: `${CHAT}/sessions/failing/history`,
    json: (body) => assert.deepEqual(body, { messages: [] }),
  },
  {
    name: 'what the provider refuses at once is an ordinary error, in streams too',
    ...POST,
    body: after(
      [new Failure('bad_request', 'too long', { code: 'context_length_exceeded', fields: { context_usage: { total_context: 8 } } })],
      user('x', { stream: true }),
    ),
    status: 400,
    contains: ['too long', 'context_length_exceeded', '"total_context":8'],
  },
  ...errorOf('nobody in particular', {}, 'text'),
  ...errorOf('a command line written in Go', { 'User-Agent': 'Go-http-client/1.1' }, 'text'),
  ...errorOf('a browser', { 'User-Agent': 'Mozilla/5.0 OpenAI/JS' }, 'text'),
  ...errorOf("OpenAI's SDK by its name", { 'User-Agent': 'OpenAI/JS 6.30.1' }, 'object'),
  ...errorOf("OpenAI's SDK by its language", { 'X-Stainless-Lang': 'python' }, 'object'),
  ...errorOf("OpenAI's SDK by its version alone", { 'X-Stainless-Package-Version': '' }, 'object'),
  { name: '38: no messages', ...POST, body: after(echo, {}), status: 422, contains: ['messages'] },
  { name: '38: messages null', ...POST, body: after(echo, { messages: null }), status: 422, contains: ['messages'] },
  { name: '38: no JSON', ...POST, headers: { 'content-type': 'application/json' }, body: '{"messages":', status: 422 },
  {
    name: '38: unknown fields and nulls are accepted',
    ...POST,
    body: after(
      echo,
      user('x', {
        frobnicate: 1,
        temperature: null,
        tools: null,
        stop: null,
        variables: null,
        n: null,
        stream: null,
        tool_choice: null,
        rag_queries: null,
      }),
    ),
  },
  invalid('temperature', { temperature: 2.1 }, 'temperature'),
  invalid('negative temperature', { temperature: -0.1 }, 'temperature'),
  invalid('top_p', { top_p: 1.5 }, 'top_p'),
  invalid('top_k', { top_k: -1 }, 'top_k'),
  invalid('top_k fraction', { top_k: 1.5 }, 'top_k'),
  invalid('max_tokens', { max_tokens: 0 }, 'max_tokens'),
  invalid('max_tokens huge', { max_tokens: 1e308 }, 'max_tokens'),
  invalid('no choices', { n: 0 }, 'n'),
  invalid('nine choices', { n: 9 }, 'n'),
  invalid('half a choice', { n: 1.5 }, 'n'),
  {
    name: 'one choice is asked for as by a request that does not say',
    ...POST,
    body: after(echo, user('x', { n: 1 })),
    json: () => assert.ok(!('n' in asked())),
  },
  {
    name: 'several choices, of which the session remembers the first',
    ...POST,
    headers: { 'X-Session-ID': 'choices' },
    body: after([text('one'), { ...text('two'), choice: 1 } as CompletionPart, { ...FINISH, choice: 1 }, FINISH], user('x', { n: 2 })),
    json: (body) => {
      assert.equal(asked().n, 2);
      assert.deepEqual(
        body.choices.map((one: { index: number; message: { content: string } }) => [one.index, one.message.content]),
        [
          [0, 'one'],
          [1, 'two'],
        ],
      );
      assert.deepEqual(body.usage, { prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 });
    },
  },
  { name: 'the first choice is remembered', path: `${CHAT}/sessions/choices/history`, contains: ['"one"'], lacks: ['"two"'] },
  {
    name: 'several choices in a stream, of which one is empty and the finish of the first comes last',
    ...POST,
    body: after(
      [text('one'), { ...FINISH, choice: 1 }, FINISH],
      user('x', { n: 2, stream: true, stream_options: { include_usage: true } }),
    ),
    events: [
      { choices: [{ index: 0, delta: { role: 'assistant' } }] },
      { choices: [{ index: 0, delta: { content: 'one' } }] },
      { choices: [{ index: 1, delta: { role: 'assistant' } }] },
      { choices: [{ index: 1, delta: { content: APOLOGY } }] },
      { choices: [{ index: 1, finish_reason: 'stop' }] },
      { choices: [{ index: 0, finish_reason: 'stop' }] },
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 } },
      '[DONE]',
    ],
  },
  invalid('top_logprobs', { top_logprobs: 21 }, 'top_logprobs'),
  invalid('thinking_budget', { thinking_budget: -1 }, 'thinking_budget'),
  invalid('n_ctx', { n_ctx: 0 }, 'n_ctx'),
  invalid('logit_bias of a word', { logit_bias: { word: 1 } }, 'logit_bias.word'),
  invalid('logit_bias', { logit_bias: { 5: 101 } }, 'logit_bias'),
  invalid('stop', { stop: Array(17).fill('x') }, 'stop'),
  invalid('sources_limit', { sources_limit: 51 }, 'sources_limit'),
  invalid('rag_top_k', { rag_top_k: -3 }, 'rag_top_k'),
  invalid('rag_queries', { rag_queries: 'text' }, 'rag_queries'),
  invalid('variables', { variables: [] }, 'variables'),
  invalid('tools', { tools: [{ type: 'function', function: {} }] }, 'tools'),
  invalid('role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages'),
  {
    name: '39: an unknown model names the known ones',
    ...POST,
    body: after(echo, user('x', { model: 'nope' })),
    status: 400,
    contains: ['nope', 'tuned, plain, prompted, ranked'],
  },
  {
    name: 'no model configured, and the built-in one is not asked for',
    method: 'POST',
    path: '/v1/projects/ns/bare/chat/completions',
    body: after(echo, user('x', { model: 'nope' })),
    status: 400,
    contains: ['runtime.models'],
  },
  {
    name: '404 for an unknown project',
    method: 'POST',
    path: '/v1/projects/ns/none/chat/completions',
    body: after(echo, user('x')),
    status: 404,
  },
  { name: '404 of history', path: '/v1/projects/ns/none/chat/sessions/x/history', status: 404 },
  { name: '404 of delete', method: 'DELETE', path: '/v1/projects/ns/none/chat/sessions/x', status: 404 },
  { name: '404 of delete all', method: 'DELETE', path: '/v1/projects/none/none/chat/sessions', status: 404 },
  {
    name: '422 for a project that cannot be used',
    method: 'POST',
    path: '/v1/projects/ns/broken/chat/completions',
    body: after(echo, user('x')),
    status: 422,
  },
  {
    name: 'parameters of the model that cannot be used are named with their place in the file',
    method: 'POST',
    path: '/v1/projects/ns/hot/chat/completions',
    body: after(echo, user('x')),
    status: 422,
    contains: ['runtime.models[0].model_api_parameters.temperature'],
  },
  {
    name: 'streaming with a schema is refused',
    method: 'POST',
    path: '/v1/projects/ns/typed/chat/completions',
    body: after(echo, user('x', { stream: true })),
    status: 400,
    contains: ['schema'],
  },
  {
    name: 'a whole answer with a schema is asked for in its form, whatever the request says of it',
    method: 'POST',
    path: '/v1/projects/ns/typed/chat/completions',
    body: after(echo, user('x', { response_format: { type: 'text' } })),
    json: () => {
      const A = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
      const schema = { $ref: '#/$defs/A', $defs: { A } };
      assert.deepEqual(asked().response_format, { type: 'json_schema', json_schema: { name: 'A', schema } });
    },
  },
  structured('json', { name: 'A', schema: { $ref: '#/$defs/A', $defs: { A: { type: 'integer' } }, definitions: undefined } }),
  structured('whole-json', { name: 'a', schema: { type: 'object', $defs: { A: { type: 'integer' } } } }),
  unstructured('no-file', 'schemas/none.py::A of the project cannot be used: there is no file schemas/none.py'),
  unstructured('no-class', 'no model class B; it has A'),
  unstructured('no-definition', 'the file defines no B; it defines A'),
  unstructured('code', 'line 2: a schema file holds imports and classes only'),
  unstructured('escape', 'there is no file schemas/link.json'),
  {
    name: 'a session id with a slash',
    ...POST,
    headers: { 'X-Session-ID': '../x' },
    body: after(echo, user('x')),
    status: 422,
    contains: ['X-Session-ID'],
  },
  {
    name: 'a session id that is too long',
    ...POST,
    headers: { 'X-Session-ID': 'x'.repeat(129) },
    body: after(echo, user('x')),
    status: 422,
  },
  {
    name: 'the model has its own parameters, prompts and tools',
    ...POST,
    headers: { 'X-Session-ID': 'tuned' },
    body: after(
      echo,
      user('x', { model: 'tuned', variables: { city: 'Rome' }, extra_body: { top_a: 1, model: 'other', note: REQUESTED_VARIABLE } }),
    ),
    json: () => {
      const { messages, ...rest } = asked();
      assert.deepEqual(messages, [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Example?' },
        { role: 'assistant', content: 'Example!' },
        { role: 'user', content: 'x' },
      ]);
      assert.deepEqual(rest, {
        stream: false,
        temperature: 0.3,
        top_p: 0.5,
        max_tokens: 33,
        stop: ['END'],
        extra: { reasoning_effort: 'low', n_threads: 2, tag: 'from the environment', top_a: 1, note: REQUESTED_VARIABLE },
        tools: [{ type: 'function', function: { name: 'weather', description: 'In Rome', parameters: { type: 'object' } } }],
      });
    },
  },
  {
    name: 'the request wins over the parameters of the model',
    ...POST,
    headers: { 'X-Session-ID': 'tuned' },
    body: after(
      echo,
      user('y', {
        model: 'tuned',
        temperature: 0,
        top_k: 5,
        dry_multiplier: 0.8,
        max_tokens: 8,
        stop: ['A', 'B'],
        seed: 3,
        logprobs: true,
        top_logprobs: 2,
        n_ctx: 4096,
        tool_choice: 'required',
      }),
    ),
    json: () => {
      const { messages, tools: _tools, extra: _extra, ...rest } = asked();
      assert.deepEqual(
        messages.map((message) => message.content),
        ['Be short.', 'Example?', 'Example!', 'x', 'echo: x', 'y'],
      );
      assert.deepEqual(rest, {
        stream: false,
        temperature: 0,
        top_p: 0.5,
        top_k: 5,
        dry_multiplier: 0.8,
        max_tokens: 8,
        stop: ['A', 'B'],
        seed: 3,
        logprobs: true,
        top_logprobs: 2,
        n_ctx: 4096,
        tool_choice: 'required',
      });
    },
  },
  {
    name: 'what else says the form of an answer goes on to the provider',
    ...POST,
    body: after(echo, user('z', { model: 'ranked', guided_json: { const: 1 }, grammar: null, extra_body: { guided_choice: ['a'] } })),
    json: () => assert.deepEqual(asked().extra, { guided_json: { const: 1 }, guided_choice: ['a'] }),
  },
  {
    name: 'adapters go on to the provider',
    ...POST,
    body: after(echo, user('z', { model: 'ranked', lora: [{ path: 'a.gguf' }], extra_body: { lora: [] } })),
    json: () => assert.deepEqual(asked().extra, { lora: [{ path: 'a.gguf' }] }),
  },
  {
    name: 'so does its extra_body, in what the universal runtime reads there',
    ...POST,
    body: after(echo, user('z', { model: 'ranked', extra_body: { top_k: 5, temperature: 0 } })),
    json: () => {
      const { top_k, temperature, extra } = asked();
      assert.deepEqual([top_k, temperature, extra], [undefined, 0.3, { top_k: 5, temperature: 0 }]);
    },
  },
  {
    name: 'prompt messages that are no system prompts lead the history; system prompts are not in it',
    path: `${CHAT}/sessions/tuned/history`,
    lacks: ['Be short'],
    json: (body) =>
      assert.deepEqual(
        body.messages.map((message: { content: string }) => message.content),
        ['Example?', 'Example!', 'x', 'echo: x', 'y', 'echo: y'],
      ),
  },
  {
    name: 'all prompt sets apply where the model names none, and the system message of the request joins them',
    ...POST,
    headers: { 'X-Session-ID': 'prompted' },
    body: after(echo, {
      model: 'prompted',
      messages: [
        { role: 'system', content: 'Now.' },
        { role: 'user', content: 'x' },
      ],
    }),
    json: () =>
      assert.deepEqual(
        asked().messages.map((message) => message.content),
        ['You are Bob.\n\nBe short.\n\nNow.', 'Example?', 'Example!', 'x'],
      ),
  },
  {
    name: 'system prompts are rendered anew in every turn',
    ...POST,
    headers: { 'X-Session-ID': 'prompted' },
    body: after(echo, user('y', { model: 'prompted', variables: { who: 'Ann' } })),
    json: () =>
      assert.deepEqual(
        asked().messages.map((message) => message.content),
        ['You are Ann.\n\nBe short.', 'Example?', 'Example!', 'x', 'echo: x', 'y'],
      ),
  },
  {
    name: '27: a variable without value',
    method: 'POST',
    path: '/v1/projects/ns/strict/chat/completions',
    body: after(echo, user('x', { variables: { other: 1 } })),
    status: 400,
    json: (body) => {
      assert.ok(body.detail.startsWith('Template resolution failed'));
      assert.ok(body.detail.includes('{{name}}') && body.detail.includes('other'));
    },
  },
  {
    name: '26: a variable that is an object',
    method: 'POST',
    path: '/v1/projects/ns/strict/chat/completions',
    body: after(echo, user('x', { variables: { name: {} } })),
    status: 400,
    contains: ['unsupported type'],
  },
  { name: 'messages of the client are no templates', ...POST, body: after(echo, user('{{name}}')), contains: ['echo: {{name}}'] },
  {
    name: '40: a call to a tool of the client ends the turn',
    ...POST,
    headers: { 'X-Session-ID': 'tools' },
    body: after(
      [
        { type: 'tool_call', index: 0, id: 'call_1', name: 'add', arguments: '{"a":' },
        { type: 'tool_call', index: 0, arguments: '1}' },
        { ...FINISH, reason: 'tool_calls' } as Step,
      ],
      user('add', {
        tools: [{ type: 'function', function: { name: 'add', description: '{{what | sums}}' } }],
        tool_choice: 'auto',
        parallel_tool_calls: false,
      }),
    ),
    json: (body) => {
      assert.equal(body.choices[0].finish_reason, 'tool_calls');
      assert.deepEqual(body.choices[0].message, {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
      });
      assert.deepEqual(asked().tools, [{ type: 'function', function: { name: 'add', description: 'sums' } }]);
      assert.equal(asked().parallel_tool_calls, false);
    },
  },
  {
    name: '40: and a tool message continues it',
    ...POST,
    headers: { 'X-Session-ID': 'tools' },
    body: after(echo, { messages: [{ role: 'tool', tool_call_id: 'call_1', content: '3' }] }),
    contains: ['echo: 3'],
    json: () =>
      assert.deepEqual(
        asked().messages.map((message) => message.role),
        ['user', 'assistant', 'tool'],
      ),
  },
  {
    name: '40: in order',
    path: `${CHAT}/sessions/tools/history`,
    json: (body) =>
      assert.deepEqual(
        body.messages.map((message: { role: string }) => message.role),
        ['user', 'assistant', 'tool', 'assistant'],
      ),
  },
  {
    name: '40: a call that breaks off in a stream',
    ...POST,
    headers: { 'X-Session-ID': 'torn' },
    body: after(
      [
        { type: 'tool_call', index: 0, id: 'call_1', name: 'add', arguments: '{"a":"Par' },
        text('<tool_call>{"name":"add","arguments":{"a":"Par'),
        FINISH,
      ],
      user('add', { stream: true, tools: [{ type: 'function', function: { name: 'add' } }] }),
    ),
    contains: ['[DONE]'],
  },
  {
    name: '40: is remembered as the text that it is',
    path: `${CHAT}/sessions/torn/history`,
    json: (body) =>
      assert.deepEqual(body.messages.at(-1), { role: 'assistant', content: '<tool_call>{"name":"add","arguments":{"a":"Par' }),
  },
  {
    name: '40: a streamed call',
    ...POST,
    body: after(
      [
        { type: 'tool_call', index: 0, id: 'call_1', name: 'add', arguments: '' },
        { type: 'tool_call', index: 0, arguments: '{}' },
        { ...FINISH, reason: 'tool_calls' } as Step,
      ],
      user('add', { stream: true, tools: [{ type: 'function', function: { name: 'add' } }] }),
    ),
    events: [
      chunk({ role: 'assistant', content: '' }),
      chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'add', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ],
  },
  {
    name: '38: whole conversations with tool messages are accepted',
    ...POST,
    headers: { 'X-No-Session': '1' },
    body: after(echo, {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
      ],
    }),
    contains: ['echo: r'],
  },
  { name: 'a request without a user message is accepted', ...POST, body: after(echo, { messages: [{ role: 'system', content: 'go' }] }) },
  {
    name: 'retrieval fields are accepted and get a plain answer',
    ...POST,
    body: after(
      echo,
      user('x', {
        rag_enabled: true,
        database: 'none',
        rag_top_k: 3,
        rag_score_threshold: 0.5,
        rag_queries: ['a', ' '],
        rag_retrieval_strategy: 's',
        include_sources: true,
        sources_limit: 5,
      }),
    ),
    contains: ['echo: x'],
  },
  {
    name: 'logprobs come with the choice',
    ...POST,
    body: after(
      [{ type: 'text', text: 'a', logprobs: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] }, FINISH],
      user('x', { logprobs: true }),
    ),
    json: (body) => assert.deepEqual(body.choices[0].logprobs, { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] }),
  },
  {
    name: 'finish reason length',
    ...POST,
    body: after([text('a'), { ...FINISH, reason: 'length' } as Step], user('x')),
    contains: ['"finish_reason":"length"'],
  },
  { name: '33: delete an unknown session', method: 'DELETE', path: `${CHAT}/sessions/unknown`, contains: ['message'] },
  {
    name: '33: delete a session',
    method: 'DELETE',
    path: () => `${CHAT}/sessions/${sessionId}`,
    json: (body) => assert.equal(typeof body.message, 'string'),
  },
  {
    name: '33: its history is empty',
    path: () => `${CHAT}/sessions/${sessionId}/history`,
    json: (body) => assert.deepEqual(body, { messages: [] }),
  },
  {
    name: '33: its id starts anew',
    ...POST,
    headers: () => ({ 'X-Session-ID': sessionId }),
    body: after(echo, user('new life')),
    json: () => assert.equal(asked().messages.length, 1),
  },
  { name: 'the singular path of older clients', method: 'DELETE', path: () => `${CHAT}/session/${sessionId}` },
  {
    name: 'history of an unknown session',
    path: `${CHAT}/sessions/unknown/history`,
    json: (body) => assert.deepEqual(body, { messages: [] }),
  },
  {
    name: '33: delete all',
    method: 'DELETE',
    path: `${CHAT}/sessions`,
    json: (body) => assert.ok(body.count >= 1 && typeof body.message === 'string'),
  },
  { name: '33: and none is left', method: 'DELETE', path: `${CHAT}/sessions`, json: (body) => assert.equal(body.count, 0) },
  {
    name: '33: other projects keep theirs',
    path: () => `/v1/projects/ns/q/chat/sessions/${sessionId}/history`,
    json: (body) => assert.equal(body.messages.length, 2),
  },
];

async function openRuntime(): Promise<Runtime> {
  const store = await openStore(dataDir);
  const projects = new Projects({ dataDir });
  const providers = { compat_api: provider, local_runner: provider, local_accel: provider, universal: provider };
  const chat = new Chat({ projects, providers, providerOf, store });
  const close = async (): Promise<void> => {
    await chat.close();
    await store.close();
  };
  return { dataDir, projects, chat, close } as Runtime;
}

scenarios('chat of the core API', { endpoints: chatEndpoints, context: openRuntime, close: (runtime) => runtime.close() }, table);

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

process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
