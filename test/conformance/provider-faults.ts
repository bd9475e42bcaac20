import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { CompletionPart } from '../../runtime/completions/contract.js';
import type { Provider } from '../../runtime/providers/contract.js';
import { Failure } from '../../schemas/errors.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { delta, frames, json, type Scene, ScriptedOpenAI, type Step, say, usage } from '../support/scripted-openai.js';
import { until } from '../support/until.js';
import { NEVER, readAll } from './provider-suite.js';

/** A provider that speaks to a scripted host, with limits that a test can wait for. */
export interface FaultStage {
  readonly provider: Provider;
  readonly model: ModelConfig;
  close(): Promise<void>;
}

/** Longer than a busy machine takes for anything here. */
const LONG_MS = 60_000;
const LIMITS = { headersMs: LONG_MS, idleMs: LONG_MS, totalMs: 2 * LONG_MS };
/** What a fault stage runs under: short waits before another try, but limits that a busy machine keeps too. */
const PATIENT = { retry: { attempts: 3, baseMs: 1, capMs: 200 }, trailerMs: LONG_MS, limits: LIMITS };

const KEY = 'sk-canary-0123456789';

interface Fault {
  readonly name: string;
  readonly scenes: readonly Scene[];
  /** The failure's kind; for our own runtime's statuses another may hold. */
  readonly kind: string;
  readonly oursKind?: string;
  readonly says?: RegExp;
  /** Text that had come before. */
  readonly text?: string;
  /** Requests that the host saw; 1 unless given. */
  readonly requests?: number;
  /** The limit that a silence breaks. */
  readonly limits?: Partial<typeof LIMITS>;
}

const part = (text: string): Step[] => frames(delta({ content: text }));
const error = (status: number, message = 'it failed', headers: Record<string, string> = {}): Scene =>
  json({ error: { message, type: 'server_error', code: null } }, status, headers);

const FAULTS: readonly Fault[] = [
  { name: 'a 400 with words', scenes: [error(400, 'temperature is odd')], kind: 'bad_request', says: /temperature is odd/ },
  {
    name: 'a context that is too long',
    scenes: [json({ error: { message: 'maximum context length is 8 tokens', code: 'context_length_exceeded' } }, 400)],
    kind: 'bad_request',
    says: /maximum context length is 8/,
  },
  { name: 'a refused key', scenes: [error(401, `wrong key ${KEY}`)], kind: 'bad_request', oursKind: 'unauthorized', says: /key/ },
  { name: 'an unknown model', scenes: [error(404, "model 'm' not found")], kind: 'bad_request', oursKind: 'not_found', says: /'m'/ },
  {
    name: 'a redirect',
    scenes: [{ status: 302, headers: { location: 'http://127.0.0.1:1/' }, steps: [] }],
    kind: 'bad_request',
    says: /redirect|302/,
  },
  { name: 'a host that always says 500', scenes: [error(500), error(500), error(500)], kind: 'model_failed', requests: 3 },
  { name: 'a host that always says 503', scenes: [error(503), error(503), error(503)], kind: 'unavailable', requests: 3 },
  { name: 'a host that always says 429', scenes: [error(429), error(429), error(429)], kind: 'too_many', requests: 3 },
  { name: 'a 429 that asks for a long wait', scenes: [error(429, 'slow down', { 'retry-after': '60' })], kind: 'too_many' },
  {
    name: 'a connection reset before the headers',
    scenes: Array<Scene>(3).fill({ silent: true, steps: ['reset'] }),
    kind: 'unavailable',
    requests: 3,
  },
  { name: 'no headers in time', scenes: [{ silent: true, steps: ['hang'] }], kind: 'timed_out', limits: { headersMs: 300 } },
  { name: 'no first token in time', scenes: [{ steps: ['hang'] }], kind: 'timed_out', limits: { idleMs: 300 } },
  {
    name: 'silence in the middle',
    scenes: [{ steps: [...part('half'), 'hang'] }],
    kind: 'timed_out',
    text: 'half',
    // Longer than the half takes that comes before.
    limits: { idleMs: 1_000 },
  },
  { name: 'a reset in the middle', scenes: [{ steps: [...part('half'), { waitMs: 100 }, 'reset'] }], kind: 'model_failed', text: 'half' },
  { name: 'a stream that stops short', scenes: [{ steps: part('half') }], kind: 'model_failed', says: /broke off/, text: 'half' },
  {
    name: 'an error object at once',
    scenes: [{ steps: frames({ error: { message: 'no memory' } }) }],
    kind: 'model_failed',
    says: /no memory/,
  },
  {
    name: 'an error object in the middle',
    scenes: [{ steps: [...part('half'), ...frames({ error: { message: 'no memory' } })] }],
    kind: 'model_failed',
    says: /no memory/,
    text: 'half',
  },
  {
    name: 'an event named error',
    scenes: [{ steps: [{ send: 'event: error\ndata: {"message":"gone"}\n\n' }] }],
    kind: 'model_failed',
    says: /gone/,
  },
  {
    name: 'broken JSON',
    scenes: [{ steps: [...part('half'), { send: 'data: {"choices":[\n\n' }] }],
    kind: 'model_failed',
    says: /JSON/,
    text: 'half',
  },
  { name: 'an event that is a list', scenes: [{ steps: frames([1]) }], kind: 'model_failed', says: /JSON object/ },
  { name: 'an event that is null', scenes: [{ steps: frames(null) }], kind: 'model_failed', says: /JSON object/ },
  {
    name: 'an event without end',
    scenes: [{ steps: [...part('half'), { send: 'data: ' }, ...Array<Step>(40).fill({ send: 'x'.repeat(65_536) }), 'hang'] }],
    kind: 'model_failed',
    says: /limit/,
    text: 'half',
  },
  {
    name: 'a web page',
    scenes: [{ headers: { 'content-type': 'text/html' }, steps: [{ send: '<html>hello</html>' }] }],
    kind: 'model_failed',
    says: /text\/html.*(?:base_url|--runtime-url)/,
  },
  { name: 'an empty answer', scenes: [{ steps: [] }], kind: 'model_failed', says: /empty/ },
  { name: 'nothing but the end', scenes: [{ steps: frames('[DONE]') }], kind: 'model_failed', says: /empty/ },
  {
    name: 'a compressed answer',
    scenes: [{ headers: { 'content-encoding': 'gzip' }, steps: [] }],
    kind: 'unavailable',
    says: /compressed/,
  },
];

const odd = (steps: readonly Step[], more: Partial<Scene> = {}): Scene => ({ ...more, steps });
const message = { role: 'assistant', content: 'fine' };

const NO_END = 'no [DONE] and no end';

/** Answers that differ from the usual form and are to be understood all the same; each is the text 'fine'. */
const ODDITIES: Readonly<Record<string, Scene>> = {
  'every byte on its own': { ...say('fi', 'ne'), cutBytes: 1 },
  'CRLF line ends': odd([
    { send: `: hello\r\n\r\ndata: ${JSON.stringify(delta({ content: 'fine' }, 'stop'))}\r\n\r\ndata: [DONE]\r\n\r\n` },
  ]),
  'comments between events': odd([
    { send: ': ping\n\n' },
    ...part('fi'),
    { send: ':\n\n: ping\n\n' },
    ...frames(delta({ content: 'ne' }, 'stop'), '[DONE]'),
  ]),
  'data over several lines': odd([
    { send: 'data: {"choices":[{"index":0,\ndata: "delta":{"content":"fine"},"finish_reason":"stop"}]}\n\n' },
  ]),
  'no [DONE]': odd(frames(delta({ content: 'fine' }), delta({}, 'stop'))),
  [NO_END]: odd([...frames(delta({ content: 'fine' }), delta({}, 'stop')), 'hang']),
  'no finish reason': odd(frames(delta({ content: 'fine' }), '[DONE]')),
  'no blank line after the last event': odd([...part('fine'), { send: `data: ${JSON.stringify(delta({}, 'stop'))}` }]),
  'a reset after the finish': odd([...frames(delta({ content: 'fine' }, 'stop')), { waitMs: 100 }, 'reset']),
  'one JSON piece': json({
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }),
  'one JSON piece without a type': {
    ...json({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    headers: { 'content-type': 'text/plain' },
  },
  'events called plain text': { ...say('fine'), headers: { 'content-type': 'text/plain' } },
  'content in parts': odd(frames(delta({ content: [{ type: 'text', text: 'fine' }] }, 'stop'), '[DONE]')),
  'events with other names': odd([
    { send: 'event: x_cache\ndata: {"hit":true}\n\n' },
    ...frames(delta({ content: 'fine' }, 'stop'), '[DONE]'),
  ]),
  '429, then an answer': say('fine'),
};

/** What every provider that speaks to a host must do when the host misbehaves. `open` is told where the host listens, and under which limits. */
export function providerFaultSuite(name: string, open: (host: ScriptedOpenAI, settings: object) => FaultStage): void {
  describe(`provider ${name}: faults of its host`, () => {
    let host: ScriptedOpenAI;
    let stage: FaultStage;
    let model: ModelConfig;
    let ours = false;
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    before(() => void process.on('unhandledRejection', note));
    after(() => void process.off('unhandledRejection', note));
    beforeEach(async () => {
      host = await ScriptedOpenAI.start();
      stage = open(host, PATIENT);
      model = { ...stage.model, api_key: KEY };
      ours = model.provider === 'universal';
    });
    afterEach(async () => {
      await stage.close();
      await host.close();
      assert.deepEqual(unhandled.splice(0), [], 'no unhandled rejection');
    });

    const reopen = async (settings: object): Promise<void> => {
      await stage.close();
      stage = open(host, { ...PATIENT, ...settings });
    };
    const request = { messages: [{ role: 'user' as const, content: 'go' }] };
    const chats = (): number => host.seen.filter((seen) => seen.path.endsWith('/chat/completions')).length;

    for (const fault of FAULTS)
      it(`${fault.name}: ${fault.kind}`, async () => {
        if (fault.limits) await reopen({ limits: { ...LIMITS, ...fault.limits } });
        host.script(...fault.scenes);
        const parts: CompletionPart[] = [];
        const failure = await (async () => {
          for await (const one of (await stage.provider.open(model, request, NEVER)).parts) parts.push(one);
        })().then(
          () => assert.fail('it did not fail'),
          (thrown: unknown) => thrown,
        );
        assert.ok(failure instanceof Failure, `${failure}`);
        assert.equal(failure.kind, ours ? (fault.oursKind ?? fault.kind) : fault.kind);
        if (fault.says) assert.match(failure.message, fault.says);
        assert.ok(!failure.message.includes(KEY), 'the key is not repeated');
        assert.equal(parts.map((one) => (one.type === 'text' ? one.text : '')).join(''), fault.text ?? '');
        assert.equal(chats(), fault.requests ?? 1);
        await until(() => host.active === 0, 'the socket is closed');
      });

    for (const [oddity, scene] of Object.entries(ODDITIES))
      it(`understands ${oddity}`, async () => {
        if (oddity.startsWith('429')) host.script(error(429, 'slow down', { 'retry-after': '0' }), error(503));
        host.script(scene);
        // What never ends is waited for as long as this.
        if (oddity === NO_END) await reopen({ trailerMs: 100 });
        const { whole } = await readAll((await stage.provider.open(model, request, NEVER)).parts);
        assert.equal(whole.text, 'fine');
        assert.equal(whole.finishReason, 'stop');
        await until(() => host.active === 0, 'the answer is over');
      });

    it('asks for a stream with usage, and sends the key in its header only', async () => {
      host.script(say('hi'));
      await readAll(
        (await stage.provider.open(model, { ...request, temperature: 0, stop: ['END'], extra: { stream: false, mine: 1 } }, NEVER)).parts,
      );
      const seen = host.seen.find((one) => one.path.endsWith('/chat/completions'))!;
      const body = seen.body as Record<string, unknown>;
      assert.equal(seen.path, '/v1/chat/completions');
      assert.equal(seen.headers.authorization, `Bearer ${KEY}`);
      assert.deepEqual([body.stream, body.stream_options, body.temperature, body.mine], [true, { include_usage: true }, 0, 1]);
      assert.deepEqual(body.stop, ['END']);
      assert.ok(!JSON.stringify(body).includes(KEY));
    });

    it('uses a connection again after a complete answer', async () => {
      const before = host.opened;
      for (let i = 0; i < 5; i++) {
        host.script(say('one'));
        await readAll((await stage.provider.open(model, request, NEVER)).parts);
        await until(() => host.active === 0, 'no answer is active');
      }
      assert.ok(host.opened - before < 5, `${host.opened - before} connections for 5 requests`);
    });

    it('an abort while it waits for the headers closes the socket', async () => {
      host.script({ silent: true, steps: ['hang'] });
      const controller = new AbortController();
      const opened = stage.provider.open(model, request, controller.signal);
      await until(() => chats() === 1, 'the request has arrived');
      controller.abort(new Error('gone'));
      await assert.rejects(opened, /gone/);
      assert.equal(await host.seen.at(-1)!.over, false);
    });

    it('an abort between two attempts ends them', async () => {
      const controller = new AbortController();
      host.script({ status: 503, steps: [{ call: () => controller.abort(new Error('gone')) }] });
      await assert.rejects(stage.provider.open(model, request, controller.signal), /gone/);
      assert.equal(chats(), 1);
    });

    it('sums up usage of a host that sends none as zeros', async () => {
      host.script(
        { steps: frames(delta({ content: 'x' }, 'stop'), '[DONE]') },
        { steps: frames(delta({ content: 'x' }, 'stop'), usage(2, 1), '[DONE]') },
      );
      const first = await readAll((await stage.provider.open(model, request, NEVER)).parts);
      const second = await readAll((await stage.provider.open(model, request, NEVER)).parts);
      assert.deepEqual([first.whole.usage.total_tokens, second.whole.usage.total_tokens], [0, 3]);
    });
  });
}
