import assert from 'node:assert/strict';
import { APOLOGY } from '../../../runtime/chat/turn.js';
import type { CompletionPart } from '../../../runtime/completions/contract.js';
import { Failure } from '../../../schemas/errors.js';
import { after, asked, CHAT, echo, errorOf, invalid, POST, structured, text, unstructured, user } from '../../support/chat-stage.js';
import type { Scenario } from '../../support/scenario.js';
import { FINISH } from '../../unit/runtime/chat/scripted-provider.js';

/** What a request may hold, and what is refused. */
export const REQUESTS: Scenario[] = [
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
];
