// What the tables of test/api/chat share: projects, a scripted provider, and how a request is asked and an error is expected.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat } from '../../runtime/chat/chat.js';
import { Projects } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openStore } from '../../runtime/store/store.js';
import { FINISH, ScriptedProvider, type Step } from '../unit/runtime/chat/scripted-provider.js';
import type { Scenario } from './scenario.js';

const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-chat-'));
export const provider = new ScriptedProvider();
export const text = (value: string): Step => ({ type: 'text', text: value });
export const echo: Step[] | undefined = undefined;
/** A reference to an environment variable, as the operator's file or a request writes it. */
const reference = (name: string): string => `\${env:${name}}`;
const CONFIGURED_VARIABLE = reference('QUERN_CHAT_TEST');
export const REQUESTED_VARIABLE = reference('HOME');

export function project(namespace: string, name: string, config: object): void {
  const folder = join(dataDir, 'projects', namespace, name);
  mkdirSync(folder, { recursive: true });
  // JSON is YAML.
  writeFileSync(join(folder, 'project.yaml'), JSON.stringify({ version: 'v1', name, namespace, ...config }));
}

export const PLAIN = { name: 'plain', provider: 'universal', model: 'file.gguf' };
project('ns', 'p', {
  runtime: {
    default_model: 'plain',
    models: [
      {
        name: 'tuned',
        provider: 'openai',
        model: 'm',
        model_api_parameters: { temperature: 0.3, top_p: 0.5, max_tokens: 33, stop: 'END', reasoning_effort: 'low' },
        extra_body: { n_threads: 2, tag: CONFIGURED_VARIABLE },
        prompts: ['few'],
        tools: [{ type: 'function', name: 'weather', description: 'In {{city | Oslo}}', parameters: { type: 'object' } }],
      },
      { ...PLAIN, prompts: [] },
      { ...PLAIN, name: 'prompted' },
      { ...PLAIN, name: 'ranked', model_api_parameters: { top_k: 9, temperature: 0.3 } },
    ],
  },
  prompts: [
    { name: 'base', messages: [{ role: 'system', content: 'You are {{who | Bob}}.' }] },
    {
      name: 'few',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Example?' },
        { role: 'assistant', content: 'Example!' },
      ],
    },
  ],
});
project('ns', 'q', { runtime: { models: [PLAIN] } });
project('ns', 'strict', { runtime: { models: [PLAIN] }, prompts: [{ name: 'a', messages: [{ role: 'system', content: 'Hi {{name}}' }] }] });
project('ns', 'bare', { runtime: { models: [] } });
for (const [name, schema] of [
  ['typed', 'schemas/a.py::A'],
  ['json', 'schemas/a.json::A'],
  ['whole-json', 'schemas/a.json'],
  ['no-file', 'schemas/none.py::A'],
  ['no-class', 'schemas/a.py::B'],
  ['no-definition', 'schemas/a.json::B'],
  ['code', 'schemas/code.py::A'],
  ['escape', 'schemas/link.json'],
] as const) {
  project('ns', name, { runtime: { models: [PLAIN] }, schema });
  const folder = join(dataDir, 'projects', 'ns', name, 'schemas');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.py'), 'from pydantic import BaseModel\n\nclass A(BaseModel):\n    n: int\n');
  writeFileSync(join(folder, 'a.json'), JSON.stringify({ type: 'object', $defs: { A: { type: 'integer' } } }));
  writeFileSync(join(folder, 'code.py'), '\nprint("hello")\n');
  symlinkSync(join(dataDir, 'projects', 'ns', 'p', 'project.yaml'), join(folder, 'link.json'));
}
project('ns', 'hot', { runtime: { models: [{ ...PLAIN, model_api_parameters: { temperature: 9 } }] } });
project('ns', 'broken', { runtime: { models: [{ name: 'x' }] } });

export const CHAT = '/v1/projects/ns/p/chat';
export const POST = { method: 'POST', path: `${CHAT}/completions` } as const;
export const LATE_USAGE = {
  total_context: 100,
  prompt_tokens: 3,
  available_for_completion: 97,
  truncated: false,
  truncated_messages: 0,
  strategy_used: null,
};
export const user = (content: string, more: object = {}): object => ({ messages: [{ role: 'user', content }], ...more });
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Sets what the provider answers when the row's turn comes. */
export function after(script: Parameters<ScriptedProvider['say']>[0] | undefined, body: object): () => object {
  return () => {
    provider.asked.length = 0;
    provider.say(script ?? ((request) => [text(`echo: ${request.messages.at(-1)?.content}`), FINISH]));
    return body;
  };
}

export const asked = (): (typeof provider.asked)[number]['request'] => provider.asked.at(-1)!.request;
export const chunk = (delta: object, finish: string | null = null): Record<string, unknown> => ({
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
export const invalid = (name: string, more: object, path: string): Scenario => ({
  name: `422: ${name}`,
  ...POST,
  body: after(echo, user('x', more)),
  status: 422,
  json: (body) => {
    assert.equal(typeof body.detail, 'string');
    assert.equal(typeof body.error, 'string');
    assert.ok(body.errors[0].loc.join('.').startsWith(`body.${path}`), JSON.stringify(body.errors));
    assert.equal(provider.asked.length, 0);
  },
});

/** A refusal, whole and in a stream, and what a client that sends these headers finds in its `error`. */
export const errorOf = (client: string, headers: Record<string, string>, form: 'text' | 'object'): Scenario[] => [
  {
    name: `error is ${form === 'text' ? 'a text' : 'an object'} for ${client}`,
    ...POST,
    headers,
    body: {},
    status: 422,
    json: (body) => {
      assert.equal(typeof body.detail, 'string');
      assert.equal(form === 'text' ? body.error : body.error.message, form === 'text' ? 'invalid' : body.detail);
    },
  },
];

/** A project whose schema is this. */
export const structured = (name: string, wanted: object): Scenario => ({
  name: `the schema of ${name}`,
  method: 'POST',
  path: `/v1/projects/ns/${name}/chat/completions`,
  body: after(echo, user('x')),
  json: () => assert.deepEqual(asked().response_format, { type: 'json_schema', json_schema: wanted }),
});
/** A project whose schema cannot be used. */
export const unstructured = (name: string, says: string): Scenario => ({
  name: `400: the schema of ${name}`,
  method: 'POST',
  path: `/v1/projects/ns/${name}/chat/completions`,
  body: after(echo, user('x')),
  status: 400,
  contains: [says],
  json: () => assert.equal(provider.asked.length, 0),
});

process.env.QUERN_CHAT_TEST = 'from the environment';

export async function openRuntime(): Promise<Runtime> {
  const store = await openStore(dataDir);
  const projects = new Projects({ dataDir });
  const providers = { compat_api: provider, local_runner: provider, local_accel: provider, universal: provider };
  const chat = new Chat({ projects, providers, providerOf, store });
  const close = async (): Promise<void> => {
    await chat.close();
    await store.close();
  };
  return { dataDir, projects, chat, close } as Runtime;
}

process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
