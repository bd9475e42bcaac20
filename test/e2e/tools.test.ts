import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { type DaemonUnderTest, emptyDataDir, runToEnd, startDaemon } from '../support/daemon.js';
import { delta, frames, type Scene, ScriptedOpenAI, type Seen, say, usage } from '../support/scripted-openai.js';

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

interface Asked {
  messages: { role: string; content: string | null; tool_call_id?: string }[];
  tools?: { function: { name: string } }[];
}

/** A model that adds by the tool of the server, and lights the lamp of the client where it is asked to. */
function model({ body }: Seen): Scene {
  const { messages, tools = [] } = body as Asked;
  const asked = messages.findLast(({ role }) => role === 'user')!.content!;
  const given = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1).filter(({ role }) => role === 'tool');
  const call = (index: number, name: string, args: object): object => ({
    index,
    id: `call_${given.length}_${index}`,
    function: { name: tools.find((one) => one.function.name.includes(name))!.function.name, arguments: JSON.stringify(args) },
  });
  const calls = (...made: object[]): Scene => ({
    steps: frames(delta({ content: 'Let me see. ' }), delta({ tool_calls: made }), delta({}, 'tool_calls'), usage(10, 5), '[DONE]'),
  });
  if (given.length === 0) {
    if (asked.includes('dig')) return calls(call(0, 'long-running', { duration: 0.4, steps: 2 }));
    if (asked.includes('echo')) return calls(call(0, 'echo', { message: 'Hi there' }));
    const add = call(0, 'get-sum', { a: 2, b: 40 });
    return asked.includes('lamp') ? calls(add, call(1, 'lamp', { on: true })) : calls(add);
  }
  return say(`The tools said: ${given.map(({ content }) => content).join(' / ')}`);
}

/** The official client and the AI SDK, which know nothing of tools of servers, against a project that has them. */
describe('clients of OpenAI and a project whose tools are called by the server', () => {
  let daemon: DaemonUnderTest;
  let host: ScriptedOpenAI;
  let baseURL: string;
  const SUM = /The tools said: .*\b42\b/;
  const question = [{ role: 'user' as const, content: 'What is 2 + 40?' }];
  const lamp = {
    description: 'Lights a lamp',
    schema: { type: 'object' as const, properties: { on: { type: 'boolean' as const } }, required: ['on'] },
  };

  before(async () => {
    host = await ScriptedOpenAI.start();
    host.always(model);
    const dataDir = emptyDataDir();
    const folder = join(dataDir, 'projects', 'ns', 'agent');
    mkdirSync(folder, { recursive: true });
    const project = {
      version: 'v1',
      name: 'agent',
      namespace: 'ns',
      runtime: { models: [{ name: 'm', provider: 'compat_api', model: 'm', base_url: host.base }] },
      mcp: { servers: [{ name: 'everything', transport: 'stdio', command: process.execPath, args: [EVERYTHING, 'stdio'], ask: ['echo'] }] },
    };
    writeFileSync(join(folder, 'project.yaml'), JSON.stringify(project));
    daemon = await startDaemon({ dataDir });
    baseURL = `${daemon.core}/v1/projects/ns/agent`;
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await host.close();
  });

  it('the official client: whole, streamed, and with a tool of its own in the same message', async () => {
    const client = new OpenAI({ apiKey: 'none', maxRetries: 0, baseURL });
    const whole = await client.chat.completions.create({ model: 'm', messages: question });
    assert.match(whole.choices[0]!.message.content!, SUM);
    assert.deepEqual([whole.choices[0]!.finish_reason, whole.choices[0]!.message.tool_calls], ['stop', undefined]);
    assert.equal(whole.usage!.prompt_tokens, 17);
    const streamed = await client.chat.completions.stream({ model: 'm', messages: question, stream: true }).finalChatCompletion();
    assert.equal(streamed.choices[0]!.message.content, whole.choices[0]!.message.content);
    assert.equal(streamed.choices[0]!.message.tool_calls, undefined);
    const runner = client.chat.completions.runTools({
      model: 'm',
      messages: [{ role: 'user', content: 'Add 2 and 40, and light the lamp.' }],
      tools: [
        {
          type: 'function',
          function: { name: 'lamp', description: lamp.description, parameters: lamp.schema, function: (_args: string) => 'lit' },
        },
      ],
    });
    assert.match((await runner.finalContent())!, /The tools said: .*lit/);
  });

  it('the AI SDK: whole, streamed, and with a tool of its own in the same message', async () => {
    const { chatModel } = createOpenAICompatible({ name: 'quern', baseURL, includeUsage: true });
    const plain = { model: chatModel('m'), maxRetries: 0, stopWhen: stepCountIs(5) };
    const whole = await generateText({ ...plain, messages: question });
    assert.match(whole.text, SUM);
    assert.deepEqual([whole.finishReason, whole.toolCalls, whole.steps.length], ['stop', [], 1]);
    const streamed = streamText({ ...plain, messages: question });
    assert.equal(await streamed.text, whole.text);
    assert.deepEqual([await streamed.finishReason, await streamed.toolCalls], ['stop', []]);
    assert.equal((await streamed.usage).inputTokens, 17);
    let lit = 0;
    const execute = async (): Promise<string> => {
      lit += 1;
      return 'lit';
    };
    const tools = {
      lamp: tool({ description: lamp.description, inputSchema: jsonSchema<{ on: boolean }>(lamp.schema), execute }),
    };
    const asked = { ...plain, tools, prompt: 'Add 2 and 40, and light the lamp.' };
    assert.match((await generateText(asked)).text, /The tools said: .*lit/);
    assert.match(await streamText(asked).text, /The tools said: .*lit/);
    assert.equal(lit, 2);
  });

  it('a client that knows: the progress of a long call, and a call that a person allows', async () => {
    const post = (path: string, body: object): Promise<Response> =>
      fetch(baseURL + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    const ask = (content: string, stream: boolean): Promise<Response> =>
      post('/chat/completions', { messages: [{ role: 'user', content }], stream });
    const stream = await (await ask('dig', true)).text();
    assert.match(stream, /event: tool_progress\ndata: .*"progress":1,"total":2/);
    assert.match(stream, /event: tool_result\n/);
    const first = (await (await ask('echo', false)).json()) as { x_waiting: [{ id: string }] };
    const decided = await post(`/mcp/calls/${first.x_waiting[0].id}`, { decision: 'allow' });
    const { completion } = (await decided.json()) as { completion: OpenAI.ChatCompletion };
    assert.match(completion.choices[0]!.message.content!, /The tools said: .*Hi there/);
    await (await ask('echo', false)).text();
    const port = ['--port', new URL(daemon.core).port];
    const { output } = await runToEnd(['mcp', 'calls', 'ns/agent', ...port]);
    const [call] = /ns\/agent\/mcall_\w+/.exec(output)!;
    assert.match(output, /everything\/echo +\{"message":"Hi there"\}/);
    assert.match((await runToEnd(['mcp', 'allow', call, ...port])).output, /^allowed\n\n.*The tools said: .*Hi there/s);
    assert.match((await runToEnd(['mcp', 'deny', call, ...port])).output, /No call waits as/);
  });
});
