import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';

const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'The weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const hello: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello!' }];

/** The official client against each port: same calls, same behaviour. */
for (const port of ['core', 'runtime'] as const) {
  describe(`the official client on the ${port} API`, () => {
    let daemon: DaemonUnderTest;
    let client: OpenAI;
    const model = port === 'core' ? 'default' : 'quern-standin';

    before(async () => {
      daemon = await startDaemon();
      client = new OpenAI({
        apiKey: 'none',
        maxRetries: 0,
        baseURL: port === 'core' ? `${daemon.core}/v1/projects/default/quickstart` : `${daemon.runtime}/v1`,
      });
    });
    after(() => daemon.end('SIGKILL'));

    it('chats', async () => {
      const answer = await client.chat.completions.create({ model, messages: hello, temperature: 0 });
      assert.ok(answer.choices[0]!.message.content!.length > 0);
      assert.equal(answer.choices[0]!.finish_reason, 'stop');
      assert.ok(answer.usage!.prompt_tokens > 0 && answer.usage!.completion_tokens > 0);
      assert.equal(answer.usage!.total_tokens, answer.usage!.prompt_tokens + answer.usage!.completion_tokens);
    });

    it('lists models by names that a chat takes', async () => {
      const names: string[] = [];
      for await (const { id, object } of client.models.list()) {
        assert.equal(object, 'model');
        names.push(id);
      }
      assert.ok(names.length > 0);
      for (const name of names) await client.chat.completions.create({ model: name, messages: hello, max_tokens: 2 });
    });

    it('streams the same text, with a usage frame when asked', async () => {
      const whole = await client.chat.completions.create({ model, messages: hello, temperature: 0 });
      const stream = await client.chat.completions.create({
        model,
        messages: hello,
        temperature: 0,
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = '';
      let usage: OpenAI.CompletionUsage | null | undefined;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? '';
        usage = chunk.usage ?? usage;
      }
      assert.equal(text, whole.choices[0]!.message.content);
      assert.equal(usage?.completion_tokens, whole.usage!.completion_tokens);
    });

    it('gives several choices, whole and streamed', async () => {
      const request = { model, messages: hello, n: 3, seed: 1, max_tokens: 20 };
      const whole = await client.chat.completions.create(request);
      assert.deepEqual(
        whole.choices.map((choice) => choice.index),
        [0, 1, 2],
      );
      const final = await client.chat.completions.stream({ ...request, stream: true }).finalChatCompletion();
      const byIndex = [...final.choices].sort((a, b) => a.index - b.index);
      assert.deepEqual(
        byIndex.map((choice) => choice.message.content),
        whole.choices.map((choice) => choice.message.content),
      );
      await assert.rejects(client.chat.completions.create({ ...request, n: 9 }), OpenAI.UnprocessableEntityError);
    });

    it('ends with length at max_tokens', async () => {
      const answer = await client.chat.completions.create({ model, messages: hello, max_tokens: 3 });
      assert.equal(answer.choices[0]!.finish_reason, 'length');
      assert.equal(answer.usage!.completion_tokens, 3);
    });

    it('gives log probabilities that are probabilities', async () => {
      const answer = await client.chat.completions.create({ model, messages: hello, logprobs: true, top_logprobs: 3, max_tokens: 4 });
      const content = answer.choices[0]!.logprobs!.content!;
      assert.equal(content.length, 4);
      for (const token of content) {
        assert.ok(token.logprob <= 0);
        assert.equal(token.top_logprobs.length, 3);
        assert.ok(token.top_logprobs.reduce((sum, one) => sum + Math.exp(one.logprob), 0) <= 1.0001);
      }
    });

    it('calls the tool that must be called, whole and streamed', async () => {
      const request = {
        model,
        messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] as OpenAI.ChatCompletionMessageParam[],
        tools: TOOLS,
        tool_choice: { type: 'function', function: { name: 'get_weather' } } as const,
        max_tokens: 200,
        temperature: 0,
      };
      const answer = await client.chat.completions.create(request);
      const call = answer.choices[0]!.message.tool_calls![0]!;
      assert.equal(answer.choices[0]!.finish_reason, 'tool_calls');
      assert.ok(call.type === 'function' && call.function.name === 'get_weather');
      assert.equal(typeof JSON.parse(call.function.arguments).city, 'string');
      const final = await client.chat.completions.stream({ ...request, stream: true }).finalChatCompletion();
      const streamed = final.choices[0]!.message.tool_calls![0]!;
      assert.equal(final.choices[0]!.finish_reason, 'tool_calls');
      assert.equal(typeof JSON.parse(streamed.type === 'function' ? streamed.function.arguments : '').city, 'string');
    });

    it('stops when the client aborts', async () => {
      const stream = await client.chat.completions.create({ model, messages: hello, stream: true });
      for await (const chunk of stream) {
        assert.ok(chunk.id);
        stream.controller.abort();
      }
      assert.ok((await client.chat.completions.create({ model, messages: hello })).id, 'the next request works');
    });

    it('throws the error classes that callers expect', async () => {
      await assert.rejects(client.chat.completions.create({ model: 'no-such-model', messages: hello }), (error: unknown) => {
        assert.ok(error instanceof OpenAI.APIError);
        assert.ok(error.status === (port === 'core' ? 400 : 404), String(error.status));
        assert.match(error.message, /no-such-model/);
        return true;
      });
      await assert.rejects(client.chat.completions.create({ model, messages: hello, temperature: 9 }), OpenAI.UnprocessableEntityError);
    });
  });
}
