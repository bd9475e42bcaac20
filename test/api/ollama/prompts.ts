import assert from 'node:assert/strict';
import { HELLO, post } from '../../support/ollama-stage.js';
import type { Scenario } from '../../support/scenario.js';

let context: number[] = [];
const ASKED = '<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n';

/** Prompts of which a template knows less than usual. */

/** Prompts as tokens, as raw text and by templates. */
export const PROMPTS: Scenario[] = [
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
