import assert from 'node:assert/strict';
import { PUPPET_SCRIPTS } from '../../support/models/puppet-scripts.js';
import type { Scenario } from '../../support/scenario.js';
import { type Answer, ask, calls, chat, drawn, model, TOOLS, textsOf } from '../../support/universal-stage.js';

/** What requests for several choices get. */

/** Several answers to one prompt. */
export const CHOICES: Scenario[] = [
  chat('eight choices whose prompt is counted once', 'hello', {
    body: { n: 8 },
    json: async (body) => {
      const one = await ask({ model, temperature: 0, messages: [{ role: 'user', content: 'hello' }] });
      assert.deepEqual(textsOf(body), Array(8).fill(PUPPET_SCRIPTS.hello.answer));
      assert.deepEqual(
        body.choices.map((choice: Answer) => [choice.index, choice.finish_reason]),
        Array.from({ length: 8 }, (_, index) => [index, 'stop']),
      );
      const { prompt_tokens: prompt, completion_tokens: completion } = one.usage;
      const usage = { prompt_tokens: prompt, completion_tokens: 8 * completion, total_tokens: prompt + 8 * completion };
      const { prompt_tokens_details: _read, ...counted } = body.usage;
      assert.deepEqual(counted, usage);
      assert.deepEqual(body.x_context_usage, one.x_context_usage);
    },
  }),
  ...[{ seed: 3 }, { seed: 3, deterministic: true }, { seed: 3, extra_body: { n_slots: 1, n_ctx: 512 } }].map((more) =>
    chat(`choices drawn with seeds in a row: ${JSON.stringify(more)}`, 'coin', {
      body: { ...drawn, ...more, n: 3 },
      json: async (body) => {
        const alone = [3, 4, 5].map((seed) => ask({ model, messages: [{ role: 'user', content: 'coin' }], ...drawn, ...more, seed }));
        assert.deepEqual(textsOf(body), (await Promise.all(alone)).flatMap(textsOf));
        assert.equal(new Set(textsOf(body)).size, 3);
      },
    }),
  ),
  chat('choices without a seed differ', 'coin', {
    body: { ...drawn, n: 4 },
    json: (body) => assert.ok(new Set(textsOf(body)).size > 1),
  }),
  chat('choices in a stream', 'count', {
    body: { n: 3, stream: true, stream_options: { include_usage: true } },
    json: (_body, answer) => {
      assert.equal(answer.events.at(-1), '[DONE]');
      const frames: Answer[] = answer.events.slice(0, -1).map((event) => JSON.parse(event));
      const chunks = frames.slice(0, -1).map((frame) => frame.choices[0]);
      for (const index of [0, 1, 2]) {
        const own = chunks.filter((choice) => choice.index === index);
        assert.equal(own[0].delta.role, 'assistant');
        assert.equal(own.map((choice) => choice.delta.content ?? '').join(''), PUPPET_SCRIPTS.long.answer);
        assert.deepEqual(
          own.flatMap((choice) => choice.finish_reason ?? []),
          ['stop'],
        );
      }
      assert.ok(chunks.findIndex((choice) => choice.index === 2) < chunks.findIndex((choice) => choice.finish_reason), 'side by side');
      assert.deepEqual(frames.flatMap((frame) => frame.usage ?? []).length, 1);
    },
  }),
  chat('choices that call tools', 'hello', {
    body: { n: 2, tools: TOOLS, tool_choice: { type: 'function', function: { name: 'get_time' } }, max_tokens: 60 },
    json: (body) => {
      for (const choice of body.choices)
        assert.deepEqual(
          calls(choice.message).map(([name]) => name),
          ['get_time'],
        );
      assert.equal(new Set(body.choices.map((choice: Answer) => choice.message.tool_calls[0].id)).size, 2);
    },
  }),
  chat('choices with logprobs', 'hello', {
    body: { n: 2, logprobs: true, max_tokens: 3 },
    json: (body) => {
      assert.deepEqual(
        body.choices.map((choice: Answer) => [choice.logprobs.content.length, choice.finish_reason]),
        [
          [3, 'length'],
          [3, 'length'],
        ],
      );
    },
  }),
  chat('choices held to a schema', 'hello', {
    body: { n: 2, max_tokens: 60, response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { enum: ['yes', 'no'] } } } },
    json: (body) => {
      for (const text of textsOf(body)) assert.match(text, /^"(yes|no)"$/);
    },
  }),
  chat('choices in a stream whose prompt has no room', 'word '.repeat(3000), {
    status: 400,
    body: { n: 2, stream: true, n_ctx: 512, auto_truncate: false },
    contains: ['context_length_exceeded'],
  }),
  chat('choices of an ONNX export', 'hello', {
    body: { model: 'tiny/thinker', n: 2, think: true, max_tokens: 40 },
    json: (body) => {
      assert.equal(textsOf(body)[0], textsOf(body)[1]);
      assert.equal(body.choices.length, 2);
      assert.ok(body.choices.every((choice: Answer) => choice.thinking.content.length > 0) && !('thinking' in body));
    },
  }),
];
