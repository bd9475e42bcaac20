import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../../runtime/base/json.js';
import { pathText, summary } from '../../../../runtime/config/problems.js';
import { settingNotes, validateConfig } from '../../../../runtime/config/validate.js';

/** A parsed value whose shape the assertions tell. */
type Loose = ReturnType<typeof JSON.parse>;

const MODEL = { name: 'm', provider: 'universal', model: 'x' };
const E1 = { name: 'e1', type: 'UniversalEmbedder', config: { dimension: 8 } };
const R1 = { name: 'r1', type: 'BasicSimilarityStrategy', config: { top_k: 3 } };
const P1 = { name: 'p1', type: 'TextParser_Python', config: { chunk_size: 10 } };
const P2 = { name: 'p2', type: 'auto' };
const COMPONENTS = { embedding_strategies: [E1], retrieval_strategies: [R1], parsers: [P1, P2] };
const DATABASE = { name: 'd', type: 'ChromaStore' };

function base(more: JsonObject = {}): JsonObject {
  return { version: 'v1', runtime: { models: [MODEL] }, ...more };
}
function messages(config: JsonObject): string[] {
  const { errors, warnings } = validateConfig(config, 'ns', 'p');
  return [...errors, ...warnings].map((problem) => `${pathText(problem.path)}: ${problem.reason}`);
}
function stored(config: JsonObject): Loose {
  const { stored: out, errors } = validateConfig(config, 'ns', 'p');
  assert.deepEqual(errors, []);
  return out;
}

const STORE = (name: string): JsonObject => base({ memory: { stores: [{ name }] } });

const REFUSED: { name: string; config: JsonObject; says: RegExp }[] = [
  { name: 'no version', config: { runtime: { models: [MODEL] } }, says: /^version: is required$/ },
  { name: 'another version', config: { ...base(), version: 'v2' }, says: /^version: must be "v1"/ },
  { name: 'no runtime', config: { version: 'v1' }, says: /^runtime: is required$/ },
  {
    name: 'a model without provider',
    config: base({ runtime: { models: [{ name: 'm', model: 'x' }] } }),
    says: /^runtime\.models\[0\]\.provider: runtime provider is required/,
  },
  { name: 'a flat runtime without provider', config: base({ runtime: { model: 'x' } }), says: /runtime provider is required/ },
  { name: 'an empty runtime', config: base({ runtime: { model: 'y' } }), says: /runtime provider is required/ },
  {
    name: 'an unknown provider',
    config: base({ runtime: { models: [{ ...MODEL, provider: 'abc' }] } }),
    says: /^runtime\.models\[0\]\.provider: Unknown provider; must be one of "compat_api"/,
  },
  {
    name: 'two models of one name',
    config: base({ runtime: { models: [MODEL, MODEL] } }),
    says: /^runtime\.models\[1\]\.name: duplicate model name 'm'$/,
  },
  {
    name: 'an unknown default model',
    config: base({ runtime: { default_model: 'q', models: [MODEL] } }),
    says: /^runtime\.default_model: no model 'q' \(available: m\)$/,
  },
  {
    name: 'a temperature out of range',
    config: base({ runtime: { models: [{ ...MODEL, model_api_parameters: { temperature: 9, anything: { goes: 1 } } }] } }),
    says: /^runtime\.models\[0\]\.model_api_parameters\.temperature: must be <= 2$/,
  },
  {
    name: 'an adapter without a path',
    config: base({ runtime: { models: [{ ...MODEL, extra_body: { lora: [{ scale: 1 }] } }] } }),
    says: /path/,
  },
  {
    name: 'an adapter that is far too strong',
    config: base({ runtime: { models: [{ ...MODEL, extra_body: { lora: [{ path: 'a.gguf', scale: 101 }] } }] } }),
    says: /scale: must be <= 100$/,
  },
  { name: 'n_batch 0', config: base({ runtime: { models: [{ ...MODEL, extra_body: { n_batch: 0 } }] } }), says: /n_batch: must be >= 1$/ },
  {
    name: 'n_gpu_layers -2',
    config: base({ runtime: { models: [{ ...MODEL, extra_body: { n_gpu_layers: -2 } }] } }),
    says: /n_gpu_layers: must be >= -1$/,
  },
  {
    name: 'two prompt sets of one name',
    config: base({
      prompts: [
        { name: 'a', messages: [] },
        { name: 'a', messages: [] },
      ],
    }),
    says: /^prompts\[1\]\.name: duplicate prompt set name 'a'$/,
  },
  {
    name: 'an unknown prompt set',
    config: base({
      prompts: [
        { name: 'a', messages: [] },
        { name: 'b', messages: [] },
      ],
      runtime: { models: [{ ...MODEL, prompts: ['x'] }] },
    }),
    says: /^runtime\.models\[0\]\.prompts\[0\]: no prompt set 'x' \(available: a, b\)$/,
  },
  { name: 'memory store Store', config: STORE('Store'), says: /^memory\.stores\[0\]\.name: must match pattern/ },
  { name: 'memory store 1store', config: STORE('1store'), says: /must match pattern/ },
  { name: 'memory store my-store', config: STORE('my-store'), says: /must match pattern/ },
  { name: 'memory store without name', config: STORE(''), says: /^memory\.stores\[0\]\.name: / },
  { name: 'memory store of 51 characters', config: STORE('a'.repeat(51)), says: /more than 50 characters/ },
  {
    name: 'an unknown embedding reference',
    config: base({ rag: { components: COMPONENTS, databases: [{ ...DATABASE, embedding_strategy: 'e9' }] } }),
    says: /^rag\.databases\[0\]\.embedding_strategy: embedding_strategy 'e9' not found in components\.embedding_strategies$/,
  },
  {
    name: 'an unknown retrieval reference',
    config: base({ components: COMPONENTS, rag: { databases: [{ ...DATABASE, retrieval_strategy: 'r9' }] } }),
    says: /retrieval_strategy 'r9' not found in components\.retrieval_strategies$/,
  },
  {
    name: 'an unknown parser reference',
    config: base({ rag: { components: COMPONENTS, data_processing_strategies: [{ name: 's', parsers: ['p9'] }] } }),
    says: /^rag\.data_processing_strategies\[0\]\.parsers\[0\]: parser 'p9' not found in components\.parsers$/,
  },
  {
    name: 'a component without name',
    config: base({ components: { parsers: [{ type: 'auto' }] } }),
    says: /^components\.parsers\[0\]\.name: is required$/,
  },
  {
    name: 'two components of one name',
    config: base({ components: { parsers: [P1, P1] } }),
    says: /^components\.parsers\[1\]\.name: duplicate parser name 'p1'$/,
  },
  {
    name: 'an unknown parser type',
    config: base({ components: { parsers: [{ name: 'a', type: 'Nope' }] } }),
    says: /^components\.parsers\[0\]\.type: Unknown type; must be one of "auto"/,
  },
  {
    name: 'stdio without command',
    config: base({ mcp: { servers: [{ name: 's', transport: 'stdio' }] } }),
    says: /^mcp\.servers\[0\]\.command: is required$/,
  },
  {
    name: 'http without base_url',
    config: base({ mcp: { servers: [{ name: 's', transport: 'http' }] } }),
    says: /^mcp\.servers\[0\]\.base_url: is required$/,
  },
  { name: 'a speed of 3', config: base({ voice: { tts: { speed: 3 } } }), says: /^voice\.tts\.speed: must be <= 2$/ },
  {
    name: 'a dataset of no database',
    config: base({ datasets: [{ name: 'a', database: 'zz' }] }),
    says: /^datasets\[0\]\.database: no database 'zz' \(there are none\)$/,
  },
  { name: 'a schema without class', config: base({ schema: 'schemas/a.py' }), says: /^schema: must be '<file>::<name>'/ },
  { name: 'an absolute schema', config: base({ schema: '/schemas/a.py::A' }), says: /must be relative/ },
  { name: 'a schema that climbs', config: base({ schema: 'schemas/../a.py::A' }), says: /must not contain '\.\.'/ },
  { name: 'a schema elsewhere', config: base({ schema: 'models/a.py::A' }), says: /must lie under 'schemas\/'/ },
  { name: 'a schema of another kind', config: base({ schema: 'schemas/a.rb::A' }), says: /must end in \.py or \.json/ },
];

for (const { name, config, says } of REFUSED) {
  test(`config: refuses ${name}`, () => {
    const found = messages(config);
    assert.equal(found.length, 1, found.join('\n'));
    assert.match(found[0]!, says);
  });
}

test('config: memory stores take short names and their defaults', () => {
  for (const name of ['a', 'store_1', 'a'.repeat(50)]) assert.deepEqual(messages(STORE(name)), []);
  const { config } = validateConfig(base({ memory: { stores: [{ name: 'a', graph: {} }] } }), 'ns', 'p');
  assert.deepEqual(config?.memory?.stores?.[0], {
    name: 'a',
    graph: { enabled: true, max_path_depth: 10, entity_extraction: true, relationship_extraction: false },
  });
});

test('config: schema references in their good forms', () => {
  for (const schema of ['schemas/a.py::A', 'schemas/sub/a.py::A', 'schemas/a.json', 'schemas/a.json::A'])
    assert.deepEqual(messages(base({ schema })), []);
});

test('config: a database reference is inlined, named as default and dropped', () => {
  const out = stored(
    base({ rag: { components: COMPONENTS, databases: [{ ...DATABASE, embedding_strategy: 'e1', retrieval_strategy: 'r1' }] } }),
  );
  assert.deepEqual(out.rag.databases[0], {
    ...DATABASE,
    embedding_strategies: [E1],
    default_embedding_strategy: 'e1',
    retrieval_strategies: [R1],
    default_retrieval_strategy: 'r1',
  });
  assert.deepEqual(out.rag.components, COMPONENTS);
  assert.notEqual(out.rag.databases[0].embedding_strategies[0], out.rag.components.embedding_strategies[0]);
});

test('config: inline strategies win over a reference, also one that names nothing', () => {
  const out = stored(
    base({ rag: { components: COMPONENTS, databases: [{ ...DATABASE, embedding_strategies: [E1], embedding_strategy: 'e9' }] } }),
  );
  assert.deepEqual(out.rag.databases[0], { ...DATABASE, embedding_strategies: [E1] });
});

test('config: component defaults fill databases and strategies that name nothing', () => {
  const components = { ...COMPONENTS, defaults: { embedding_strategy: 'e1', retrieval_strategy: 'r1', parser: 'p2' } };
  const databases = [DATABASE, { ...DATABASE, name: 'd2', embedding_strategies: [{ ...E1, name: 'own' }, E1], retrieval_strategies: [] }];
  const out = stored(base({ components, rag: { databases, data_processing_strategies: [{ name: 's' }] } }));
  assert.equal(out.rag.databases[0].default_embedding_strategy, 'e1');
  assert.deepEqual(out.rag.databases[0].retrieval_strategies, [R1]);
  assert.equal(out.rag.databases[1].default_embedding_strategy, 'e1');
  assert.equal(out.rag.databases[1].embedding_strategies.length, 2);
  assert.equal(out.rag.databases[1].default_retrieval_strategy, 'r1');
  assert.deepEqual(out.rag.data_processing_strategies[0].parsers, [P2]);
});

test('config: rag.components wins over components by name', () => {
  const out = stored(
    base({
      components: COMPONENTS,
      rag: {
        components: { parsers: [{ ...P1, config: { chunk_size: 99 } }] },
        data_processing_strategies: [{ name: 's', parsers: ['p1', 'p2'] }],
      },
    }),
  );
  assert.deepEqual(out.rag.data_processing_strategies[0].parsers, [{ ...P1, config: { chunk_size: 99 } }, P2]);
});

test('config: parser references become objects in order, beside inline ones, and keep their names', () => {
  const inline = { type: 'PDFParser_PyPDF2', config: {} };
  const out = stored(base({ rag: { components: COMPONENTS, data_processing_strategies: [{ name: 's', parsers: ['p2', inline, 'p1'] }] } }));
  assert.deepEqual(out.rag.data_processing_strategies[0].parsers, [P2, inline, P1]);
});

test('config: the keyed and the flat form of runtime become an array', () => {
  assert.deepEqual(
    stored(
      base({
        runtime: {
          default_model: 'b',
          models: { a: { provider: 'ollama', model: 'x' }, k: { name: 'b', provider: 'openai', model: 'y' } },
        },
      }),
    ).runtime,
    {
      default_model: 'b',
      models: [
        { name: 'a', provider: 'ollama', model: 'x' },
        { name: 'b', provider: 'openai', model: 'y' },
      ],
    },
  );
  const flat = {
    provider: 'local_runner',
    model: 'x',
    base_url: 'http://h',
    api_key: '${env:K}',
    instructor_mode: 'tools',
    model_api_parameters: { top_p: 1 },
    other: 1,
  };
  const { other, ...fields } = flat;
  assert.deepEqual(stored(base({ runtime: flat })).runtime, { other, models: [{ name: 'default', ...fields }] });
});

test('config: older prompt forms become sets', () => {
  const out = stored(
    base({
      prompts: [
        { role: 'system', content: 'one' },
        { name: 'raw', raw_text: 'two' },
        { role: 'user', content: 'three' },
        {
          name: 'parts',
          sections: [
            { title: 'T', content: ['a', 'b'] },
            { title: 'U', content: ['c'] },
          ],
        },
      ],
    }),
  );
  assert.deepEqual(out.prompts, [
    {
      name: 'default',
      messages: [
        { role: 'system', content: 'one' },
        { role: 'user', content: 'three' },
      ],
    },
    { name: 'raw', messages: [{ role: 'system', content: 'two' }] },
    { name: 'parts', messages: [{ role: 'system', content: 'T\na\nb\n\nU\nc' }] },
  ]);
});

test('config: unknown keys stay at every level, nulls go, name and namespace come from the path', () => {
  const out = stored({
    ...base({ extra: { a: [null, { b: null, c: 1 }] } }),
    name: 'other',
    namespace: 'else',
    runtime: { mine: 1, models: [{ ...MODEL, api_key: null, mine: 2 }] },
  });
  assert.deepEqual(out, {
    version: 'v1',
    extra: { a: [null, { c: 1 }] },
    name: 'p',
    namespace: 'ns',
    runtime: { mine: 1, models: [{ ...MODEL, mine: 2 }] },
  });
});

test('config: nulls inside tool parameters are values', () => {
  const tool = { type: 'function', name: 't', description: '', parameters: { properties: { a: { enum: ['x', null], default: null } } } };
  assert.deepEqual(stored(base({ runtime: { models: [{ ...MODEL, tools: [tool] }] } })).runtime.models[0].tools, [tool]);
});

test('config: names that point at nothing are warnings, and the file stays usable', () => {
  const { config, errors, warnings } = validateConfig(
    base({ runtime: { default_model: 'gone', models: [MODEL] }, voice: { llm_model: 'gone' } }),
    'ns',
    'p',
  );
  assert.deepEqual(errors, []);
  assert.equal(warnings.length, 2);
  assert.equal(config?.voice?.tts, undefined);
  assert.equal(config?.voice?.enabled, true);
});

test('config: every section of the file passes in its full form', () => {
  const config = base({
    schema: 'schemas/a.py::A',
    runtime: {
      models: [
        {
          ...MODEL,
          provider: 'lemonade',
          lemonade: { backend: 'onnx' },
          accel: {},
          extra_body: { n_ctx: 4096, flash_attn: true, anything: [1] },
          model_api_parameters: { temperature: 0.5, anything: {} },
          encoder_config: { task: 'reranking' },
          transformers: { device: 'cpu', dtype: 'bf16', model_type: 'embedding' },
          diffusion: { default_size: '512x512', default_steps: 20 },
          mcp_servers: ['s'],
          tool_call_strategy: 'prompt_based',
          target_database: 'd',
        },
      ],
    },
    rag: {
      components: COMPONENTS,
      default_database: 'd',
      databases: [{ ...DATABASE, embedding_strategy: 'e1' }],
      data_processing_strategies: [{ name: 's', parsers: ['p1'], extractors: [{ type: 'HeadingExtractor' }] }],
    },
    datasets: [
      { name: 'x', database: 'd', data_processing_strategy: 's' },
      { name: 'y', database: 'd', memory: 'm1' },
    ],
    memory: {
      default_store: 'm1',
      stores: [{ name: 'm1', working_memory: {}, timeseries: {}, spatial: { index_type: 'geohash' }, consolidation: {} }],
    },
    voice: {
      llm_model: 'm',
      tts: { voice_profiles: { me: { audio_path: 'a.wav' } } },
      stt: { model: 'large-v3' },
      turn_detection: {},
      emotion: {},
    },
    mcp: {
      servers: [
        { name: 's', transport: 'stdio', command: 'x', args: ['a'], env: { A: '${env:B}' } },
        { name: 't', transport: 'sse', base_url: 'http://x', headers: {} },
      ],
    },
  });
  assert.deepEqual(messages(config), []);
  const used = validateConfig(config, 'ns', 'p').config!;
  assert.deepEqual(used.runtime.models[0]!.accel, { backend: 'llamacpp', port: 11534, context_size: 32768 });
  assert.equal(used.datasets![1]!.data_processing_strategy, 'universal_rag');
  assert.equal(used.datasets![1]!.auto_process, false);
});

test('config: a summary spells out five problems and counts the rest', () => {
  const problem = { path: ['a', 0, 'b'], reason: 'bad', type: 't' };
  assert.equal(summary([]), null);
  assert.equal(summary([problem]), 'a[0].b: bad');
  assert.equal(
    summary(Array.from({ length: 7 }, () => problem)),
    `${Array.from({ length: 5 }, () => 'a[0].b: bad').join('; ')} (and 2 more errors)`,
  );
});

test('what has no effect is told with the reason', () => {
  const told = (model: JsonObject, more: JsonObject = {}): string[] => {
    const { config } = validateConfig(base({ runtime: { models: [{ ...MODEL, ...model }] }, ...more }), 'ns', 'p');
    return settingNotes(config!);
  };
  const rows: [model: JsonObject, note: RegExp | undefined, more?: JsonObject][] = [
    [{ transformers: { trust_remote_code: false, device: 'cpu', batch_size: 4, model_type: 'text' } }, undefined],
    [{ prompt_format: 'unstructured' }, undefined],
    [{ transformers: { trust_remote_code: true } }, /^transformers\.trust_remote_code of model 'm' has no effect: no code of a repository/],
    [{ instructor_mode: 'md_json' }, /^instructor_mode of model 'm' has no effect/],
    [{ accel: { port: 1234 } }, /^accel of model 'm' has no effect: provider universal/],
    [{ provider: 'local_accel', accel: { port: 1234 } }, undefined],
    [{}, undefined, { mcp: { servers: [] } }],
    [{}, undefined, { memory: { stores: [] } }],
    [
      {},
      undefined,
      { voice: { llm_model: 'm', tts: { speed: 1.5, keep_loaded: true }, stt: { model: 'tiny' }, emotion: { enabled: false } } },
    ],
    [{}, /^voice\.tts\.top_k has no effect: no voice is made/, { voice: { tts: { top_k: 7 } } }],
    [{}, /^voice\.tts\.voice_profiles has no effect/, { voice: { tts: { voice_profiles: { me: { audio_path: 'me.wav' } } } } }],
    [{}, /^voice\.emotion has no effect/, { voice: { emotion: {} } }],
  ];
  for (const [model, note, more] of rows) {
    const notes = told(model, more);
    assert.equal(notes.length, note ? 1 : 0, JSON.stringify(notes));
    if (note) assert.match(notes[0]!, note);
  }
});

test('a prompt format that nobody documents is refused', () => {
  const { errors } = validateConfig(base({ runtime: { models: [{ ...MODEL, prompt_format: 'alpaca' }] } }), 'ns', 'p');
  assert.match(summary(errors)!, /prompt_format.*"unstructured"/);
});
