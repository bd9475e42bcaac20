import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { CompletionRequest } from '../../../../runtime/completions/contract.js';
import { RoundRobin, runtimeBase } from '../../../../runtime/net/ask/bases.js';
import { quoteHost, readErrorBody, retryAfterMs, statusFailure } from '../../../../runtime/net/ask/failures.js';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { chatBody } from '../../../../runtime/providers/compat/body.js';
import type { Provider } from '../../../../runtime/providers/contract.js';
import { providerOf } from '../../../../runtime/providers/index.js';
import { Failure } from '../../../../schemas/errors.js';
import type { ModelConfig } from '../../../../schemas/generated/config/project.js';
import { NEVER, readAll } from '../../../conformance/provider-suite.js';
import { testedProviders } from '../../../support/providers.js';
import { delta, frames, json, ScriptedOpenAI, say } from '../../../support/scripted-openai.js';

const REQUEST: CompletionRequest = { messages: [{ role: 'user', content: 'go' }] };
const modelOf = (members: Partial<ModelConfig>): ModelConfig =>
  ({ name: 'tested', provider: 'compat_api', model: 'm', ...members }) as ModelConfig;
const inProcess: Provider = {
  open: async () => ({
    model: 'in process',
    parts: (async function* () {})(),
  }),
};

describe('the provider of a model', () => {
  it('is found by either spelling', () => {
    const names = {
      openai: 'compat_api',
      ollama: 'local_runner',
      lemonade: 'local_accel',
      universal: 'universal',
      compat_api: 'compat_api',
      local_runner: 'local_runner',
      local_accel: 'local_accel',
    };
    for (const [spelling, id] of Object.entries(names))
      assert.equal(providerOf(modelOf({ provider: spelling as ModelConfig['provider'] })), id);
  });
});

describe('providers', () => {
  let outbound: Outbound;
  let host: ScriptedOpenAI;
  beforeEach(async () => {
    outbound = new Outbound();
    host = await ScriptedOpenAI.start();
  });
  afterEach(async () => {
    await outbound.close();
    await host.close();
  });
  const providers = (more: Partial<Parameters<typeof testedProviders>[0]> = {}) =>
    testedProviders({
      outbound,
      universal: inProcess,
      settings: { retry: { attempts: 3, baseMs: 1 }, limits: { headersMs: 2000 } },
      ...more,
    });
  const failure = async (work: Promise<unknown>): Promise<Failure> => {
    const error = await work.then(
      () => assert.fail('it did not fail'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Failure, `${error}`);
    return error;
  };

  it('compat_api needs a base_url, and refuses metadata and link-local hosts', async () => {
    const { compat_api } = providers();
    const { kind, code, message } = await failure(compat_api.open(modelOf({}), REQUEST, NEVER));
    assert.deepEqual([kind, code], ['bad_request', 'BaseUrlMissing']);
    assert.match(message, /'tested'.*base_url/);
    for (const base_url of ['http://169.254.169.254/v1', 'http://[fe80::1]/v1', 'http://0xa9fea9fe/v1', 'ftp://host/v1', 'nonsense'])
      assert.equal((await failure(compat_api.open(modelOf({ base_url }), REQUEST, NEVER))).kind, 'bad_request', base_url);
  });

  it('base_url and api_key are expanded at use; a missing variable is named', async () => {
    process.env.QUERN_TEST_BASE = host.base;
    process.env.QUERN_TEST_KEY = 'from-the-environment';
    host.script(say('hi'));
    const { compat_api } = providers();
    const model = modelOf({ base_url: '${env:QUERN_TEST_BASE}', api_key: '${env:QUERN_TEST_KEY}' });
    await readAll((await compat_api.open(model, REQUEST, NEVER)).parts);
    assert.equal(host.seen[0]!.headers.authorization, 'Bearer from-the-environment');
    delete process.env.QUERN_TEST_KEY;
    assert.match((await failure(compat_api.open(model, REQUEST, NEVER))).message, /QUERN_TEST_KEY/);
    delete process.env.QUERN_TEST_BASE;
  });

  it('a key that cannot be a header is refused without being shown', async () => {
    const error = await failure(providers().compat_api.open(modelOf({ base_url: host.base, api_key: 'canary\r\nx: y' }), REQUEST, NEVER));
    assert.equal(error.kind, 'bad_request');
    assert.doesNotMatch(error.message, /canary/);
    assert.equal(host.opened, 0);
  });

  it('a host that is not there is unavailable, with its address', async () => {
    const base = host.base;
    await host.close();
    const error = await failure(providers().local_runner.open(modelOf({ provider: 'local_runner', base_url: base }), REQUEST, NEVER));
    assert.deepEqual([error.kind, error.status], ['unavailable', 503]);
    assert.ok(error.message.includes(`runtime not available at ${base}`), error.message);
    host = await ScriptedOpenAI.start();
  });

  it('local_runner turns think into effort', async () => {
    host.always(say('hi'));
    const { local_runner } = providers();
    const cases: [Partial<CompletionRequest>, string | undefined][] = [
      [{}, undefined],
      [{ think: false }, 'none'],
      [{ think: true }, 'medium'],
      [{ think: true, thinking_budget: 100 }, 'low'],
      [{ think: true, thinking_budget: 9000 }, 'high'],
    ];
    for (const [members, expected] of cases) {
      await readAll(
        (await local_runner.open(modelOf({ provider: 'ollama', base_url: host.base }), { ...REQUEST, ...members }, NEVER)).parts,
      );
      assert.equal((host.seen.at(-1)!.body as { reasoning_effort?: string }).reasoning_effort, expected);
    }
  });

  it('prompt_based tools go into the text and come back as calls', async () => {
    host.always(say('Let me see. <tool', '_call>{"name":"weather","argu', 'ments":{"city":"Bonn"}}</tool_call>'));
    const model = modelOf({ base_url: host.base, tool_call_strategy: 'prompt_based' });
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }];
    const messages: CompletionRequest['messages'] = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'rain' },
    ];
    const { whole } = await readAll((await providers().compat_api.open(model, { messages, tools }, NEVER)).parts);
    assert.deepEqual([whole.text, whole.finishReason], ['Let me see.', 'tool_calls']);
    assert.deepEqual(
      whole.toolCalls.map((call) => call.function),
      [{ name: 'weather', arguments: '{"city":"Bonn"}' }],
    );
    const body = host.seen[0]!.body as { tools?: unknown; messages: { role: string; content: string }[] };
    assert.equal(body.tools, undefined);
    assert.deepEqual(
      body.messages.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user'],
    );
    assert.match(body.messages[0]!.content, /"name":"weather"/);
    const result = messages.slice(2);
    await readAll((await providers().compat_api.open(model, { messages: result }, NEVER)).parts);
    assert.equal((host.seen.at(-1)!.body as typeof body).messages[0]!.role, 'user', 'a result whose call is gone becomes text too');
    const plain = await readAll((await providers().compat_api.open(model, { messages, tools, tool_choice: 'none' }, NEVER)).parts);
    assert.equal(plain.whole.toolCalls.length, 0);
  });

  it('universal stays in process unless told otherwise', async () => {
    host.always(say('hi'));
    const near = providers({ runtimePort: 4711 }).universal;
    for (const base_url of [undefined, 'http://127.0.0.1:11540/v1', 'http://localhost:11540', 'http://[::1]:4711/v1'])
      assert.equal((await near.open(modelOf({ provider: 'universal', base_url: base_url as string }), REQUEST, NEVER)).model, 'in process');
    assert.equal((await near.open(modelOf({ provider: 'universal', base_url: host.base }), REQUEST, NEVER)).model, 'scripted');
    const far = providers({ runtimeUrls: [host.origin] }).universal;
    assert.equal(
      (await far.open(modelOf({ provider: 'universal', base_url: 'http://127.0.0.1:11540' }), REQUEST, NEVER)).model,
      'scripted',
    );
  });

  it('a remote runtime gets its own members and gives back thinking and context', async () => {
    const context = {
      total_context: 100,
      prompt_tokens: 3,
      available_for_completion: 97,
      truncated: false,
      truncated_messages: 0,
      strategy_used: null,
    };
    host.script({ steps: frames(delta({ reasoning_content: 'why' }), { ...delta({}, 'stop'), x_context_usage: context }, '[DONE]') });
    const request = { ...REQUEST, think: true, thinking_budget: 5, n_ctx: 512, extra: { n_batch: 64, truncation_strategy: 'middle_out' } };
    const completion = await providers({ runtimeUrls: [host.origin] }).universal.open(modelOf({ provider: 'universal' }), request, NEVER);
    const { whole } = await readAll(completion.parts);
    const { think, thinking_budget, n_ctx, n_batch, truncation_strategy } = host.seen[0]!.body as Record<string, unknown>;
    assert.deepEqual([think, thinking_budget, n_ctx, n_batch, truncation_strategy], [true, 5, 512, 64, 'middle_out']);
    // As in process: nothing is dropped from a history unless the project says so.
    assert.equal((host.seen[0]!.body as { auto_truncate?: boolean }).auto_truncate, false);
    assert.deepEqual([whole.reasoning, completion.contextUsage], ['why', context]);
  });

  it('a remote runtime is told how a model is loaded, by its entry alone', async () => {
    host.always(say('hi'));
    const { universal } = providers({ runtimeUrls: [host.origin] });
    const told = async (members: Partial<ModelConfig>, extra: Record<string, unknown> = {}): Promise<unknown[]> => {
      await readAll((await universal.open(modelOf({ provider: 'universal', ...members }), { ...REQUEST, extra }, NEVER)).parts);
      const { keep_loaded, transformers } = host.seen.at(-1)!.body as Record<string, unknown>;
      return [keep_loaded, transformers];
    };
    const transformers = { device: 'cpu', dtype: 'fp16', model_type: 'text' } as const;
    assert.deepEqual(await told({ keep_loaded: true, transformers }), [true, { device: 'cpu', dtype: 'fp16', model_type: 'text' }]);
    assert.deepEqual(await told({ keep_loaded: false, transformers: { model_type: 'text' } }), [undefined, { model_type: 'text' }]);
    // In process what a client sends beside the model's entry means nothing either.
    assert.deepEqual(await told({}, { keep_loaded: true, transformers: { device: 'mps' } }), [undefined, undefined]);
  });

  it("a remote runtime's failures pass on unchanged", async () => {
    const context_usage = { total_context: 8, prompt_tokens: 9, available_for_completion: 0 };
    const errors = [{ type: 'less_than_equal', loc: ['body', 'messages', 0], msg: 'must be <= 2', input: 3 }];
    const long = `first line\n${'long '.repeat(400)}`;
    host.script(
      json({ detail: { error: 'context_length_exceeded', message: 'too long', context_usage } }, 400),
      json({ detail: 'no such model' }, 404),
      json({ detail: long, error: 'invalid', message: long, errors, limit: 7, request_id: 'req_there' }, 422),
      json({ detail: errors }, 422),
      json({ detail: 'no', error: { message: 'no', type: 'invalid_request_error', param: null, code: null }, message: 'no' }, 400),
    );
    const { universal } = providers({ runtimeUrls: [host.origin] });
    const first = await failure(universal.open(modelOf({ provider: 'universal' }), REQUEST, NEVER));
    assert.deepEqual(
      [first.kind, first.code, first.message, first.fields],
      ['bad_request', 'context_length_exceeded', 'too long', { context_usage }],
    );
    const second = await failure(universal.open(modelOf({ provider: 'universal' }), REQUEST, NEVER));
    assert.deepEqual([second.status, second.message], [404, 'no such model']);
    const third = await failure(universal.open(modelOf({ provider: 'universal' }), REQUEST, NEVER));
    assert.deepEqual(
      [third.kind, third.code, third.message, third.errors, third.fields],
      ['invalid', 'invalid', long, errors, { limit: 7 }],
    );
    const listed = await failure(universal.open(modelOf({ provider: 'universal' }), REQUEST, NEVER));
    assert.deepEqual([listed.status, listed.message, listed.errors], [422, 'must be <= 2', errors]);
    const untold = await failure(universal.open(modelOf({ provider: 'universal' }), REQUEST, NEVER));
    assert.deepEqual([untold.kind, untold.code, untold.message, untold.fields], ['bad_request', 'bad_request', 'no', undefined]);
  });

  it("a remote runtime's failures pass on without the key that it was sent", async () => {
    host.script(json({ detail: 'canary-key is wrong' }, 401));
    const { universal } = providers();
    const model = modelOf({ provider: 'universal', base_url: host.base, api_key: 'canary-key' });
    assert.equal((await failure(universal.open(model, REQUEST, NEVER))).message, '[redacted] is wrong');
  });

  it('several runtimes are used in turn, and the next when one fails', async () => {
    const other = await ScriptedOpenAI.start();
    host.always(say('one'));
    other.always(say('two'));
    const { universal } = providers({ runtimeUrls: [host.origin, `${other.origin}/v1/`] });
    const ask = async (): Promise<string> =>
      (await readAll((await universal.open(modelOf({ provider: 'universal' }), REQUEST, NEVER)).parts)).whole.text;
    assert.deepEqual([await ask(), await ask(), await ask()], ['one', 'two', 'one']);
    await other.close();
    assert.deepEqual([await ask(), await ask(), await ask()], ['one', 'one', 'one']);
    host.always(json({}, 503));
    await failure(ask());
  });

  it('a runtime of --runtime-url that is not there, or is something else, is told by that setting', async () => {
    const model = modelOf({ provider: 'universal' });
    host.always({ headers: { 'content-type': 'text/html' }, steps: [{ send: '<p>' }] });
    const strange = await failure(providers({ runtimeUrls: [host.origin] }).universal.open(model, REQUEST, NEVER));
    assert.match(strange.message, /not the chat API: check --runtime-url \(RUNTIME_URL\)\.$/);
    const gone = await failure(providers({ runtimeUrls: ['http://127.0.0.1:9'] }).universal.open(model, REQUEST, NEVER));
    assert.match(gone.message, /Start it, or correct --runtime-url \(RUNTIME_URL\)\.$/);
  });
});

describe('round robin', () => {
  it('passes over what failed for ten seconds, unless all failed', () => {
    let now = 0;
    const bases = new RoundRobin(['a', 'b', 'c'], () => now);
    const none = new Set<string>();
    bases.failed('b');
    assert.deepEqual([bases.pick(none), bases.pick(none), bases.pick(none)], ['a', 'c', 'a']);
    now = 10_001;
    assert.equal(bases.pick(none), 'b');
    for (const base of ['a', 'b', 'c']) bases.failed(base);
    assert.equal(bases.pick(none), 'c');
    assert.equal(bases.pick(new Set(['a', 'c'])), 'b');
    bases.worked('a');
    assert.equal(bases.pick(none), 'a');
  });

  it('counts a runtime that is named twice once', () => {
    assert.equal(new RoundRobin(['a', 'b', 'a']).count, 2);
  });

  it('takes runtime URLs with and without the version', () => {
    for (const url of ['http://h:11540', 'http://h:11540/', 'http://h:11540/v1', ' http://h:11540/v1/ '])
      assert.equal(runtimeBase(url), 'http://h:11540/v1');
    assert.equal(runtimeBase('http://h/api/v1'), 'http://h/api/v1');
  });
});

describe('bodies', () => {
  it('leave out nulls and empty lists, and fill in calls', () => {
    const body = chatBody(modelOf({}), {
      messages: [
        { role: 'assistant', content: null, name: null, tool_calls: [{ id: 'a', function: { name: 'f' } }] },
        { role: 'tool', content: 'x', tool_call_id: 'a' },
        { role: 'assistant', content: 'y', tool_calls: [] },
      ],
      tools: [],
      tool_choice: 'auto',
      think: true,
      n_ctx: 5,
      stop: [],
    } as unknown as CompletionRequest);
    assert.deepEqual(body, {
      model: 'm',
      max_tokens: 512,
      messages: [
        { role: 'assistant', content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', content: 'x', tool_call_id: 'a' },
        { role: 'assistant', content: 'y' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('name no length to our own runtime, which knows its context', () => {
    assert.equal(chatBody(modelOf({}), REQUEST, { ours: true }).max_tokens, undefined);
    assert.equal(chatBody(modelOf({}), { ...REQUEST, max_tokens: 5 }, { ours: true }).max_tokens, 5);
  });

  it('take extra members, which win, but not over how the answer is read', () => {
    const body = chatBody(modelOf({}), {
      ...REQUEST,
      max_tokens: 5,
      temperature: 1,
      extra: { temperature: 0, stream: false, messages: [], n: 4, max_completion_tokens: 9 },
    });
    assert.deepEqual(
      [body.temperature, body.stream, body.n, body.max_tokens, body.max_completion_tokens],
      [0, true, undefined, undefined, 9],
    );
    assert.equal((body.messages as unknown[]).length, 1);
  });
});

describe('extra_body', () => {
  it('of the model is expanded and the request wins, whose own strings stay as they are', () => {
    process.env.QUERN_TEST_EXTRA = 'expanded';
    const written = ['$', '{env:QUERN_TEST_EXTRA}'].join('');
    const model = modelOf({ extra_body: { a: written, b: 1, deep: { c: [written] } } });
    const body = chatBody(model, { ...REQUEST, extra: { a: written, b: 2, d: written } });
    assert.deepEqual([body.a, body.b, body.deep, body.d], ['expanded', 2, { c: ['expanded'] }, written]);
    delete process.env.QUERN_TEST_EXTRA;
  });
});

describe('errors of hosts', () => {
  it('are read in every shape', () => {
    const cases: [unknown, string, string][] = [
      [{ error: { message: 'a', code: 'c' } }, 'a', 'c'],
      [{ error: { message: 'a', type: 't', code: null } }, 'a', 't'],
      [{ error: 'a' }, 'a', 'a'],
      [{ detail: 'a' }, 'a', ''],
      [{ detail: { error: 'c', message: 'a' } }, 'a', 'c'],
      [{ detail: [{ msg: 'a' }] }, 'a', ''],
      [{ message: 'a' }, 'a', ''],
      ['plain', 'plain', ''],
      ['<html>x</html>', '', ''],
      [null, '', ''],
      [[1], '', ''],
    ];
    for (const [body, message, code] of cases) assert.deepEqual(readErrorBody(body), { message, code });
  });

  it('are repeated without secrets, in one bounded line', () => {
    assert.equal(quoteHost('bad my-key\n\u0000here', 'my-key'), 'bad [redacted] here');
    assert.doesNotMatch(quoteHost('Incorrect key sk-abcd***wxyz, Bearer tok123', undefined), /abcd|tok123/);
    assert.ok(quoteHost('x'.repeat(9000), undefined).length < 600);
  });

  it('have a kind for every status', () => {
    const upstream = { name: 'n', model: 'm', base: 'http://h/v1' };
    for (let status = 300; status < 600; status++) {
      const { kind, message } = statusFailure(status, { message: 'words', code: '' }, upstream);
      assert.ok(message.includes('http://h/v1'), message);
      assert.ok(status >= 500 || ['bad_request', 'too_many', 'too_large', 'timed_out'].includes(kind), `${status} ${kind}`);
    }
  });

  it('say when to come back', () => {
    const wait = (headers: Record<string, string>): number | undefined => retryAfterMs({ header: (name) => headers[name] }, 1000);
    assert.equal(wait({ 'retry-after': '3' }), 3000);
    assert.equal(wait({ 'retry-after-ms': '70', 'retry-after': '3' }), 70);
    assert.equal(wait({ 'retry-after': new Date(61_000).toUTCString() }), 60_000);
    assert.equal(wait({ 'retry-after': 'soon' }), undefined);
    assert.equal(wait({}), undefined);
  });
});
