import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { PUPPET_SCRIPTS } from '../../support/models/puppet-scripts.js';
import type { Scenario } from '../../support/scenario.js';
import { CHAT, chat, model, withImage } from '../../support/universal-stage.js';
import { CHOICES } from './choices.js';

/** What this model cannot take, and what nobody can. */
export const REFUSALS: Scenario[] = [
  chat('an image of 3 MiB for a model that sees none', 'hello', {
    status: 400,
    body: { messages: [withImage(3)] },
    contains: ['image input needs', 'image_url'],
  }),
  chat('a file', 'hello', {
    status: 400,
    body: { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
    contains: ['file input needs'],
  }),
  chat('an image in an earlier turn', 'hello', {
    status: 400,
    body: { stream: true, messages: [withImage(0), { role: 'user', content: 'hello' }] },
    contains: ['image input needs'],
  }),
  chat('calls in the form before tools', 'hello', {
    status: 400,
    body: { functions: [{ name: 'a', parameters: {} }], function_call: 'auto' },
    contains: ['FunctionsUnsupported', 'tools: ['],
  }),
  chat('an answer that is spoken', 'hello', {
    status: 400,
    body: { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    contains: ['AudioUnsupported', '/v1/audio/speech'],
  }),
  chat('more than 16 MiB', 'hello', { status: 413, body: { messages: [withImage(16)] }, contains: ['16777216'] }),
  chat('fields that say nothing', 'hello', {
    body: { response_format: {}, stop: [], logit_bias: {}, metadata: {}, modalities: [] },
    json: (body) => assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer),
  }),
  chat('an answer until the context ends', 'endless', {
    body: { max_tokens: -1, n_ctx: 1024 },
    json: (body) => {
      assert.equal(body.choices[0].finish_reason, 'length');
      assert.ok(body.usage.total_tokens >= body.x_context_usage.total_context - 1, JSON.stringify(body.usage));
    },
  }),
  chat('a whole answer without a limit', 'hello', {
    body: { max_completion_tokens: -1 },
    json: (body) => assert.equal(body.choices[0].finish_reason, 'stop'),
  }),
  ...[0, -2].map((max_tokens) =>
    chat(`max_tokens ${max_tokens}`, 'hello', { status: 422, body: { max_tokens }, contains: ['max_tokens'] }),
  ),
  chat('a model in the home folder that is not there', 'hello', {
    status: 404,
    body: { model: '~/no-such.gguf' },
    contains: [join(homedir(), 'no-such.gguf')],
  }),
  chat('a temperature out of range', 'hi', { status: 422, body: { temperature: 3 }, contains: ['temperature'] }),
  chat('a bias of a token that the model does not have', 'hi', {
    status: 422,
    body: { logit_bias: { 1: 2, 99999: -1 } },
    lacks: ['biasTokens'],
    json: (body) => {
      assert.match(body.message, /^logit_bias names the token 99999; this model has \d+ tokens, 0 to \d+\.$/);
      assert.deepEqual(body.errors[0].loc, ['body', 'logit_bias', '99999']);
    },
  }),
  ...[0, 9, 1.5].map((n) => chat(`${n} choices`, 'hi', { status: 422, body: { n }, contains: ['"n"'] })),
  ...CHOICES,
  chat('an unknown cache type', 'hi', { status: 422, body: { extra_body: { cache_type_k: 'q3' } }, contains: ['q8_0'] }),
  chat('an adapter', 'hi', { status: 404, body: { lora: [{ path: 'none.gguf' }] }, contains: ['AdapterNotFound'] }),
  chat('an adapter in its extra_body', 'hi', { status: 422, body: { extra_body: { lora: 'a.gguf' } }, contains: ['lora'] }),
  chat('slots out of range', 'hi', { status: 422, body: { extra_body: { n_slots: 0 } }, contains: ['n_slots'] }),
  chat('a model that is not there', 'hi', { status: 404, body: { model: 'no-org/no-model:Q4_K_M' }, contains: ['no-org/no-model'] }),
  {
    name: 'audio input',
    method: 'POST',
    path: CHAT,
    status: 400,
    body: { model, messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] }] },
    contains: ['audio input needs'],
  },
];
