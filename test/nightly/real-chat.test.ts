import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked at loosely here
type Loose = any;

const model = process.env.QUERN_NIGHTLY_MODEL ?? '';
/** Small enough for 135 million parameters to answer rightly. */
const COLOUR = 'What colour is the sky on a clear day?';
const LONG_LIMIT_MS = 600_000;

const user = (content: string): object[] => [{ role: 'user', content }];

describe('real chat', { skip: model === '' ? 'npm run nightly fetches the model' : false }, () => {
  let daemon: DaemonUnderTest;

  before(async () => {
    daemon = await startDaemon();
  });
  after(async () => {
    await daemon?.end();
  });

  const post = (body: object, base = daemon.runtime, path = '/v1/chat/completions'): Promise<Response> =>
    fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

  /** The message of an answer at temperature 0. */
  async function ask(messages: object[], more: object = {}): Promise<Loose> {
    const response = await post({ model, messages, temperature: 0, max_tokens: 48, ...more });
    const body: Loose = await response.json();
    assert.equal(response.status, 200, JSON.stringify(body));
    return { ...body.choices[0].message, finish: body.choices[0].finish_reason, body };
  }

  it('answers a plain question', async () => {
    const { content, finish, body } = await ask(user('Write the word banana.'));
    assert.match(content, /banana/);
    assert.equal(finish, 'stop');
    assert.ok(body.usage.prompt_tokens > 10 && body.usage.completion_tokens > 2);
  });

  it('follows a system prompt', async () => {
    const system = { role: 'system', content: 'Your name is Zorvak. Always say that your name is Zorvak.' };
    assert.match((await ask([system, ...user('What is your name?')])).content, /Zorvak/);
  });

  it('remembers the turns before', async () => {
    const turns = [...user('My favourite fruit is the mango.'), { role: 'assistant', content: 'Nice, mangoes are sweet.' }];
    assert.match((await ask([...turns, ...user('Which fruit is my favourite?')])).content, /mango/i);
  });

  it('streams what it answers whole', async () => {
    const whole = await ask(user(COLOUR), { deterministic: true });
    const response = await post({ model, messages: user(COLOUR), temperature: 0, max_tokens: 48, deterministic: true, stream: true });
    const frames = (await response.text()).split('\n\n').filter((frame) => frame.startsWith('data: '));
    assert.equal(frames.at(-1), 'data: [DONE]');
    const deltas = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)).choices[0].delta.content ?? '');
    assert.ok(deltas.length > 3);
    assert.match(whole.content, /blue/);
    assert.equal(deltas.join(''), whole.content);
  });

  it('answers in a JSON schema', async () => {
    const properties = { city: { type: 'string' }, country: { type: 'string' }, isCapital: { type: 'boolean' } };
    const schema = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
    const { content } = await ask(user('Paris is the capital of France. Write that as JSON.'), {
      max_tokens: 200,
      response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } },
    });
    const answer: Loose = JSON.parse(content);
    assert.deepEqual(Object.keys(answer).sort(), ['city', 'country', 'isCapital']);
    assert.deepEqual([typeof answer.city, typeof answer.country, typeof answer.isCapital], ['string', 'string', 'boolean']);
  });

  it('calls a tool that it must call', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const tools = [{ type: 'function', function: { name: 'get_weather', description: 'The weather of a city.', parameters } }];
    const asked = { tools, tool_choice: 'required', max_tokens: 100 };
    const { tool_calls: calls, finish } = await ask(user('What is the weather in Paris?'), asked);
    assert.equal(finish, 'tool_calls');
    assert.equal(calls[0].function.name, 'get_weather');
    assert.equal(typeof JSON.parse(calls[0].function.arguments).city, 'string');
  });

  for (const [name, sampling] of [
    ['at temperature 0', { temperature: 0 }],
    ['drawn with a seed', { temperature: 0.9, seed: 7 }],
  ] as const)
    it(`gives a deterministic answer again, alone and among others: ${name}`, async () => {
      const story = (): Promise<Loose> => ask(user('Tell a story about a lighthouse keeper.'), { ...sampling, deterministic: true });
      const { content } = await story();
      assert.equal((await story()).content, content);
      const others = Array.from({ length: 6 }, (_, i) => ask(user(`Tell me about the number ${i}.`), sampling));
      assert.equal((await story()).content, content);
      await Promise.all(others);
      assert.equal((await story()).content, content);
    });

  it('tells how far it has read a long prompt, and reads it to the end', { timeout: LONG_LIMIT_MS }, async () => {
    // The model is loaded then.
    await ask(user('hi'), { max_tokens: 1 });
    const text = Array.from({ length: 150 }, (_, i) => `Line ${i}: the parcel went to house number ${i * 7}.`).join('\n');
    const started = performance.now();
    const response = await post({ model, messages: user(`${text}\nWhat is this about?`), temperature: 0, max_tokens: 8, stream: true });
    assert.ok(performance.now() - started < 10_000, 'the stream begins long before the first token');
    const body = await response.text();
    const progress = [...body.matchAll(/^: prompt (\d+)\/(\d+)$/gm)].map(([, read, of]) => [Number(read), Number(of)] as const);
    assert.ok(progress.length > 0 && progress.every(([read, of]) => read < of && of > 2000), body.slice(0, 2000));
    assert.match(body, /"content":"[^"]+"/);
    assert.match(daemon.output(), /read a prompt of \d+ tokens .*tokensPerSecond=\d+/);
  });

  it('serves a small context', async () => {
    const { body } = await ask(user(COLOUR), { n_ctx: 128 });
    assert.equal(body.x_context_usage.total_context, 128);
  });

  it('serves a project', async () => {
    const runtime = { models: [{ name: 'smol', provider: 'universal', model, extra_body: { deterministic: true } }] };
    const config = { version: 'v1', name: 'night', namespace: 'bench', runtime };
    await post({ name: 'night', config_template: 'server' }, daemon.core, '/v1/projects/bench');
    const put = await fetch(`${daemon.core}/v1/projects/bench/night`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ config }),
    });
    assert.equal(put.status, 200, await put.text());
    const response = await post({ messages: user(COLOUR), temperature: 0 }, daemon.core, '/v1/projects/bench/night/chat/completions');
    const body: Loose = await response.json();
    assert.match(body.choices[0].message.content, /blue/, JSON.stringify(body));
  });
});
