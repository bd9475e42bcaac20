import assert from 'node:assert/strict';
import { compatStage } from '../support/compat-stage.js';
import { PUPPET_SCRIPTS } from '../support/models/puppet-scripts.js';
import { type Scenario, scenarios } from '../support/scenario.js';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Answer = any;
type Rest = Omit<Scenario, 'name' | 'path' | 'body'>;

const post =
  (path: string) =>
  (name: string, more: object, rest: Rest = {}): Scenario => ({
    name,
    method: 'POST',
    path,
    body: { model: 'puppet', ...more },
    ...rest,
  });
const complete = post('/v1/completions');
const tokenize = post('/tokenize');
const template = post('/apply-template');

/** A conversation as the puppet's template writes it, so that it answers as in a chat. */
const asked = (content: string): string => `<|im_start|>user\n${content}<|im_end|>\n<|im_start|>assistant\n`;
const HELLO = PUPPET_SCRIPTS.hello.answer;
let tokens: number[] = [];

const ANSWERS: Scenario[] = [
  complete(
    'goes on with a text',
    { prompt: asked('hello'), max_tokens: 100 },
    {
      json: (body) => {
        assert.match(body.id, /^cmpl-[0-9a-f]{32}$/);
        assert.deepEqual([body.object, body.model], ['text_completion', 'puppet']);
        assert.deepEqual(body.choices, [{ text: HELLO, index: 0, logprobs: null, finish_reason: 'stop' }]);
        const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = body.usage;
        assert.ok(prompt > 0 && completion > 0 && prompt + completion === total);
      },
    },
  ),
  complete(
    'writes 16 tokens unless it is told more',
    { prompt: asked('count') },
    {
      json: (body) => assert.deepEqual([body.usage.completion_tokens, body.choices[0].finish_reason], [16, 'length']),
    },
  ),
  complete(
    'streams',
    { prompt: asked('hello'), max_tokens: 100, stream: true, stream_options: { include_usage: true } },
    {
      json: (_body, answer) => {
        const frames: Answer[] = answer.events.slice(0, -1).map((event) => JSON.parse(event));
        assert.equal(answer.events.at(-1), '[DONE]');
        assert.equal(
          frames
            .flatMap(({ choices }) => choices)
            .map(({ text }) => text)
            .join(''),
          HELLO,
        );
        assert.equal(frames.at(-2).choices[0].finish_reason, 'stop');
        assert.ok(frames.at(-1).usage.total_tokens > 0);
      },
    },
  ),
  complete(
    'answers each text of a list, with several choices',
    { prompt: [asked('hello'), asked('stops')], n: 2, max_tokens: 100, stop: ['STOPPED'] },
    {
      json: ({ choices }) => {
        assert.deepEqual(
          choices.map(({ text }: Answer) => text),
          [HELLO, HELLO, 'alpha beta ', 'alpha beta '],
        );
        assert.deepEqual(
          choices.map(({ index }: Answer) => index),
          [0, 1, 2, 3],
        );
      },
    },
  ),
  complete(
    'streams each text of a list',
    { prompt: [asked('hello'), asked('stops')], max_tokens: 100, stream: true, echo: true },
    {
      json: (_body, answer) => {
        const choices = answer.events.slice(0, -1).map((event) => JSON.parse(event).choices[0]);
        const textOf = (index: number) =>
          choices
            .filter((one) => one.index === index)
            .map(({ text }) => text)
            .join('');
        assert.deepEqual([textOf(0), textOf(1)], [asked('hello') + HELLO, asked('stops') + PUPPET_SCRIPTS.stops.answer]);
      },
    },
  ),
  complete(
    'tells logprobs as this API has them',
    { prompt: asked('hello'), max_tokens: 3, logprobs: 2 },
    {
      json: ({ choices: [choice] }) => {
        const { tokens: told, token_logprobs: values, top_logprobs: top, text_offset: offsets } = choice.logprobs;
        assert.deepEqual([told.length, values.length, top.length, offsets.length], [3, 3, 3, 3]);
        assert.equal(told.join(''), choice.text);
        assert.deepEqual(offsets, [0, told[0].length, told[0].length + told[1].length]);
        assert.equal(Object.keys(top[0]).length, 2);
      },
    },
  ),
  complete(
    'puts the prompt before the answer',
    { prompt: asked('hello'), max_tokens: 100, echo: true },
    {
      json: ({ choices: [choice] }) => assert.equal(choice.text, asked('hello') + HELLO),
    },
  ),
  complete(
    'or answers nothing but that',
    { prompt: asked('hello'), max_tokens: 0, echo: true },
    {
      json: ({ choices: [choice], usage }) => {
        assert.deepEqual([choice.text, choice.finish_reason, usage.completion_tokens], [asked('hello'), 'length', 0]);
      },
    },
  ),
  complete(
    'holds an answer to a grammar',
    { prompt: asked('hello'), extra_body: { guided_choice: ['left', 'right'] } },
    {
      json: ({ choices: [choice] }) => assert.match(choice.text, /^(left|right)$/),
    },
  ),
  tokenize(
    'tells tokens',
    { content: asked('hello') },
    {
      json: (body) => {
        tokens = body.tokens;
        assert.equal(body.count, tokens.length);
        assert.equal(body.max_model_len, 8192);
      },
    },
  ),
  {
    name: 'goes on with tokens',
    method: 'POST',
    path: '/v1/completions',
    body: () => ({ model: 'puppet', prompt: tokens, max_tokens: 100, echo: true }),
    contains: [HELLO],
    json: ({ choices: [choice] }) => assert.equal(choice.text, asked('hello') + HELLO),
  },
  {
    name: 'turns tokens back into text',
    method: 'POST',
    path: '/detokenize',
    body: () => ({ tokens }),
    json: (body) => assert.deepEqual(body, { content: asked('hello'), prompt: asked('hello') }),
  },
  complete('has a model in memory twice, with other settings', { prompt: asked('hello'), max_tokens: 1, extra_body: { n_ctx: 512 } }),
  {
    name: 'which is one model to those who name none',
    method: 'POST',
    path: '/tokenize',
    body: () => ({ content: asked('hello') }),
    json: (body) => assert.deepEqual(body.tokens, tokens),
  },
  tokenize(
    'takes control texts for text where it is told so',
    { content: '<|im_end|>', parse_special: false },
    { json: (body) => assert.ok(body.count > 1) },
  ),
  tokenize(
    'takes them for tokens else',
    { prompt: '<|im_end|>', with_pieces: true },
    {
      json: (body) =>
        assert.deepEqual(
          body.tokens.map(({ piece }: Answer) => piece),
          ['<|im_end|>'],
        ),
    },
  ),
  tokenize(
    'tells the tokens of a conversation',
    { messages: [{ role: 'user', content: 'hello' }] },
    {
      json: (body) => assert.ok(body.count >= tokens.length),
    },
  ),
  template(
    'writes a conversation by the template',
    { messages: [{ role: 'user', content: 'hello' }] },
    {
      json: (body) => assert.ok(body.prompt.startsWith(asked('hello')), body.prompt),
    },
  ),
  template(
    'writes it by another template',
    { messages: [{ role: 'user', content: 'hello' }], chat_template: '{% for m in messages %}[{{ m.content }}]{% endfor %}' },
    {
      json: (body) => assert.deepEqual(body, { prompt: '[hello]' }),
    },
  ),
];

const refused = (name: string, more: object, text: string, status = 400, path = '/v1/completions'): Scenario => ({
  ...post(path)(name, more),
  status,
  contains: [text],
  json: ({ error }) => assert.deepEqual([typeof error.message, typeof error.type], ['string', 'string']),
});

const MODELS: Scenario[] = [
  {
    name: 'tells of a model on this machine',
    path: '/v1/models/puppet',
    json: (body) => assert.deepEqual([body.id, body.object], ['puppet', 'model']),
  },
  { name: 'of one that embeds too', path: '/v1/models/tiny/embedder', json: (body) => assert.equal(body.id, 'tiny/embedder') },
  {
    name: 'of none that is not there',
    path: '/v1/models/org/none',
    status: 404,
    contains: ['The model `org/none` does not exist', 'model_not_found'],
  },
];

const REFUSED: Scenario[] = [
  {
    ...refused('an unknown model in its words', { model: 'gpt-none', prompt: 'a' }, 'The model `gpt-none` does not exist', 404),
    json: ({ error }) => assert.deepEqual([error.code, error.param, error.type], ['model_not_found', 'model', 'invalid_request_error']),
  },
  refused('no prompt', { prompt: [] }, 'prompt is an empty list'),
  refused('a prompt of nothing', { prompt: '' }, 'The prompt is empty'),
  refused('too many answers', { prompt: Array(33).fill('a'), n: 2 }, 'more than 64'),
  refused('best_of', { prompt: 'a', best_of: 3 }, 'best_of is 3'),
  refused('echo with logprobs', { prompt: 'a', echo: true, logprobs: 1 }, 'echo with logprobs'),
  refused('an adapter', { prompt: 'a', extra_body: { lora: [{ id: 0, scale: 1 }] } }, 'path', 422),
  refused('an adapter of tokens', { content: 'a', lora: 'a.gguf' }, 'LoRA adapters', 400, '/tokenize'),
  refused('no tokens', { prompt: 'a', max_tokens: 0 }, 'max_tokens is 0'),
  refused('a gap that the model cannot fill', { prompt: 'a', suffix: 'b' }, 'does not support insert'),
  refused('a wrong type', { prompt: 5 }, 'prompt', 422),
  refused('a token that is none', { prompt: [2_000_000_000] }, 'Token 2000000000 is not in the vocabulary of this model', 422),
  refused('also of text', { tokens: [2_000_000_000] }, 'Token 2000000000', 422, '/detokenize'),
  refused('a prompt that is too long', { prompt: 'word '.repeat(20_000) }, 'context'),
  refused('17 MB', { prompt: 'a'.repeat(17 * 2 ** 20) }, 'bytes', 413),
  refused('nothing to tokenise', {}, 'Nothing to tokenise', 400, '/tokenize'),
  refused('an unknown model of tokens', { model: 'none', content: 'a' }, 'does not exist', 404, '/tokenize'),
  refused(
    'a template that fails',
    { messages: [{ role: 'user', content: 'a' }], chat_template: '{{ nothing() }}' },
    'template',
    422,
    '/apply-template',
  ),
];

/** OpenAI's clients read the object alone, so that without it a path that is not here has no words for them. */
const NOWHERE: Scenario[] = [
  ['POST', '/v1/moderations', 404],
  ['POST', '/chat/completions', 404],
  ['DELETE', '/v1/models/quern-tiny', 405],
].map(([method, path, status]) => ({
  name: `tells OpenAI's clients of ${method} ${path}`,
  method: method as string,
  path: path as string,
  headers: { 'user-agent': 'OpenAI/JS 6.30.1' },
  status: status as number,
  json: ({ error }) => assert.match(error.message, new RegExp(String(path))),
}));

scenarios('texts without a chat', compatStage(), [...ANSWERS, ...MODELS, ...REFUSED, ...NOWHERE]);
