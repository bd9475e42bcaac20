import assert from 'node:assert/strict';
import { PUPPET_SCRIPTS } from '../../support/models/puppet-scripts.js';
import type { Scenario } from '../../support/scenario.js';
import { CHAT, chat, model } from '../../support/universal-stage.js';

/** Prompts over the context, and models by their names. */
export const CONTEXTS: Scenario[] = [
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
];
