import assert from 'node:assert/strict';
import { copyFileSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flag, list, text, u32 } from '../../models/writers/gguf-values.js';
import { type GgufFile, type TensorSource, writeGguf } from '../../models/writers/gguf-writer.js';
import { collect } from '../../runtime/completions/collect.js';
import type { UniversalRequest } from '../../runtime/completions/request.js';
import { createUniversalProvider } from '../../runtime/providers/universal.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { compatStage } from '../support/compat-stage.js';
import { adapterMetadata, pairTensors, randomPair, sayingPath } from '../support/models/lora-adapter.js';
import { PUPPET_SCRIPTS } from '../support/models/puppet-scripts.js';
import { type Scenario, scenarios } from '../support/scenario.js';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Answer = any;
type Rest = Omit<Scenario, 'name' | 'path' | 'body'>;

const opened = compatStage();
let runtime: Runtime;
const stage = {
  ...opened,
  context: async () => {
    runtime = (await opened.context()) as Runtime;
    return runtime;
  },
};
const own = (name: string): string => join(stage.dataDir, 'models', name);
for (const letter of ['x', 'y']) copyFileSync(sayingPath(letter), own(`says-${letter}.gguf`));

const FITTING = pairTensors(randomPair('blk.0.attn_q.weight', 256, 512, 1, 1));
const renamed = (name: string): TensorSource[] =>
  FITTING.map((tensor) => ({ ...tensor, name: tensor.name.replace('blk.0.attn_q.weight', name) }));

/** Adapters that do not fit the puppet, or are none: what is wrong, the file, and what the refusal names. */
const MISFITS: readonly [why: string, file: GgufFile, names: string][] = [
  [
    'of another architecture',
    { metadata: adapterMetadata([['general.architecture', text('qwen3')]]), tensors: FITTING },
    `"qwen3", and the model's is llama`,
  ],
  [
    'of a wider model',
    { metadata: adapterMetadata(), tensors: pairTensors(randomPair('blk.0.attn_q.weight', 320, 512, 1, 1)) },
    `its pair for blk.0.attn_q.weight is 320 x 4 and 4 x 512, and the model's tensor is 256 x 512`,
  ],
  [
    'of a deeper model',
    { metadata: adapterMetadata(), tensors: renamed('blk.7.attn_q.weight') },
    'it changes blk.7.attn_q.weight, and the model has no such tensor',
  ],
  [
    'with sides of different ranks',
    { metadata: adapterMetadata(), tensors: [FITTING[0]!, { ...FITTING[1]!, shape: [2, 512], values: new Float32Array(1024) }] },
    'is 256 x 4 and 2 x 512',
  ],
  ['with half a pair', { metadata: adapterMetadata(), tensors: [FITTING[0]!] }, 'tensor blk.0.attn_q.weight.lora_b is "missing"'],
  [
    'with whole tensors',
    { metadata: adapterMetadata(), tensors: [...FITTING, ...renamed('x').map((one) => ({ ...one, name: `${one.name}.weight` }))] },
    'x.lora_a.weight',
  ],
  ['without tensors', { metadata: adapterMetadata(), tensors: [] }, 'tensor count is 0'],
  [
    'of numbers that are not multiplied',
    {
      metadata: adapterMetadata(),
      tensors: FITTING.map((one) => ({ ...one, type: 'Q4_0' as const, shape: [32, 1], values: new Float32Array(32) })),
    },
    'Q4_0',
  ],
  [
    'of another kind',
    { metadata: adapterMetadata([['adapter.type', text('control_vector')]]), tensors: FITTING },
    'adapter.type is "control_vector"',
  ],
  [
    'with an alpha of another type',
    { metadata: adapterMetadata([['adapter.lora.alpha', u32(8)]]), tensors: FITTING },
    'adapter.lora.alpha is 8; a finite number of type f32',
  ],
  [
    'with an alpha that is none',
    { metadata: adapterMetadata([['adapter.lora.alpha', flag(true)]]), tensors: FITTING },
    'adapter.lora.alpha is true',
  ],
  [
    'that begins to act later',
    { metadata: adapterMetadata([['adapter.alora.invocation_tokens', list('u32', [1])]]), tensors: FITTING },
    'alora',
  ],
];
for (const [index, [, file]] of MISFITS.entries()) writeGguf(own(`misfit-${index}.gguf`), file);
copyFileSync(sayingPath('x'), own('cut.gguf'));
truncateSync(own('cut.gguf'), statSync(own('cut.gguf')).size - 100);
writeFileSync(own('text.gguf'), 'no adapter');
symlinkSync(sayingPath('x'), own('link.gguf'));

const X = [{ path: 'says-x.gguf' }];
const HELLO = PUPPET_SCRIPTS.hello.answer;
const asked = (content: string): string => `<|im_start|>user\n${content}<|im_end|>\n<|im_start|>assistant\n`;
const messages = [{ role: 'user', content: 'hello' }];
const post = (name: string, path: string, body: object, rest: Rest = {}): Scenario => ({
  name,
  method: 'POST',
  path,
  body: { model: 'puppet', ...body },
  ...rest,
});
const complete = (name: string, more: object, said: string): Scenario =>
  post(
    name,
    '/v1/completions',
    { prompt: asked('hello'), max_tokens: 3, ...more },
    { json: ({ choices }) => assert.equal(choices[0].text, said) },
  );
const chat = (name: string, more: object, rest: Rest): Scenario =>
  post(name, '/v1/chat/completions', { messages, max_tokens: 40, ...more }, rest);
const says = (said: string): Rest => ({ json: ({ choices }) => assert.equal(choices[0].message.content, said) });

let plain: unknown;
let key = '';
const turns = [...messages, { role: 'assistant', content: 'xx' }, { role: 'user', content: 'hello' }];
const cached = (name: string, more: object, check: (cache: Answer) => void): Scenario =>
  chat(name, more, { json: (body) => check(body.x_cache) });

const ACTING: Scenario[] = [
  complete('act on completions', { lora: X }, 'xxx'),
  complete('also in extra_body', { extra_body: { lora: [{ path: 'says-y.gguf', scale: 2 }] } }, 'yyy'),
  complete('the request itself wins', { lora: X, extra_body: { lora: [{ path: 'says-y.gguf' }] } }, 'xxx'),
  complete('together: the stronger one is heard', { lora: [...X, { path: 'says-y.gguf', scale: 3 }] }, 'yyy'),
  complete('by an absolute path', { lora: [{ path: sayingPath('x') }] }, 'xxx'),
  chat('act on chats', { max_tokens: 2, lora: X }, says('xx')),
  chat(
    'in streams',
    { max_tokens: 2, stream: true, lora: X },
    {
      json: (_body, { events }) => {
        const pieces: Answer[] = events.slice(0, -1).map((event) => JSON.parse(event).choices[0].delta.content ?? '');
        assert.equal(pieces.join(''), 'xx');
      },
    },
  ),
  chat(
    'on each choice',
    { max_tokens: 2, n: 2, lora: X },
    {
      json: ({ choices }) =>
        assert.deepEqual(
          choices.map(({ message }: Answer) => message.content),
          ['xx', 'xx'],
        ),
    },
  ),
  chat(
    'not on those without',
    { deterministic: true, logprobs: true, top_logprobs: 2 },
    {
      json: ({ choices }) => {
        plain = choices[0].logprobs;
        assert.equal(choices[0].message.content, HELLO);
      },
    },
  ),
  chat(
    'of scale 0 change nothing',
    { deterministic: true, logprobs: true, top_logprobs: 2, lora: [{ path: 'says-x.gguf', scale: 0 }] },
    { json: ({ choices }) => assert.deepEqual(choices[0].logprobs, plain) },
  ),
  chat('an empty list is none', { lora: [] }, says(HELLO)),
  post(
    "act on Anthropic's messages",
    '/v1/messages',
    { messages, max_tokens: 2, lora: X },
    { json: ({ content }) => assert.equal(content[0].text, 'xx') },
  ),
  post(
    'and its extra_body',
    '/v1/messages',
    { messages, max_tokens: 2, extra_body: { lora: X } },
    { json: ({ content }) => assert.equal(content[0].text, 'xx') },
  ),
  post("act on OpenAI's responses", '/v1/responses', { input: 'hello', max_output_tokens: 2, lora: X }, { contains: ['"text":"xx"'] }),
  cached('keep their states', { lora: X, max_tokens: 2, return_cache_key: true }, (cache) => {
    key = cache.new_cache_key;
    assert.match(key, /^[0-9a-f]{24}$/);
  }),
  {
    ...cached('for themselves', {}, (cache) => assert.deepEqual([cache.hit, cache.status], [true, 'hit'])),
    body: () => ({ model: 'puppet', messages: turns, max_tokens: 2, lora: X, cache_key: key }),
  },
  {
    ...cached('not for the model alone', {}, (cache) => assert.equal(cache.hit, false)),
    body: () => ({ model: 'puppet', messages: turns, max_tokens: 2, cache_key: key }),
  },
  {
    ...cached('nor for another scale', {}, (cache) => assert.equal(cache.hit, false)),
    body: () => ({ model: 'puppet', messages: turns, max_tokens: 2, cache_key: key, lora: [{ path: 'says-x.gguf', scale: 2 }] }),
  },
];

const refused = (name: string, lora: unknown, status: number, ...contains: string[]): Scenario =>
  chat(name, { lora }, { status, contains });

const REFUSED: Scenario[] = [
  ...MISFITS.map(([why, , names], index) =>
    refused(why, [{ path: `misfit-${index}.gguf` }], 422, `misfit-${index}.gguf`, JSON.stringify(names).slice(1, -1)),
  ),
  refused('a cut file', [{ path: 'cut.gguf' }], 422, 'cut.gguf', 'it is incomplete'),
  refused('no GGUF', [{ path: 'text.gguf' }], 422, 'text.gguf', 'is not a usable GGUF file'),
  refused('a whole model', [{ path: 'puppet.gguf' }], 422, 'puppet.gguf', 'general.type is', 'an adapter is needed'),
  refused('a file that is not there', [{ path: 'none.gguf' }], 404, 'LoRA adapter \\"none.gguf\\" not found', 'AdapterNotFound'),
  refused('a name that nobody has', [{ path: 'org/none' }], 404, 'LoRA adapter \\"org/none\\" not found'),
  refused('a path that leads out', [{ path: '../../a.gguf' }], 400, 'leads out of'),
  refused('a link that leads out', [{ path: 'link.gguf' }], 400, 'leads out of'),
  refused('a file that is no .gguf', [{ path: '/etc/passwd' }], 400, 'is not a model name'),
  refused('the same one twice', [...X, ...X], 422, 'lora names says-x.gguf twice'),
  refused('nine', Array(9).fill(X[0]), 422, '8'),
  refused('a scale that is too large', [{ path: 'says-x.gguf', scale: 1e300 }], 422, 'scale'),
  {
    ...refused('a scale that is none', undefined, 422, 'scale'),
    headers: { 'content-type': 'application/json' },
    body: `{"model":"puppet","messages":[{"role":"user","content":"a"}],"lora":[{"path":"says-x.gguf","scale":"NaN"}]}`,
  },
  {
    ...refused('an infinite scale', undefined, 422, 'scale'),
    headers: { 'content-type': 'application/json' },
    body: `{"model":"puppet","messages":[{"role":"user","content":"a"}],"lora":[{"path":"says-x.gguf","scale":1e999}]}`,
  },
  refused('no path', [{ id: 0, scale: 1 }], 422, 'path'),
  refused('a text', 'says-x.gguf', 422, 'lora'),
  chat('the name that others give them', { lora_adapters: X }, { status: 400, contains: ['lora_adapters names', 'lora: ['] }),
  chat('an adapter as the model', { model: 'says-x.gguf' }, { status: 422, contains: ['that is no whole model', 'lora'] }),
  chat('afterwards the model answers as before', {}, says(HELLO)),
];

const create = (name: string, more: object, rest: Rest = {}): Scenario => post(name, '/api/create', { stream: false, ...more }, rest);
const line = (name: string): string => JSON.stringify(`ADAPTER ${name}\n`).slice(1, -1);

const NAMED: Scenario[] = [
  create('a model is made with an adapter', { model: 'xer', modelfile: 'FROM puppet\nADAPTER says-x.gguf\nPARAMETER num_predict 3' }),
  post(
    'and answers with it',
    '/api/chat',
    { model: 'xer', messages, stream: false },
    { json: ({ message }) => assert.equal(message.content, 'xxx') },
  ),
  post(
    'by every API',
    '/v1/completions',
    { model: 'xer', prompt: asked('hello'), max_tokens: 3 },
    { json: ({ choices }) => assert.equal(choices[0].text, 'xxx') },
  ),
  post(
    'where a request names none',
    '/v1/completions',
    { model: 'xer', prompt: asked('hello'), max_tokens: 3, lora: [{ path: 'says-y.gguf' }] },
    { json: ({ choices }) => assert.equal(choices[0].text, 'yyy') },
  ),
  post(
    'or none at all',
    '/v1/completions',
    { model: 'xer', prompt: asked('hello'), max_tokens: 40, lora: [] },
    { json: ({ choices }) => assert.equal(choices[0].text, HELLO) },
  ),
  post('it says so', '/api/show', { model: 'xer' }, { contains: [line('says-x.gguf')] }),
  create('a model made of it has it too', { model: 'copy', from: 'xer' }),
  post('as it shows', '/api/show', { model: 'copy' }, { contains: [line('says-x.gguf')] }),
  create('unless it has its own', { model: 'yer', from: 'xer', adapters: { 'a.gguf': 'says-y.gguf' } }),
  post(
    'which it answers with',
    '/api/generate',
    { model: 'yer', prompt: 'hello', stream: false },
    { json: ({ response }) => assert.equal(response, 'yyy') },
  ),
  post(
    'vectors are made without',
    '/api/embed',
    { model: 'xer', input: 'a' },
    { status: 400, contains: ['LoRA adapters are not run here'] },
  ),
  create(
    'an adapter that is not there',
    { model: 'a', modelfile: 'FROM puppet\nADAPTER ./none.gguf' },
    { status: 404, contains: ['LoRA adapter \\"./none.gguf\\" not found'] },
  ),
  create(
    'one that does not fit',
    { model: 'a', modelfile: 'FROM puppet\nADAPTER misfit-0.gguf' },
    { status: 400, contains: ['misfit-0.gguf does not fit the model puppet.gguf'] },
  ),
  create(
    'nine',
    { model: 'a', modelfile: `FROM puppet\n${'ADAPTER says-x.gguf\n'.repeat(9)}` },
    { status: 400, contains: ['9 adapters (ADAPTER); at most 8'] },
  ),
  create(
    'of an adapter alone',
    { model: 'a', from: 'says-x.gguf' },
    { status: 400, contains: ['that is no whole model', 'this file in \\"lora\\"'] },
  ),
  {
    name: 'an adapter has no second name',
    method: 'POST',
    path: '/api/copy',
    body: { source: 'says-x.gguf', destination: 'a' },
    status: 400,
    contains: ['general.type is \\"adapter\\"; that is no whole model'],
  },
  post('nothing was made', '/api/show', { model: 'a' }, { status: 404 }),
];

/** What a request says, as far as three tokens go. */
async function said(more: Partial<UniversalRequest>): Promise<string> {
  const request: UniversalRequest = {
    model: 'puppet',
    messages: [{ role: 'user', content: 'hello' }],
    options: {},
    autoTruncate: false,
    max_tokens: 3,
    ...more,
  };
  return (await collect((await runtime.completions.open(request, new AbortController().signal)).parts)).text;
}

const stats = async (): Promise<Answer> =>
  runtime.models
    .loaded()
    .find(({ type }) => type === 'language')
    ?.stats?.();

const TOGETHER: Scenario[] = [
  chat(
    'the model of a project has its own, which a request replaces',
    {},
    {
      json: async () => {
        const provider = createUniversalProvider(runtime.completions);
        const model = { name: 'a', provider: 'universal', model: 'puppet', extra_body: { lora: X } } as unknown as ModelConfig;
        const saidOf = async (extra?: Record<string, unknown>): Promise<string> => {
          const request = { messages: [{ role: 'user' as const, content: 'hello' }], max_tokens: 3, ...(extra ? { extra } : {}) };
          return (await collect((await provider.open(model, request, new AbortController().signal)).parts)).text;
        };
        assert.equal(await saidOf(), 'xxx');
        assert.equal(await saidOf({ lora: [{ path: 'says-y.gguf' }] }), 'yyy');
        assert.ok(HELLO.startsWith(await saidOf({ lora: [] })));
      },
    },
  ),
  chat(
    'many at once with different adapters say what each says alone',
    {},
    {
      json: async () => {
        const loras = [[], X, [{ path: 'says-y.gguf' }], [{ path: 'says-x.gguf', scale: 2 }]];
        const wanted = await Promise.all(loras.map((lora) => said({ lora })));
        assert.deepEqual(wanted.slice(1), ['xxx', 'yyy', 'xxx']);
        const all = await Promise.all(Array.from({ length: 24 }, (_, index) => said({ lora: loras[index % 4]! })));
        assert.deepEqual(
          all,
          Array.from({ length: 24 }, (_, index) => wanted[index % 4]),
        );
      },
    },
  ),
  chat(
    'no more than 16 stay in memory, and a changed file is loaded anew',
    {},
    {
      json: async () => {
        for (let index = 0; index < 20; index += 1) {
          copyFileSync(sayingPath(index % 2 === 0 ? 'x' : 'y'), own('changing.gguf'));
          utimesSync(own('changing.gguf'), index, index);
          assert.equal(await said({ lora: [{ path: 'changing.gguf' }] }), index % 2 === 0 ? 'xxx' : 'yyy');
        }
        const { adapters, adapterBytes } = await stats();
        assert.equal(adapters, 16);
        assert.equal(adapterBytes, 16 * statSync(own('changing.gguf')).size);
      },
    },
  ),
  chat(
    'one that goes while its adapter is loaded leaves nothing behind',
    {},
    {
      json: async () => {
        copyFileSync(sayingPath('x'), own('late.gguf'));
        const leaving = new AbortController();
        const opening = runtime.completions.open(
          {
            model: 'puppet',
            messages: [{ role: 'user', content: 'endless' }],
            options: {},
            autoTruncate: false,
            lora: [{ path: 'late.gguf' }],
          },
          leaving.signal,
        );
        setTimeout(() => leaving.abort(), 5);
        await opening.then(({ parts }) => collect(parts)).catch(() => undefined);
        while ((await stats()).active > 0) await new Promise((resolve) => setTimeout(resolve, 10));
        assert.equal(await said({ lora: X }), 'xxx');
      },
    },
  ),
];

scenarios('LoRA adapters', stage, [...ACTING, ...REFUSED, ...NAMED, ...TOGETHER]);
