import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Chat } from '../../runtime/chat/chat.js';
import { Completions } from '../../runtime/completions/completions.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { Projects } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import { createUniversalProvider } from '../../runtime/providers/universal.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import { emptyDataDir } from '../support/daemon.js';
import { puppetPath } from '../support/models/cache.js';
import { PUPPET_TOOL_ANSWERS } from '../support/models/puppet-scripts.js';
import { TRIGGER, TRIGGERED_ANSWER, writeTinyCausal } from '../support/models/tiny-causal/tiny-causal.js';
import { testedProviders } from '../support/providers.js';
import { delta, frames, type Scene, ScriptedOpenAI, type Seen, say, usage } from '../support/scripted-openai.js';
import { ScriptedTools } from '../support/scripted-tools.js';

const SAID = 'Together the sums are 5 and 42.';
const dataDir = emptyDataDir();
const writtenCall = (a: number, b: number): string =>
  `<tool_call>${JSON.stringify({ name: 'add_numbers', arguments: { a, b } })}</tool_call>`;
const WRITTEN_CALLS = `${writtenCall(2, 3)}\n${writtenCall(40, 2)}`;
writeTinyCausal(join(dataDir, 'models', 'tiny', 'writer'), { call: WRITTEN_CALLS });

interface Message {
  role: 'user' | 'tool';
  content: string;
}

/** A host that calls by the API, and then says what the tool gave. */
function callingHost({ body }: Seen): Scene {
  const { messages, tools } = body as { messages: Message[]; tools?: { function: { name: string } }[] };
  if (messages.at(-1)!.role === 'tool')
    return say(
      `Together the sums are ${messages
        .slice(-2)
        .map(({ content }) => content)
        .join(' and ')}.`,
    );
  const [
    {
      function: { name },
    },
  ] = tools as [{ function: { name: string } }];
  const calls = ['{"a":2,"b":3}', '{"a":40,"b":2}'].map((args, index) => ({
    index,
    id: `call_${index}`,
    function: { name, arguments: args },
  }));
  return { steps: frames(delta({ tool_calls: calls }), delta({}, 'tool_calls'), usage(7, 2), '[DONE]') };
}

/** A host that knows no tools: it calls in its text, as its prompt says. */
function writingHost({ body }: Seen): Scene {
  const { messages, tools } = body as { messages: Message[]; tools?: unknown };
  assert.equal(tools, undefined);
  assert.ok(messages.every(({ role }) => role !== 'tool'));
  const results = [...messages.at(-1)!.content.matchAll(/<tool_response>\n(.*)\n/g)].map(([, result]) => result);
  if (results.length > 0) return say(`Together the sums are ${results.join(' and ')}.`);
  return say(WRITTEN_CALLS);
}

interface Way {
  readonly model: object;
  /** Stands behind each result. */
  readonly suffix?: string;
  readonly host?: (seen: Seen) => Scene;
  /** What it says in the end. */
  readonly said: string;
}

const PUPPET = { provider: 'universal', model: puppetPath(), model_api_parameters: { temperature: 0 } };
/** Models and hosts in every way in which they call tools. */
const WAYS: Record<string, Way> = {
  'a GGUF model, by its template': { model: PUPPET, said: PUPPET_TOOL_ANSWERS.add_numbers.answer },
  // Results in the user's name tell the puppet nothing of which tool it was.
  'a GGUF model, by its prompt': { model: { ...PUPPET, tool_call_strategy: 'prompt_based' }, said: PUPPET_TOOL_ANSWERS.default.answer },
  'an ONNX model': {
    model: { provider: 'universal', model: 'tiny/writer', model_api_parameters: { temperature: 0, max_tokens: 32 } },
    suffix: TRIGGER,
    said: TRIGGERED_ANSWER,
  },
  'compat_api, by the API': { model: { provider: 'compat_api', model: 'm' }, host: callingHost, said: SAID },
  'compat_api, by its prompt': {
    model: { provider: 'compat_api', model: 'm', tool_call_strategy: 'prompt_based' },
    host: writingHost,
    said: SAID,
  },
  local_runner: { model: { provider: 'local_runner', model: 'm' }, host: callingHost, said: SAID },
  'another runtime': { model: { provider: 'universal', model: 'm' }, host: callingHost, said: SAID },
};

describe('a turn that calls tools of servers', () => {
  const tools = new ScriptedTools();
  let suffix = '';
  tools.tools = {
    add_numbers: {
      readOnly: true,
      parameters: {
        type: 'object',
        properties: { a: { type: 'integer' }, b: { type: 'integer' } },
        required: ['a', 'b'],
        additionalProperties: false,
      },
      call: ({ a, b }) => `${Number(a) + Number(b)}${suffix}`,
    },
  };
  const models = new Models({ dataDir });
  const outbound = new Outbound();
  let store: Store;
  let chat: Chat;
  let host: ScriptedOpenAI;

  before(async () => {
    store = await openStore(dataDir);
    host = await ScriptedOpenAI.start();
    const universal = createUniversalProvider(new Completions({ models }));
    chat = new Chat({ projects: new Projects({ dataDir }), providers: testedProviders({ outbound, universal }), providerOf, store, tools });
  });
  after(async () => {
    await chat.close();
    await models.close();
    await outbound.close();
    await host.close();
    await store.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  for (const [name, way] of Object.entries(WAYS)) {
    it(`${name}: whole and streamed`, async () => {
      const project = `p${Object.keys(WAYS).indexOf(name)}`;
      const folder = join(dataDir, 'projects', 'ns', project);
      const model = { name: 'm', ...way.model, ...(way.host ? { base_url: host.base } : {}) };
      const config = { version: 'v1', name: project, namespace: 'ns', runtime: { models: [model] } };
      mkdirSync(folder, { recursive: true });
      const mcp = { servers: [{ name: 'desk', transport: 'stdio', command: 'desk' }] };
      writeFileSync(join(folder, 'project.yaml'), JSON.stringify({ ...config, mcp }));
      if (way.host) host.always(way.host);
      const ask = (stream: boolean) => ({
        namespace: 'ns',
        project,
        request: { messages: [{ role: 'user', content: 'Work out each sum.' }] as [Message], stream },
        stateful: false,
      });
      const never = new AbortController().signal;
      tools.calls.length = 0;
      suffix = way.suffix ?? '';
      const body = (await (await chat.complete(ask(false), never)).body()) as {
        choices: { message: { content: string }; finish_reason: string }[];
        x_tool_calls: { name: string; failed: boolean }[];
      };
      assert.equal(body.choices[0]!.message.content, way.said);
      assert.equal(body.choices[0]!.finish_reason, 'stop');
      assert.ok(body.x_tool_calls.length > 0 && body.x_tool_calls.every((call) => call.name === 'add_numbers' && !call.failed));
      const made = tools.calls.length;
      assert.deepEqual(
        tools.calls.map(({ args }) => args),
        [
          { a: 2, b: 3 },
          { a: 40, b: 2 },
        ],
      );
      let streamed = '';
      let results = 0;
      for await (const frame of (await chat.complete(ask(true), never)).frames()) {
        for (const [, data] of frame.matchAll(/^data: (\{.*\})$/gm)) {
          const chunk = JSON.parse(data!) as { choices: { delta: { content?: string; tool_calls?: unknown } }[]; tool_result?: object };
          streamed += chunk.choices[0]?.delta.content ?? '';
          assert.equal(chunk.choices[0]?.delta.tool_calls, undefined);
          if (chunk.tool_result) results += 1;
        }
      }
      assert.equal(streamed.trim(), way.said);
      assert.equal(results, made);
    });
  }
});
