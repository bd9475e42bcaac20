import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOllama, OllamaEmbeddings } from '@langchain/ollama';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { Ollama as LlamaIndexOllama } from '@llamaindex/ollama';
import { openai as llamaIndexOpenAI } from '@llamaindex/openai';
import { embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { Ollama } from 'ollama';
import OpenAI from 'openai';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { decidedPuppetPath } from '../support/models/cache.js';
import { PUPPET_SCRIPTS, PUPPET_TOOL_ANSWERS } from '../support/models/puppet-scripts.js';
import { writeTinyEncoders } from '../support/models/tiny-encoders.js';

const HELLO = PUPPET_SCRIPTS.hello.answer;
const SUNNY = PUPPET_TOOL_ANSWERS.get_weather.answer;
const city = { type: 'object' as const, properties: { city: { type: 'string' as const } }, required: ['city'] };
const model = 'puppet';
const embedder = 'tiny/embedder';
const apiKey = 'none';
/** What a model that goes on with any text is asked, to go on in its answer. */
const story = { model: 'quern-tiny', messages: [{ role: 'user' as const, content: 'Write a story about a mill.' }] };
/** The types of the newest SDK know no temperature; the API does. */
const greedy = { temperature: 0 };
const firstWords = (text: string): string => text.split(' ').slice(0, 6).join(' ');

async function joined<Item>(stream: AsyncIterable<Item>, textOf: (item: Item) => string | null | undefined): Promise<string> {
  let text = '';
  for await (const item of stream) text += textOf(item) ?? '';
  return text;
}

describe('clients that people already use', () => {
  const dataDir = emptyDataDir();
  let daemon: DaemonUnderTest;
  let v1: string;
  before(async () => {
    mkdirSync(join(dataDir, 'models'));
    copyFileSync(decidedPuppetPath(), join(dataDir, 'models', 'puppet.gguf'));
    writeTinyEncoders(join(dataDir, 'models'));
    daemon = await startDaemon({ dataDir });
    v1 = `${daemon.runtime}/v1`;
  });
  after(() => daemon.end('SIGKILL'));

  it('openai: responses, completions and models', async () => {
    const client = new OpenAI({ apiKey, baseURL: v1, maxRetries: 0 });
    const first = await client.responses.create({ model, input: 'hello' });
    assert.equal(first.output_text, HELLO);
    const next = await client.responses.create({ model, input: 'stops', previous_response_id: first.id });
    assert.equal(next.output_text, PUPPET_SCRIPTS.stops.answer);
    assert.equal((await client.responses.inputTokens.count({ model, input: 'hello' })).input_tokens, first.usage?.input_tokens);
    const stream = await client.responses.create({ model, input: 'hello', stream: true });
    assert.equal(await joined(stream, (event) => (event.type === 'response.output_text.delta' ? event.delta : '')), HELLO);
    const run = client.responses.stream({
      model,
      input: 'weather',
      tools: [{ type: 'function', name: 'get_weather', parameters: city, strict: false }],
    });
    const [call] = (await run.finalResponse()).output;
    assert.ok(call?.type === 'function_call' && call.arguments === '{"city":"Paris"}', JSON.stringify(call));
    assert.equal((await client.responses.retrieve(first.id)).status, 'completed');
    assert.equal((await client.responses.inputItems.list(first.id)).data.length, 1);
    await client.responses.delete(first.id);
    await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
    const text = await client.completions.create({
      model,
      prompt: '<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n',
      max_tokens: 99,
    });
    assert.equal(text.choices[0]!.text, HELLO);
    assert.equal((await client.models.retrieve(model)).id, model);
    await assert.rejects(client.responses.create({ model: 'gpt-none', input: 'a' }), (error: unknown) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.code, 'model_not_found');
      return true;
    });
  });

  it('Anthropic: messages, streams, tools, counts, errors', async () => {
    const client = new Anthropic({ apiKey, baseURL: daemon.runtime, maxRetries: 0 });
    const ask = (content: string) => ({ model, max_tokens: 200, messages: [{ role: 'user' as const, content }] });
    const whole = await client.messages.create(ask('hello'));
    assert.ok(whole.content[0]?.type === 'text' && whole.content[0].text === HELLO);
    assert.equal(await client.messages.stream(ask('hello')).finalText(), HELLO);
    const tools = [{ name: 'get_weather', input_schema: city }];
    const call = (await client.messages.stream({ ...ask('weather'), tools }).finalMessage()).content.find(
      (block) => block.type === 'tool_use',
    )!;
    assert.deepEqual(call.input, { city: 'Paris' });
    const told = await client.messages.create({
      ...ask('weather'),
      tools,
      messages: [
        { role: 'user', content: 'weather' },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: 'sun' }] },
      ],
    });
    assert.ok(told.content[0]?.type === 'text' && told.content[0].text === SUNNY);
    const thinking = { type: 'enabled' as const, budget_tokens: 100 };
    const thought = await client.messages.stream({ ...ask('ponder'), thinking }).finalMessage();
    assert.deepEqual(
      thought.content.map(({ type }) => type),
      ['thinking', 'text'],
    );
    assert.ok((await client.messages.countTokens({ model, messages: [{ role: 'user', content: 'hello' }] })).input_tokens > 3);
    await assert.rejects(client.messages.create({ ...ask('a'), model: 'claude-none' }), Anthropic.NotFoundError);
    const first = await client.messages.create({ ...story, ...greedy, max_tokens: 60 });
    const text = first.content[0]?.type === 'text' ? first.content[0].text : '';
    const begun = { role: 'assistant' as const, content: firstWords(text) };
    const rest = await client.messages
      .stream({ model: story.model, ...greedy, max_tokens: 30, messages: [...story.messages, begun] })
      .finalText();
    assert.ok(rest !== '' && text.startsWith(begun.content + rest), rest);
    const endless = client.messages.stream({ ...ask('endless'), max_tokens: 8000 });
    endless.on('text', () => endless.abort());
    await assert.rejects(endless.finalMessage(), Anthropic.APIUserAbortError);
  });

  it('Ollama: chats, prompts, vectors, models, errors, abort', async () => {
    const client = new Ollama({ host: daemon.runtime });
    const messages = [{ role: 'user', content: 'hello' }];
    assert.equal((await client.chat({ model, messages })).message.content, HELLO);
    assert.equal(await joined(await client.chat({ model, messages, stream: true }), (part) => part.message.content), HELLO);
    assert.equal((await client.generate({ model, prompt: 'hello' })).response, HELLO);
    const tools = [{ type: 'function', function: { name: 'get_weather', description: '', parameters: city } }];
    const called = await client.chat({ model, messages: [{ role: 'user', content: 'weather' }], tools });
    assert.deepEqual(called.message.tool_calls?.[0]?.function.arguments, { city: 'Paris' });
    assert.equal((await client.embed({ model: embedder, input: ['a dog', 'a cat'] })).embeddings.length, 2);
    await client.create({ model: 'brief', from: model, system: 'Be brief.', parameters: { num_predict: 2 } });
    assert.equal((await client.chat({ model: 'brief', messages })).eval_count, 2);
    assert.equal((await client.show({ model: 'brief' })).system, 'Be brief.');
    assert.ok((await client.list()).models.some(({ name }) => name === 'brief:latest'));
    assert.ok((await client.ps()).models.some(({ name }) => name === 'puppet:latest'));
    await client.copy({ source: 'brief', destination: 'brief2' });
    await client.delete({ model: 'brief2' });
    await assert.rejects(client.chat({ model: 'none', messages }), { status_code: 404, message: /model 'none' not found/ });
    const whole = (await client.chat({ ...story, options: { temperature: 0, num_predict: 60 } })).message.content;
    const begun = { role: 'assistant', content: firstWords(whole) };
    const rest = (await client.chat({ ...story, messages: [...story.messages, begun], options: { temperature: 0, num_predict: 30 } }))
      .message.content;
    assert.ok(rest !== '' && whole.startsWith(begun.content + rest), rest);
    const stream = await client.chat({ model, messages: [{ role: 'user', content: 'endless' }], stream: true });
    await assert.rejects(
      joined(stream, () => {
        stream.abort();
        return '';
      }),
      { name: 'AbortError' },
    );
  });

  it('AI SDK: three providers', async () => {
    const openai = createOpenAI({ apiKey, baseURL: v1 });
    const compatible = createOpenAICompatible({ name: 'quern', baseURL: v1 });
    const providers = {
      responses: openai(model),
      compatible: compatible(model),
      anthropic: createAnthropic({ apiKey, baseURL: v1 })(model),
    };
    const tools = { get_weather: tool({ inputSchema: jsonSchema<{ city: string }>(city), execute: async () => 'sun' }) };
    for (const [name, one] of Object.entries(providers)) {
      const common = { model: one, maxRetries: 0 };
      assert.equal((await generateText({ ...common, prompt: 'hello' })).text, HELLO, name);
      assert.equal(await joined(streamText({ ...common, prompt: 'hello' }).textStream, (text) => text), HELLO, name);
      const used = await generateText({ ...common, prompt: 'weather', tools, stopWhen: stepCountIs(2) });
      assert.equal(used.text, SUNNY, name);
    }
    const { embeddings } = await embedMany({ model: compatible.textEmbeddingModel(embedder), values: ['a dog', 'a cat'] });
    assert.equal(embeddings.length, 2);
  });

  it('LangChain: OpenAI, Ollama, Anthropic', async () => {
    const chats = {
      openai: new ChatOpenAI({ apiKey, model, maxRetries: 0, configuration: { baseURL: v1 } }),
      responses: new ChatOpenAI({ apiKey, model, maxRetries: 0, useResponsesApi: true, configuration: { baseURL: v1 } }),
      ollama: new ChatOllama({ model, maxRetries: 0, baseUrl: daemon.runtime }),
      anthropic: new ChatAnthropic({ apiKey, model, maxRetries: 0, maxTokens: 200, anthropicApiUrl: daemon.runtime }),
    };
    for (const [name, chat] of Object.entries(chats)) {
      assert.equal((await chat.invoke('hello')).text, HELLO, name);
      assert.equal(await joined(await chat.stream('hello'), (chunk) => chunk.text), HELLO, name);
      const definition = { type: 'function' as const, function: { name: 'get_weather', description: 'weather', parameters: city } };
      const { tool_calls: calls } = await chat.bindTools!([definition]).invoke('weather');
      assert.deepEqual(
        calls?.map(({ args }) => args),
        [{ city: 'Paris' }],
        name,
      );
    }
    const vectors = [
      await new OpenAIEmbeddings({ apiKey, model: embedder, configuration: { baseURL: v1 } }).embedQuery('a dog'),
      await new OllamaEmbeddings({ model: embedder, baseUrl: daemon.runtime }).embedQuery('a dog'),
    ];
    assert.deepEqual(
      vectors.map(({ length }) => length),
      [64, 64],
    );
  });

  it('LlamaIndex: OpenAI and Ollama', async () => {
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const llms = {
      openai: llamaIndexOpenAI({ apiKey, model, baseURL: v1 }),
      ollama: new LlamaIndexOllama({ model, config: { host: daemon.runtime } }),
    };
    for (const [name, llm] of Object.entries(llms)) {
      assert.equal((await llm.chat({ messages })).message.content, HELLO, name);
      assert.equal(await joined(await llm.chat({ messages, stream: true }), ({ delta }) => delta), HELLO, name);
    }
  });

  it('find the models that they made after the daemon was killed', async () => {
    await new Ollama({ host: daemon.runtime }).create({ model: 'kept', from: model, system: 'Be brief.' });
    await daemon.end('SIGKILL');
    daemon = await startDaemon({ dataDir });
    assert.equal((await new Ollama({ host: daemon.runtime }).show({ model: 'kept' })).system, 'Be brief.');
  });
});
