import assert from 'node:assert/strict';
import { compatStage } from '../support/compat-stage.js';
import { HubServer } from '../support/hub-server.js';
import { PUPPET_SCRIPTS } from '../support/models/puppet-scripts.js';
import { type Scenario, scenarios } from '../support/scenario.js';

const hub = await HubServer.start();
hub.put('org/gguf', { 'model-Q4_K_M.gguf': Buffer.alloc(200_000, 1) });
const stage = compatStage(hub);

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Answer = any;

const post = (name: string, path: string, body: unknown, rest: Omit<Scenario, 'name' | 'path' | 'body'> = {}): Scenario => ({
  name,
  method: 'POST',
  path,
  body,
  ...rest,
});
const user = (content: string) => [{ role: 'user', content }];
const chat = (name: string, content: string, more: object, rest: Omit<Scenario, 'name' | 'path' | 'body'> = {}): Scenario =>
  post(name, '/api/chat', { model: 'puppet', stream: false, messages: user(content), ...more }, rest);
const textOf = (lines: Answer[]): string => lines.map((one) => one.message?.content ?? one.response ?? '').join('');
const TOOL = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
let puppet: Answer;
const LONG = 'dog '.repeat(20_000);
const HELLO = PUPPET_SCRIPTS.hello.answer;

function assertTimes(end: Answer): void {
  for (const name of ['total_duration', 'load_duration', 'prompt_eval_duration', 'eval_duration'])
    assert.ok(Number.isInteger(end[name]) && end[name] >= 0, `${name} is ${end[name]}`);
  assert.ok(end.prompt_eval_count > 0 && end.eval_count > 0);
  assert.ok(end.total_duration >= end.eval_duration);
}

const ANSWERS: Scenario[] = [
  { name: 'tells that it runs', path: '/', contains: ['Ollama is running'], answerHeaders: { 'content-type': /^text\/plain/ } },
  { name: 'has a version', path: '/api/version', json: (body) => assert.deepEqual(Object.keys(body), ['version']) },
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
];

let context: number[] = [];
const ASKED = '<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n';

/** Prompts of which a template knows less than usual. */
const PROMPTS: Scenario[] = [
  post(
    'tells the context of an answer',
    '/api/generate',
    { model: 'puppet', prompt: 'weather', stream: false },
    {
      json: (body) => {
        context = body.context;
        assert.ok(context.length > 10 && context.every(Number.isInteger));
      },
    },
  ),
  {
    name: 'whose tokens stand before the next prompt',
    method: 'POST',
    path: '/api/generate',
    body: () => ({ model: 'puppet', prompt: 'hello', context, stream: false }),
    json: (body) => {
      assert.equal(body.response, HELLO);
      assert.deepEqual(body.context.slice(0, context.length), context);
      assert.ok(body.prompt_eval_count > context.length);
    },
  },
  post(
    'sends a raw prompt as it is',
    '/api/generate',
    { model: 'puppet', raw: true, prompt: ASKED, stream: false },
    {
      json: (body) => assert.deepEqual([body.response, body.context], [HELLO, undefined]),
    },
  ),
  post(
    'writes the prompt by a template of the request',
    '/api/generate',
    {
      model: 'puppet',
      prompt: 'hello',
      stream: false,
      template: '<|im_start|>user\n{{ .Prompt }}<|im_end|>\n<|im_start|>assistant\n{{ .Response }}<|im_end|>\n',
    },
    { json: (body) => assert.equal(body.response, HELLO) },
  ),
  post(
    'has no gap to fill',
    '/api/generate',
    { model: 'puppet', prompt: 'a', suffix: 'b' },
    { status: 400, contains: ['{"error":"This model does not support insert'] },
  ),
];

const CHATML =
  '{{- if .System }}<|im_start|>system\n{{ .System }}<|im_end|>\n{{ end }}{{ if .Prompt }}<|im_start|>user\n{{ .Prompt }}<|im_end|>\n{{ end }}<|im_start|>assistant\n{{ .Response }}<|im_end|>\n';
const LLAMA3 = '{{- range .Messages }}<|{{ .Role }}|>\n{{ .Content }}<|end|>\n{{- end }}<|assistant|>\n';
const WITH_LAST = [
  '{{- if .System }}<<{{ .System }}>>{{ end }}',
  '{{- range .Tools }}tool {{ json .Function }}{{ end }}',
  '{{- range $i, $_ := .Messages }}',
  '{{- $last := eq (len (slice $.Messages $i)) 1 -}}',
  '{{- if eq .Role "user" }}[{{ .Content }}]',
  '{{- else if eq .Role "assistant" }}{{ if .Content }}({{ .Content }}){{ end }}',
  '{{- range .ToolCalls }}call {{ .Function.Name }} {{ .Function.Arguments }}{{ end }}',
  '{{- else if or (eq .Role "tool") (eq .Role "other") }}result {{ .Content }}{{ end }}',
  '{{- if and $last (ne .Role "assistant") }}=>{{ end }}',
  '{{- end }}',
].join('\n');
const TALK = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'one' },
  { role: 'assistant', content: 'two' },
  { role: 'user', content: 'three' },
];
/** What templates in Go's language, as Ollama has them, make of a conversation. */
const TEMPLATES: [name: string, template: string, messages: object[], text: string][] = [
  [
    'by rounds',
    CHATML,
    TALK,
    '<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\none<|im_end|>\n<|im_start|>assistant\ntwo<|im_end|>\n<|im_start|>user\nthree<|im_end|>\n<|im_start|>assistant\n',
  ],
  ['by messages', LLAMA3, TALK.slice(1), '<|user|>\none<|end|><|assistant|>\ntwo<|end|><|user|>\nthree<|end|><|assistant|>\n'],
  [
    'that ask for the last message',
    WITH_LAST,
    [
      ...TALK,
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"x":1}' } }] },
      { role: 'tool', content: '5', tool_call_id: 'a' },
    ],
    '<<Be brief.>>[one](two)[three]call f {"x": 1}result 5=>',
  ],
];

const MODELS: Scenario[] = [
  ...TEMPLATES.flatMap(([name, template, messages, text], index) => [
    post(`takes a template of Ollama's ${name}`, '/api/create', { model: `templated:${index}`, from: 'puppet', template, stream: false }),
    post(
      `which writes as it does ${name}`,
      '/apply-template',
      { model: `templated:${index}`, messages },
      { json: ({ prompt }) => assert.equal(prompt, text) },
    ),
    post(
      `and is shown as it was given ${name}`,
      '/api/show',
      { model: `templated:${index}` },
      { json: (body) => assert.equal(body.template, template) },
    ),
  ]),
  {
    name: 'lists the models that can be named',
    path: '/api/tags',
    json: ({ models }) => {
      const names = models.map((one: Answer) => one.name);
      for (const name of ['puppet:latest', 'quern-tiny:latest', 'tiny/embedder:latest'])
        assert.ok(names.includes(name), `${name} of ${names}`);
      assert.deepEqual(
        names.filter((name: string) => /rank|nli|ner\b/.test(name)),
        [],
        'models that neither write nor give vectors',
      );
      for (const one of models) assert.match(one.digest, /^[0-9a-f]{64}$/);
      const { digest, details } = models.find((one: Answer) => one.name === 'puppet:latest');
      assert.equal(digest, puppet.digest, 'its digest is that of the model in memory');
      assert.ok(details.family !== '' && puppet.details.family === details.family);
      assert.match(details.parameter_size, /^[\d.]+M$/);
    },
  },
  post(
    'tells what a model is',
    '/api/show',
    { model: 'puppet' },
    {
      json: (body) => {
        assert.deepEqual(body.capabilities, ['completion', 'tools', 'thinking']);
        const { 'general.architecture': family } = body.model_info;
        assert.equal(body.model_info[`${family}.context_length`], 8192);
        assert.equal(body.details.family, family);
        assert.match(body.details.parameter_size, /^[\d.]+M$/);
        assert.match(body.modelfile, /^FROM puppet\n/);
      },
    },
  ),
  post(
    'tells that a model embeds',
    '/api/show',
    { name: 'tiny/embedder' },
    { json: (body) => assert.deepEqual(body.capabilities, ['embedding']) },
  ),
  post(
    'makes a model by a Modelfile',
    '/api/create',
    {
      name: 'stopper',
      modelfile:
        'FROM puppet\n# a remark\nSYSTEM """You are\nbrief."""\nPARAMETER stop STOPPED\nPARAMETER num_ctx 1024\nparameter temperature 0\nLICENSE "free"\n',
    },
    { json: (lines) => assert.equal(lines.at(-1).status, 'success') },
  ),
  post(
    'which is shown as it was made',
    '/api/show',
    { model: 'stopper' },
    {
      json: (body) => {
        assert.equal(body.system, 'You are\nbrief.');
        assert.match(body.parameters, /stop +"STOPPED"\nnum_ctx +1024\ntemperature +0/);
        assert.match(body.modelfile, /FROM puppet\nSYSTEM """You are\nbrief\."""\nPARAMETER stop "STOPPED"\n/);
        assert.deepEqual([body.license, body.details.parent_model], ['free', 'puppet']);
      },
    },
  ),
  post(
    'and answers with its settings',
    '/api/chat',
    { model: 'stopper', stream: false, messages: user('stops') },
    {
      json: (body) => assert.deepEqual([body.model, body.message.content], ['stopper', 'alpha beta ']),
    },
  ),
  post(
    'also where another API names it',
    '/v1/chat/completions',
    { model: 'stopper:latest', messages: user('stops') },
    {
      json: (body) => {
        assert.equal(body.choices[0].message.content, 'alpha beta ');
        assert.equal(body.x_context_usage.total_context, 1024);
      },
    },
  ),
  post(
    'whose settings a request changes',
    '/api/chat',
    { model: 'stopper', stream: false, messages: user('stops'), options: { stop: ['END'] } },
    {
      json: (body) => assert.equal(body.message.content, 'alpha beta STOPPED gamma delta '),
    },
  ),
  post(
    'makes a model of members',
    '/api/create',
    {
      model: 'greeter',
      from: 'stopper',
      stream: false,
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
      ],
      parameters: { num_predict: 3 },
    },
    { json: (body) => assert.deepEqual(body, { status: 'success' }) },
  ),
  post(
    'that has what it is made of',
    '/api/show',
    { model: 'greeter' },
    {
      json: (body) => {
        assert.match(body.modelfile, /^FROM puppet\n/);
        assert.match(body.parameters, /num_predict +3/);
        assert.match(body.parameters, /num_ctx +1024/);
        assert.equal(body.messages.length, 2);
      },
    },
  ),
  post('gives a model a second name', '/api/copy', { source: 'greeter', destination: 'other/greeter:v2' }),
  post('of one that was not made here too', '/api/copy', { source: 'puppet', destination: 'doll' }),
  {
    name: 'lists them all',
    path: '/api/tags',
    contains: ['"stopper:latest"', '"greeter:latest"', '"other/greeter:v2"', '"doll:latest"', '"parent_model":"puppet"'],
  },
  { name: 'deletes a model that was made', method: 'DELETE', path: '/api/delete', body: { model: 'greeter' } },
  { name: 'and no other', path: '/api/tags', contains: ['"other/greeter:v2"'], lacks: ['"greeter:latest"'] },
  post(
    'pulls a model with its progress',
    '/api/pull',
    { model: 'hf.co/org/gguf:Q4_K_M' },
    {
      json: (lines) => {
        const told = lines.map((one: Answer) => one.status);
        assert.equal(told[0], 'pulling manifest');
        assert.equal(told.at(-1), 'success');
        const last = lines.findLast((one: Answer) => one.total);
        assert.deepEqual([last.completed, last.total], [200_000, 200_000]);
      },
    },
  ),
  post(
    'pulls what is there already',
    '/api/pull',
    { model: 'quern-tiny', stream: false },
    { json: (body) => assert.deepEqual(body, { status: 'success' }) },
  ),
  { name: 'deletes a model of the cache', method: 'DELETE', path: '/api/delete', body: { model: 'org/gguf' } },
];

const inOllamasShape = (body: Answer): void => {
  assert.deepEqual(Object.keys(body), ['error']);
  assert.equal(typeof body.error, 'string');
};
const refused = (name: string, path: string, body: unknown, status: number, text: string, method = 'POST'): Scenario => ({
  name,
  method,
  path,
  body,
  status,
  contains: [text],
  json: inOllamasShape,
});

const REFUSED: Scenario[] = [
  refused(
    'refuses an unknown model in its words',
    '/api/chat',
    { model: 'llama3.2', messages: user('a') },
    404,
    "model 'llama3.2' not found: it is not on this machine",
  ),
  refused('also of a prompt', '/api/generate', { model: 'llama3.2:latest', prompt: 'a' }, 404, "model 'llama3.2:latest' not found"),
  refused('also of vectors', '/api/embed', { model: 'org/none', input: 'a' }, 404, "model 'org/none' not found"),
  refused('also of what is shown', '/api/show', { model: 'none' }, 404, "model 'none' not found"),
  refused('also of what is copied', '/api/copy', { source: 'none', destination: 'b' }, 404, "model 'none' not found"),
  refused('also of what is deleted', '/api/delete', { model: 'org/none' }, 404, 'not', 'DELETE'),
  refused('a model is named', '/api/show', {}, 400, 'model is missing'),
  refused('a role that is none', '/api/chat', { model: 'puppet', messages: [{ role: 'robot', content: 'a' }] }, 400, 'messages'),
  refused('a wrong type', '/api/chat', { model: 'puppet', messages: 'hello' }, 400, 'messages'),
  refused(
    'options of a wrong type',
    '/api/chat',
    { model: 'puppet', messages: user('a'), options: { temperature: 'hot' } },
    400,
    'temperature',
  ),
  refused(
    'a sampler that is not there',
    '/api/chat',
    { model: 'puppet', messages: user('a'), options: { mirostat: 2 } },
    400,
    'options.mirostat is 2',
  ),
  refused(
    'a duration of an embedder that is none',
    '/api/embed',
    { model: 'tiny/embedder', input: 'a', keep_alive: 'soon' },
    400,
    'keep_alive',
  ),
  refused('a duration that is none', '/api/chat', { model: 'puppet', messages: user('a'), keep_alive: 'soon' }, 400, 'keep_alive'),
  refused('a format that is none', '/api/chat', { model: 'puppet', messages: user('a'), format: 'xml' }, 400, 'format'),
  refused('deep JSON', '/api/chat', `{"model":"puppet","messages":${'['.repeat(70)}${']'.repeat(70)}}`, 400, 'deep'),
  refused('broken JSON', '/api/chat', '{"model":', 400, 'JSON'),
  refused('17 MB', '/api/chat', { model: 'puppet', messages: user('a'.repeat(17 * 2 ** 20)) }, 413, 'bytes'),
  refused('no push', '/api/push', { model: 'puppet' }, 405, 'Models are not pushed from here'),
  refused(
    'an unknown instruction by its name',
    '/api/create',
    { name: 'a', modelfile: 'FROM puppet\nFLAVOUR sweet' },
    400,
    'line 2: unknown instruction',
  ),
  refused(
    'more instructions than anybody writes',
    '/api/create',
    { name: 'a', modelfile: `FROM puppet\n${'MESSAGE user x\n'.repeat(3_000)}` },
    400,
    'more than 2000',
  ),
  refused('a text without an end', '/api/create', { name: 'a', modelfile: 'FROM puppet\nSYSTEM """a' }, 400, 'never end'),
  refused('a model of nothing', '/api/create', { name: 'a', modelfile: 'SYSTEM a' }, 400, '\\"from\\" is missing'),
  refused('a model of what is not there', '/api/create', { name: 'a', from: 'none' }, 404, "model 'none' not found"),
  refused('a name that is none', '/api/create', { name: '../a', from: 'puppet' }, 400, 'cannot be the name of a model'),
  refused(
    'the name of a model of this machine',
    '/api/create',
    { name: 'puppet', from: 'quern-tiny' },
    409,
    'puppet is a model of this machine',
  ),
  refused('an unknown parameter', '/api/create', { name: 'a', modelfile: 'FROM puppet\nPARAMETER foo 3' }, 400, "unknown parameter 'foo'"),
  refused('also as a member', '/api/create', { name: 'a', from: 'puppet', parameters: { foo: 3 } }, 400, "unknown parameter 'foo'"),
  refused('a parameter of a wrong type', '/api/create', { name: 'a', modelfile: 'FROM puppet\nPARAMETER num_ctx many' }, 400, 'num_ctx'),
  refused(
    'an adapter',
    '/api/create',
    { name: 'a', modelfile: 'FROM puppet\nADAPTER ./a.gguf' },
    404,
    'LoRA adapter \\"./a.gguf\\" not found',
  ),
  refused('an adapter of a chat', '/api/chat', { model: 'puppet', messages: user('a'), adapters: ['a.gguf'] }, 400, 'adapters names'),
  refused('of a prompt', '/api/generate', { model: 'puppet', prompt: 'a', options: { lora: 'a.gguf' } }, 400, 'lora names a.gguf'),
  refused('of vectors', '/api/embed', { model: 'tiny/embedder', input: 'a', lora: 'a.gguf' }, 400, 'lora names a.gguf'),
  refused('uploaded weights', '/api/create', { name: 'a', from: 'puppet', files: { 'a.gguf': 'sha256:0' } }, 400, 'uploaded weights'),
  refused(
    'a template with what has no translation',
    '/api/create',
    { name: 'a', from: 'puppet', template: '{{ with .Prompt }}{{ . }}{{ end }}' },
    400,
    'TEMPLATE has {{ with .Prompt }}',
  ),
  refused('a built-in model is not deleted', '/api/delete', { model: 'quern-tiny' }, 409, 'comes with this program', 'DELETE'),
  refused('what is not there', '/api/nothing', {}, 404, '{"error":"Not Found"}'),
  refused('another method', '/api/chat', undefined, 405, '{"error":"Method Not Allowed"}', 'GET'),
  refused('a pull of what no hub has', '/api/pull', { model: 'org/nowhere' }, 404, 'org/nowhere'),
];

scenarios("Ollama's API", stage, [...ANSWERS, ...PROMPTS, ...MODELS, ...REFUSED]);
