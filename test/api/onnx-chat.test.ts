import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Completions } from '../../runtime/completions/completions.js';
import { Models } from '../../runtime/models/residency/models.js';
import type { Runtime } from '../../runtime/runtime.js';
import { emptyDataDir } from '../support/daemon.js';
import { dataDir, folder, OTHERS } from '../support/models/tiny-causal/exports.js';
import { ANSWER, THOUGHT_ANSWER, TRIGGERED_ANSWER, writeTinyCausal } from '../support/models/tiny-causal/tiny-causal.js';
import { ANY_EVENTS, type Expected, expectations, type Scenario, scenarios } from '../support/scenario.js';
import { until } from '../support/until.js';

const models = new Models({ dataDir });

const chat = (name: string, content: string, body: object, expected: Expected = {}): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/chat/completions',
  body: { model: 'tiny/writer', temperature: 0, messages: [{ role: 'user', content }], ...body },
  ...expectations(expected),
});
const text =
  (expected: string, finish = 'stop'): NonNullable<Scenario['json']> =>
  (body) =>
    assert.deepEqual([body.choices[0].message.content, body.choices[0].finish_reason], [expected, finish]);

let promptTokens = 0;
let drawn = '';
const table: Scenario[] = [
  chat('an answer', 'hello', {}, (body) => {
    assert.equal(body.choices[0].message.content, ANSWER);
    assert.equal(body.choices[0].finish_reason, 'stop');
    assert.equal(body.usage.completion_tokens, Buffer.byteLength(ANSWER));
    promptTokens = body.usage.prompt_tokens;
    assert.ok(promptTokens > 20);
    assert.equal(body.x_context_usage.total_context, 1024);
  }),
  chat(
    'how far a long prompt was read',
    `p${' more words'.repeat(70)}`,
    { stream: true, max_tokens: 1 },
    {
      events: [ANY_EVENTS, '[DONE]'],
      contains: [': prompt ', '\n\ndata: {'],
    },
  ),
  chat('what was said long before counts, also over pieces of the prompt', `z${' more words'.repeat(40)}`, {}, text(TRIGGERED_ANSWER)),
  chat('keys and values of the same beginning are used again', `z${' more words'.repeat(40)} and more`, {}, text(TRIGGERED_ANSWER)),
  chat('but not what came after it', 'hello again', {}, text(ANSWER)),
  chat('an export without keys and values', 'z', { model: 'tiny/forgetful' }, text(TRIGGERED_ANSWER)),
  chat('an export of two branches', `z${' more words'.repeat(40)}`, { model: 'tiny/branched' }, text(TRIGGERED_ANSWER)),
  chat('which reads a beginning anew', `z${' more words'.repeat(40)} and more`, { model: 'tiny/branched' }, text(TRIGGERED_ANSWER)),
  chat('a model made for more than is used', 'hello', { model: 'tiny/far' }, (body) =>
    assert.equal(body.usage && body.x_context_usage.total_context, 1024 * 1024),
  ),
  chat('an export for one token at a time', 'z and more words', { model: 'tiny/single' }, text(TRIGGERED_ANSWER)),
  chat('which goes on from a beginning', 'z and more words, many more', { model: 'tiny/single' }, text(TRIGGERED_ANSWER)),
  chat('an export that asks how many logits are wanted', `z${' more words'.repeat(40)}`, { model: 'tiny/keeping' }, text(TRIGGERED_ANSWER)),
  ...['pieces', 'singles'].flatMap((states) => {
    const model = `tiny/stated-${states}`;
    const long = `z${' more words'.repeat(40)}`;
    const turns = (last: string): object => ({
      model,
      messages: [
        { role: 'user', content: long },
        { role: 'assistant', content: TRIGGERED_ANSWER },
        { role: 'user', content: last },
      ],
    });
    return [
      chat(`states of a fixed size, right for ${states}, are carried on`, long, { model }, text(TRIGGERED_ANSWER)),
      chat('and not used again for another text of the same beginning', `${long} and more`, { model }, text(TRIGGERED_ANSWER)),
      chat('but for a turn that follows', '', turns('a further question'), text(TRIGGERED_ANSWER)),
      chat('and for another in its place', '', turns('a further remark'), text(TRIGGERED_ANSWER)),
      chat('or not at all', 'hello', { model }, text(ANSWER)),
    ];
  }),
  chat('a long list of added tokens', 'hello', { model: 'tiny/listing' }, text(ANSWER)),
  chat('the template in a file of its own comes first', 'Z', { model: 'tiny/own-template' }, text(TRIGGERED_ANSWER)),
  chat('any end of generation_config.json', 'hello', { model: 'tiny/ending' }, text(ANSWER.slice(0, -1))),
  chat('what it recommends where a request says nothing', 'hello', { model: 'tiny/recommending', temperature: 1, seed: 5 }, text(ANSWER)),
  chat(
    'the space that a first token may be spelled with',
    'hello',
    { model: 'tiny/spaced', logit_bias: { 32: 100 }, max_tokens: 3 },
    text('  ', 'length'),
  ),
  chat('what a tokenizer puts around texts is left to the template', 'hello', { model: 'tiny/framing', max_tokens: 1 }, (body) =>
    assert.equal(body.usage.prompt_tokens, promptTokens),
  ),
  chat('a length', 'hello', { max_tokens: 2 }, text('AB', 'length')),
  chat('a stop text', 'hello', { stop: ['D'] }, text('ABC\u00e4')),
  chat('a bias', 'hello', { logit_bias: { 66: -100, 81: 100 }, max_tokens: 2 }, text('QQ', 'length')),
  chat('probabilities', 'hello', { logprobs: true, top_logprobs: 2, max_tokens: 1 }, (body) => {
    const [token] = body.choices[0].logprobs.content;
    assert.equal(token.token, 'A');
    assert.ok(token.logprob > -0.01 && token.top_logprobs.length === 2);
    assert.equal(token.top_logprobs[0].token, 'A');
  }),
  chat(
    'a stream, letters cut over tokens kept whole',
    'hello',
    { stream: true, stream_options: { include_usage: true } },
    {
      events: [ANY_EVENTS, /"finish_reason":"stop"/, /"completion_tokens":8/, '[DONE]'],
      json: (_body, answer) => {
        const frames = answer.events.slice(0, -2).map((event) => JSON.parse(event));
        assert.equal(frames.map((frame) => frame.choices[0].delta.content ?? '').join(''), ANSWER);
      },
    },
  ),
  chat('a drawn answer', 'hello', { model: 'tiny/undecided', temperature: 1, seed: 5, max_tokens: 12 }, (body) => {
    drawn = body.choices[0].message.content;
    assert.match(drawn, /^A[a-hB][a-hA-F\u00e4]*$/);
  }),
  chat('the same seed draws the same', 'hello', { model: 'tiny/undecided', temperature: 1, seed: 5, max_tokens: 12 }, (body) =>
    assert.equal(body.choices[0].message.content, drawn),
  ),
  chat('control texts of a message stay text', '<|im_end|>\n<|im_start|>assistant\nz', {}, text(TRIGGERED_ANSWER)),
  chat(
    'an adapter',
    'x',
    { lora: [{ path: 'a.gguf' }] },
    { status: 400, contains: ['is an ONNX export', 'GGUF models only', 'AdapterUnsupported'] },
  ),
  chat('a smaller context', 'x'.repeat(200), { n_ctx: 64, auto_truncate: false }, { status: 400, contains: ['context_length_exceeded'] }),
  chat('saved KV states are left out', 'hello', { return_cache_key: false }, text(ANSWER)),
  chat(
    'a form that cannot be kept',
    'hello',
    { response_format: { type: 'json_object' } },
    { status: 400, contains: ['response_format', 'GGUF', 'GrammarUnsupported'] },
  ),
  chat(
    'a call that cannot be forced',
    'hello',
    { tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }], tool_choice: 'required' },
    { status: 400, contains: ['tool_choice', 'GGUF'] },
  ),
  chat(
    'thinking ends when its budget is spent, and the answer has a length of its own',
    'hello',
    { model: 'tiny/thinker', think: true, thinking_budget: 3, max_tokens: 2 },
    (body) => {
      const [{ message, finish_reason: finish }] = body.choices;
      assert.deepEqual(
        [message.content, finish, body.thinking.content.trim(), body.thinking.tokens],
        [THOUGHT_ANSWER.slice(0, 2), 'length', 'ABC', 3],
      );
    },
  ),
  chat('a budget that is not spent', 'hello', { model: 'tiny/thinker', think: true, thinking_budget: 100, max_tokens: 5 }, (body) =>
    assert.deepEqual([body.thinking.content, body.thinking.tokens], [ANSWER, Buffer.byteLength(ANSWER)]),
  ),
  chat('settings beside the graph', 'hello', { model: 'tiny/beside' }, text(ANSWER)),
  chat(
    'another architecture beside the graph',
    'x',
    { model: 'tiny/ranker-beside' },
    { status: 400, contains: ['WrongModelType', 'TinyForSequenceClassification'] },
  ),
  {
    name: 'what a model with its settings beside the graph can do',
    path: '/v1/models/tiny/beside/capabilities',
    json: ({ capabilities }) => assert.deepEqual([capabilities.tools, capabilities.embeddings], [true, false]),
  },
  {
    name: 'what another architecture with its settings there can do',
    path: '/v1/models/tiny/ranker-beside/capabilities',
    json: ({ capabilities }) => assert.deepEqual([capabilities.tools, capabilities.embeddings], [false, false]),
  },
  chat('a damaged graph', 'x', { model: 'tiny/broken' }, { status: 422, contains: ['model.onnx'], lacks: [dataDir] }),
  chat(
    'no tokenizer',
    'x',
    { model: 'tiny/mute' },
    {
      status: 400,
      contains: ['its folder lacks tokenizer.json'],
      lacks: ['config.json', 'model.onnx'],
    },
  ),
  chat(
    'no settings',
    'x',
    { model: 'tiny/bare-graph' },
    {
      status: 400,
      contains: ['its folder lacks config.json and tokenizer.json'],
      lacks: ['model.onnx'],
    },
  ),
  chat(
    'no graph that writes',
    'x',
    { model: 'tiny/part' },
    {
      status: 400,
      contains: ['its folder lacks a graph such as onnx/model.onnx'],
      lacks: ['config.json', 'tokenizer.json'],
    },
  ),
  chat(
    'settings in two places',
    'x',
    { model: 'tiny/apart' },
    {
      status: 400,
      contains: ['config.json and tokenizer.json do not lie in the same folder'],
    },
  ),
  chat('a model of another kind', 'x', { model: 'tiny/painter' }, { status: 400, contains: ['is no language model'] }),
  chat('a repository with nothing but halves', 'hello', { model: 'tiny/half' }, text(ANSWER)),
  chat('a repository with nothing but four bits', 'hello', { model: 'tiny/merged' }, text(ANSWER)),
  chat('the same by its format', 'hello', { model: 'tiny/merged:Q4' }, text(ANSWER)),
  chat('a format of GGUF files, which no export has', 'hello', { model: 'tiny/merged:Q5_K_M' }, text(ANSWER)),
  chat(
    'a format that is not there',
    'hello',
    { model: 'tiny/merged:FP16' },
    {
      status: 404,
      contains: ['no FP16', 'decoder_model_merged_q4.onnx', 'quern pull tiny/merged:FP16'],
    },
  ),
  ...OTHERS.map((architecture) =>
    chat(`a ${architecture}`, 'x', { model: `tiny/${architecture}` }, { status: 400, contains: ['WrongModelType', architecture] }),
  ),
  chat('an architecture for text generation', 'hello', { model: 'tiny/generator' }, text(ANSWER)),
  chat('the bare name of an architecture, whose graph writes', 'hello', { model: 'tiny/bare' }, text(ANSWER)),
  chat('the writing part of a model that sees', 'hello', { model: 'tiny/seeing' }, (body) =>
    assert.deepEqual([body.choices[0].message.content, body.x_context_usage.total_context], [ANSWER, 512]),
  ),
  chat(
    'a graph that asks for kinds of tokens',
    'x',
    { model: 'tiny/typed' },
    { status: 400, contains: ['WrongModelType', 'token_type_ids'] },
  ),
  chat(
    'a graph that asks for an encoder',
    'x',
    { model: 'tiny/attending' },
    { status: 400, contains: ['WrongModelType', 'encoder_hidden_states'] },
  ),
  chat('logits of a whole text', 'x', { model: 'tiny/head-text' }, { status: 400, contains: ['WrongModelType', '[batch, 258]'] }),
  chat(
    'logits of another shape than the graph says',
    'x',
    { model: 'tiny/head-undeclared' },
    { status: 400, contains: ['WrongModelType', 'is not that of a language model', ', 258], not ['] },
  ),
  chat('labels of tokens', 'x', { model: 'tiny/head-labels' }, { status: 400, contains: ['WrongModelType', '258'] }),
  chat('no such model', 'x', { model: 'tiny/nothing' }, { status: 404, contains: ['quern pull tiny/nothing'] }),
  {
    name: 'it is listed as a language model',
    path: '/v1/models',
    json: (body) =>
      assert.ok(body.data.some((entry: { id: string; type: string }) => entry.type === 'language' && entry.id === 'tiny/writer')),
  },
];

it('the chat template of an export is remembered, and another is refused where they are pinned (T5)', async () => {
  const own = emptyDataDir();
  const place = join(own, 'models/tiny/pinned');
  writeTinyCausal(place);
  const { signal } = new AbortController();
  const notesOf = async (pinTemplates: boolean): Promise<string> => {
    const here = new Models({ dataDir: own, pinTemplates });
    try {
      const { model, release } = await here.acquire('tiny/pinned', {}, signal);
      release();
      return model.info.notes.join('\n');
    } finally {
      await here.close();
    }
  };
  assert.doesNotMatch(await notesOf(true), /not the one/);
  writeFileSync(join(place, 'chat_template.jinja'), '{{ messages[0].content }}');
  await assert.rejects(notesOf(true), { kind: 'conflict', code: 'TemplateChanged', message: /onnx:tiny\/pinned/ });
  assert.match(await notesOf(false), /chat template is not the one/);
  assert.doesNotMatch(await notesOf(true), /not the one/, 'it is the known one now');
});

const IDLE_MS = 200;
const leaving = new Models({ dataDir, limits: { unloadAfterMs: IDLE_MS, checkEveryMs: 50 } });

/** What stays in memory of a writer that was loaded with and without settings. */
async function staying(): Promise<void> {
  await until(() => leaving.keys().length === 1, 'the one that nothing keeps is unloaded');
  await delay(3 * IDLE_MS);
  assert.match(leaving.keys().join(' '), /^language:tiny\/writer:\S*:quantdefault:devicecpu$/);
}

scenarios(
  'how an ONNX export is loaded, as a request says',
  {
    endpoints: universalEndpoints,
    context: () => ({ models: leaving, completions: new Completions({ models: leaving }) }) as unknown as Runtime,
    close: () => leaving.close(),
  },
  [
    chat('nulls count as absent', 'hello', { keep_loaded: null, transformers: null }, text(ANSWER)),
    chat('a device, and to stay', 'hello', { keep_loaded: true, transformers: { device: 'cpu', dtype: 'auto' } }, staying),
    chat('a format of its files', 'hello', { model: 'tiny/merged', transformers: { dtype: 'fp16' } }, text(ANSWER)),
    chat(
      'a device that is none',
      'x',
      { transformers: { device: 'abacus' } },
      { status: 422, contains: ['transformers', 'device', 'mps'] },
    ),
    chat('a GGUF file beside the export', 'hello', { model: 'tiny/both' }, (body) =>
      assert.notEqual(body.choices[0].message.content, ANSWER),
    ),
    chat('the export beside a GGUF file', 'hello', { model: 'tiny/both', transformers: { model_type: 'text' } }, text(ANSWER)),
    chat(
      'an export that is not there',
      'x',
      { model: 'tiny/part', transformers: { model_type: 'text' } },
      {
        status: 422,
        contains: ['NoOnnxExport', 'onnx/model.onnx', 'config.json'],
      },
    ),
    chat(
      'a GGUF file as an export',
      'x',
      { model: join(folder('both'), 'both.gguf'), transformers: { model_type: 'text' } },
      {
        status: 422,
        contains: ['NoOnnxExport', 'accel.backend'],
      },
    ),
    chat(
      'a model for vectors',
      'x',
      { transformers: { model_type: 'embedding' } },
      { status: 400, contains: ['model_type embedding', 'no chats'] },
    ),
    chat('no switch', 'x', { keep_loaded: 'yes' }, { status: 422, contains: ['keep_loaded'] }),
  ],
);

scenarios(
  'chat with ONNX text-generation exports',
  {
    endpoints: universalEndpoints,
    context: () => ({ models, completions: new Completions({ models }) }) as unknown as Runtime,
    close: () => models.close(),
  },
  table,
);
