import assert from 'node:assert/strict';
import { PUPPET_SCRIPTS } from '../../support/models/puppet-scripts.js';
import { type Answer, assertTimes, chat, HELLO, LONG, post, stage, TOOL, textOf, user } from '../../support/ollama-stage.js';
import type { Scenario } from '../../support/scenario.js';

export let puppet: Answer;

const STORY = { model: 'quern-tiny', options: { temperature: 0, num_predict: 30 }, messages: user('Write a story about a mill.') };
let story = '';
const firstWords = (text: string): string => text.split(' ').slice(0, 6).join(' ');

/** Chats, single prompts and vectors. */
export const ANSWERS: Scenario[] = [
  { name: 'tells that it runs', path: '/', contains: ['Ollama is running'], answerHeaders: { 'content-type': /^text\/plain/ } },
  {
    name: 'has a version that is new enough for its clients, 0.6.4 for those of editors',
    path: '/api/version',
    json: (body) => {
      const [major, minor, patch] = body.version.split('.').map(Number);
      assert.ok(major * 1e6 + minor * 1e3 + patch >= 6_004, body.version);
    },
  },
  ...['/api/chat', '/api/generate'].flatMap((path) =>
    [false, true].map((stream) =>
      post(
        `tells the probabilities of tokens, ${path}, stream ${stream}`,
        path,
        { model: 'puppet', stream, logprobs: true, top_logprobs: 2, prompt: 'hello', messages: user('hello') },
        {
          json: (body) => {
            const told = [body].flat().flatMap((one: Answer) => one.logprobs ?? []);
            assert.equal(told.map((one: Answer) => one.token).join(''), HELLO);
            assert.ok(told.every((one: Answer) => one.logprob <= 0 && one.bytes.length > 0 && one.top_logprobs.length === 2));
          },
        },
      ),
    ),
  ),
  chat(
    'answers a chat',
    'hello',
    {},
    {
      json: (body) => {
        assert.deepEqual(body.message, { role: 'assistant', content: HELLO });
        assert.deepEqual([body.done, body.done_reason, body.model], [true, 'stop', 'puppet']);
        assertTimes(body);
      },
    },
  ),
  chat(
    'streams unless it is told otherwise',
    'hello',
    { stream: undefined, model: 'puppet:latest' },
    {
      answerHeaders: { 'content-type': 'application/x-ndjson' },
      json: (lines) => {
        assert.equal(textOf(lines), HELLO);
        assert.ok(lines.length > 1);
        assert.ok(lines.slice(0, -1).every((one: Answer) => one.done === false));
        assert.equal(lines.at(-1).done_reason, 'stop');
        assertTimes(lines.at(-1));
      },
    },
  ),
  chat(
    'takes a body of no content type, as curl sends it',
    '',
    {},
    {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      contains: ['"done":true'],
    },
  ),
  chat(
    'takes none of those from a web page',
    '',
    {},
    {
      headers: { 'content-type': 'text/plain', origin: 'http://localhost:3000' },
      status: 415,
      contains: ['{"error":"The body must be JSON.'],
    },
  ),
  chat(
    'cuts at num_predict',
    'count',
    { options: { num_predict: 5 } },
    {
      json: (body) => assert.deepEqual([body.done_reason, body.eval_count], ['length', 5]),
    },
  ),
  chat(
    'answers to the end without num_predict',
    'count',
    { options: { num_predict: -2, numa: true, whatever: 1 } },
    {
      json: (body) => assert.equal(body.message.content, PUPPET_SCRIPTS.long.answer),
    },
  ),
  chat(
    'stops at a text',
    'stops',
    { options: { stop: ['STOPPED'] } },
    { json: (body) => assert.equal(body.message.content, 'alpha beta ') },
  ),
  chat(
    'tells what was thought',
    'ponder',
    { think: true },
    {
      json: (body) => {
        assert.match(body.message.thinking, /Two and two make four/);
        assert.equal(body.message.content, PUPPET_SCRIPTS.think.answer);
      },
    },
  ),
  chat(
    'tells what was thought as it comes',
    'ponder',
    { think: 'high', stream: true },
    {
      json: (lines) => {
        assert.match(lines.map((one: Answer) => one.message.thinking ?? '').join(''), /Two and two make four/);
        assert.equal(textOf(lines), PUPPET_SCRIPTS.think.answer);
      },
    },
  ),
  ...[false, true].map((stream) =>
    chat(
      `calls tools with arguments that are objects, stream ${stream}`,
      'weather',
      { tools: [TOOL], stream },
      {
        json: (body) => {
          const calls = [body].flat().flatMap((one: Answer) => one.message.tool_calls ?? []);
          assert.deepEqual(calls, [{ function: { name: 'get_weather', arguments: { city: 'Paris' } } }]);
        },
      },
    ),
  ),
  post(
    'reads the result of a tool',
    '/api/chat',
    {
      model: 'puppet',
      stream: false,
      tools: [TOOL],
      messages: [
        ...user('weather'),
        { role: 'assistant', content: '', tool_calls: [{ function: { name: 'get_weather', arguments: { city: 'Paris' } } }] },
        { role: 'tool', tool_name: 'get_weather', content: '21 degrees' },
      ],
    },
    { contains: ['It is sunny in Paris today'] },
  ),
  chat(
    'holds an answer to JSON',
    'json',
    { format: 'json' },
    { json: (body) => assert.equal(JSON.parse(body.message.content).name, 'Ada') },
  ),
  chat(
    'holds an answer to a schema',
    'hello',
    { format: { enum: ['yes', 'no'] } },
    {
      json: (body) => assert.match(body.message.content, /^"(yes|no)"$/),
    },
  ),
  chat(
    'refuses an image that the model cannot see',
    'hello',
    { messages: [{ role: 'user', content: 'hello', images: ['iVBORw0KGgo='] }] },
    {
      status: 400,
      contains: ['{"error":"The message has a part of type image_url'],
    },
  ),
  post(
    'answers one prompt',
    '/api/generate',
    { model: 'puppet', prompt: 'hello', stream: false },
    {
      json: (body) => {
        assert.equal(body.response, HELLO);
        assertTimes(body);
      },
    },
  ),
  post(
    'streams an answer to one prompt',
    '/api/generate',
    { model: 'puppet', prompt: 'hello', system: 'Be brief.' },
    {
      json: (lines) => assert.equal(textOf(lines), HELLO),
    },
  ),
  post(
    'loads a model that is asked nothing',
    '/api/generate',
    { model: 'puppet', keep_alive: '10m' },
    {
      json: (body) => assert.deepEqual([body.response, body.done, body.done_reason], ['', true, 'load']),
    },
  ),
  {
    name: 'lists what is in memory, with the time until which it stays',
    path: '/api/ps',
    json: ({ models }) => {
      const [one] = models;
      assert.equal(one.name, 'puppet:latest');
      puppet = one;
      const minutes = (Date.parse(one.expires_at) - Date.now()) / 60_000;
      assert.ok(minutes > 9 && minutes <= 10, `${minutes}`);
      assert.ok(one.context_length > 0);
    },
  },
  chat(
    'keeps a model for ever',
    'hello',
    { keep_alive: -1 },
    {
      json: async () => assert.equal(stage.endpoints.length > 0, true),
    },
  ),
  chat('holds it twice where settings differ', 'hello', { keep_alive: -1, options: { num_ctx: 512 } }),
  post('loads a model a second time, for vectors', '/api/embed', { model: 'puppet', input: 'hello' }, {}),
  {
    name: 'lists it once, with the memory of all three (two chats had other settings) and the longest time',
    path: '/api/ps',
    json: ({ models: [one, ...others] }) => {
      assert.deepEqual([one.name, one.size, others], ['puppet:latest', 3 * puppet.size, []]);
      assert.ok(one.expires_at.startsWith('2318') && one.context_length > 0);
    },
  },
  { name: 'says so in a far year', path: '/api/ps', contains: ['"expires_at":"2318'] },
  post(
    'unloads a model at once',
    '/api/chat',
    { model: 'puppet', messages: [], keep_alive: 0 },
    {
      json: (body) => assert.equal(body.done_reason, 'unload'),
    },
  ),
  { name: 'which is gone then, with all its settings', path: '/api/ps', json: ({ models }) => assert.deepEqual(models, []) },
  post(
    'refuses to unload what is not there',
    '/api/generate',
    { model: 'none', keep_alive: 0 },
    { status: 404, contains: ["'none' not found"] },
  ),
  post(
    'turns texts into vectors',
    '/api/embed',
    { model: 'tiny/embedder', input: ['a dog', 'a cat'] },
    {
      json: (body) => {
        assert.deepEqual([body.embeddings.length, body.embeddings[0].length], [2, 64]);
        assert.ok(body.total_duration > 0 && body.prompt_eval_count > 0);
      },
    },
  ),
  post('keeps an embedder as long as it is told', '/api/embed', { model: 'tiny/embedder', input: 'a', keep_alive: '10m' }),
  {
    name: 'and says so',
    path: '/api/ps',
    json: ({ models }) => {
      const minutes = (Date.parse(models[0].expires_at) - Date.now()) / 60_000;
      assert.ok(minutes > 9 && minutes <= 10, `${minutes}`);
    },
  },
  post('of one text too', '/api/embeddings', { model: 'tiny/embedder', prompt: 'a', keep_alive: -1 }),
  { name: 'for ever', path: '/api/ps', contains: ['"expires_at":"2318'] },
  post('unloads it behind an answer', '/api/embed', { model: 'tiny/embedder', input: 'a', keep_alive: 0 }),
  { name: 'at once', path: '/api/ps', json: ({ models }) => assert.deepEqual(models, []) },
  post('loads it again', '/api/embed', { model: 'tiny/embedder', input: 'a', keep_alive: -1 }),
  post('and unloads it when it is asked nothing', '/api/embed', { model: 'tiny/embedder', input: [], keep_alive: 0 }),
  { name: 'then it is gone', path: '/api/ps', json: ({ models }) => assert.deepEqual(models, []) },
  post('cuts a text that is too long', '/api/embed', { model: 'tiny/embedder', input: ['a', LONG] }),
  ...['tiny/embedder', 'tiny/gguf'].map((model) =>
    post(
      `or refuses it in its words, by ${model}`,
      '/api/embed',
      { model, input: ['a', LONG], truncate: false },
      { status: 400, contains: ['{"error":"the input length exceeds the context length'] },
    ),
  ),
  post('and takes what fits', '/api/embed', { model: 'tiny/embedder', input: 'a dog', truncate: false }),
  post(
    'turns one text into a vector',
    '/api/embeddings',
    { model: 'tiny/embedder', prompt: 'a dog' },
    {
      json: (body) => assert.equal(body.embedding.length, 64),
    },
  ),
  chat(
    'tells a story',
    '',
    { ...STORY, options: { temperature: 0, num_predict: 60 } },
    {
      json: (body) => {
        story = body.message.content;
      },
    },
  ),
  ...[false, true].map(
    (stream): Scenario => ({
      ...post('goes on in a last message of the assistant, and tells what is new', '/api/chat', undefined, {
        json: (body) => {
          const said = textOf([body].flat());
          assert.ok(said.length > 20 && story.startsWith(firstWords(story) + said), said);
        },
      }),
      body: () => ({ ...STORY, stream, think: true, messages: [...STORY.messages, { role: 'assistant', content: firstWords(story) }] }),
    }),
  ),
  chat(
    'begins in one that is empty',
    '',
    { ...STORY, messages: [...STORY.messages, { role: 'assistant', content: '' }] },
    {
      json: (body) => assert.ok(body.message.content.length > 20 && story.startsWith(body.message.content)),
    },
  ),
  post('makes room again', '/api/chat', { model: 'quern-tiny', messages: [], keep_alive: 0 }),
];
