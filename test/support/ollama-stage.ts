// What the tables of test/api/ollama share: a hub, the stage of other programs' APIs, and requests.
import assert from 'node:assert/strict';
import { compatStage } from './compat-stage.js';
import { HubServer } from './hub-server.js';
import { PUPPET_SCRIPTS } from './models/puppet-scripts.js';
import type { Scenario } from './scenario.js';

const hub = await HubServer.start();
hub.put('org/gguf', { 'model-Q4_K_M.gguf': Buffer.alloc(200_000, 1) });
export const stage = compatStage(hub);

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
export type Answer = any;

export const post = (name: string, path: string, body: unknown, rest: Omit<Scenario, 'name' | 'path' | 'body'> = {}): Scenario => ({
  name,
  method: 'POST',
  path,
  body,
  ...rest,
});
export const user = (content: string) => [{ role: 'user', content }];
export const chat = (name: string, content: string, more: object, rest: Omit<Scenario, 'name' | 'path' | 'body'> = {}): Scenario =>
  post(name, '/api/chat', { model: 'puppet', stream: false, messages: user(content), ...more }, rest);
export const textOf = (lines: Answer[]): string => lines.map((one) => one.message?.content ?? one.response ?? '').join('');
export const TOOL = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
export const LONG = 'dog '.repeat(20_000);
export const HELLO = PUPPET_SCRIPTS.hello.answer;

export function assertTimes(end: Answer): void {
  for (const name of ['total_duration', 'load_duration', 'prompt_eval_duration', 'eval_duration'])
    assert.ok(Number.isInteger(end[name]) && end[name] >= 0, `${name} is ${end[name]}`);
  assert.ok(end.prompt_eval_count > 0 && end.eval_count > 0);
  assert.ok(end.total_duration >= end.eval_duration);
}
