// What the tables of test/api/universal share: tiny models, requests for chats, and the runtime.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Completions } from '../../runtime/completions/completions.js';
import { Models } from '../../runtime/models/residency/models.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Tool } from '../../schemas/generated/common.js';
import { emptyDataDir } from './daemon.js';
import { puppetPath } from './models/cache.js';
import { writeTinyCausal } from './models/tiny-causal/tiny-causal.js';
import { writeTinyEncoders } from './models/tiny-encoders.js';
import type { Scenario, Stage } from './scenario.js';

const dataDir = emptyDataDir();
export const own = join(dataDir, 'models');
writeTinyEncoders(own);
writeTinyCausal(join(own, 'tiny/writer'));
writeTinyCausal(join(own, 'tiny/thinker'), { thinks: true });
mkdirSync(join(own, 'tiny/gguf-writer'));
copyFileSync(puppetPath(), join(own, 'tiny/gguf-writer/model-Q4_K_M.gguf'));
copyFileSync(puppetPath(), join(own, 'tiny/gguf-writer/model-Q8_0.gguf'));
mkdirSync(join(own, 'tiny/matrix'));
copyFileSync(puppetPath(), join(own, 'tiny/matrix/model-imatrix.gguf'));

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
export type Answer = any;

export const CHAT = '/v1/chat/completions';
export const model = puppetPath();
export const tool = (name: string, properties: Record<string, unknown> = {}, required = Object.keys(properties)): Tool => ({
  type: 'function',
  function: { name, description: name, parameters: { type: 'object', properties, required } },
});
export const TOOLS = [
  tool('get_weather', { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } }, ['city']),
  tool('add_numbers', { a: { type: 'integer' }, b: { type: 'integer' } }),
  tool('get_time'),
];

/** A chat of one user message. */
export const chat = (
  name: string,
  content: string,
  rest: Omit<Scenario, 'name' | 'path' | 'body'> & { body?: Record<string, unknown> },
): Scenario => ({
  method: 'POST',
  path: CHAT,
  name,
  ...rest,
  body: { model, temperature: 0, messages: [{ role: 'user', content }], ...rest.body },
});

/** A message with an image as a data URI of that many MiB. */
export const withImage = (mib: number) => ({
  role: 'user',
  content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(mib * 2 ** 20)}` } }],
});

export const calls = (message: { tool_calls: { id: string; type: string; function: { name: string; arguments: string } }[] }) =>
  message.tool_calls.map((call) => {
    assert.match(call.id, /^call_[0-9a-f-]{36}$/);
    assert.equal(call.type, 'function');
    return [call.function.name, JSON.parse(call.function.arguments)];
  });

export const delta = (members: Record<string, unknown>) => ({ object: 'chat.completion.chunk', choices: { 0: { delta: members } } });

export const textsOf = (body: Answer): string[] => body.choices.map((choice: Answer) => choice.message.content);
export const drawn = { temperature: 1, min_p: 0, top_k: 0 };

let running: Runtime;

/** One more chat, outside of the table. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
export async function ask(body: Record<string, unknown>): Promise<any> {
  const [endpoint] = universalEndpoints.filter((one) => one.path === CHAT);
  const reply = await endpoint!.handler(running, {
    id: 'x',
    method: 'POST',
    params: {},
    query: {},
    body,
    bodyBytes: 0,
    files: [],
    header: () => undefined,
    signal: new AbortController().signal,
  });
  return 'json' in reply ? reply.json : undefined;
}

export const STAGE: Stage<Runtime> = {
  endpoints: universalEndpoints,
  context: () => {
    const models = new Models({ dataDir });
    // The endpoints under test use no other part of the runtime.
    running = { version: '0.0.0', models, completions: new Completions({ models }) } as unknown as Runtime;
    return running;
  },
  close: (runtime) => runtime.models.close(),
};
