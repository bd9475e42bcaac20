import assert from 'node:assert/strict';
import { type Answer, post, user } from '../../support/ollama-stage.js';
import type { Scenario } from '../../support/scenario.js';
import { puppet } from './answers.js';

let builtIn: Answer;

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

/** Templates, and the list, the making, the copying and the pulling of models. */
export const MODELS: Scenario[] = [
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
      for (const { name, details: of } of models) if (of.format === 'gguf') assert.notEqual(of.quantization_level, '', name);
      builtIn = models.find((one: Answer) => one.name === 'quern-tiny:latest');
      assert.equal(builtIn.details.quantization_level, 'Q8_0');
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
    'tells of a model what the list does',
    '/api/show',
    { model: 'quern-tiny' },
    { json: ({ details }) => assert.deepEqual(details, builtIn.details) },
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
