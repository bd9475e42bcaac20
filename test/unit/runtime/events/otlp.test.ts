import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { Events } from '../../../../runtime/events/events.js';
import { OtlpExporter } from '../../../../runtime/events/otlp/exporter.js';
import { otlpSettings } from '../../../../runtime/events/otlp/settings.js';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import { emptyDataDir } from '../../../support/daemon.js';
import type { Loose } from '../../../support/loaded-engine.js';

setLogLevel('error');

/** Fields of the messages of trace.proto in their JSON form, and what each must be. */
const SHAPES: Record<string, Record<string, (value: Loose) => boolean>> = {
  request: { resourceSpans: isListOf('resourceSpans') },
  resourceSpans: { resource: is('resource'), scopeSpans: isListOf('scopeSpans') },
  resource: { attributes: isListOf('attribute') },
  scopeSpans: { scope: (value) => typeof value.name === 'string', spans: isListOf('span') },
  span: {
    traceId: (value) => /^[0-9a-f]{32}$/.test(value),
    spanId: (value) => /^[0-9a-f]{16}$/.test(value),
    name: (value) => typeof value === 'string',
    kind: Number.isInteger,
    startTimeUnixNano: (value) => /^\d{19}$/.test(value),
    endTimeUnixNano: (value) => /^\d{19}$/.test(value),
    attributes: isListOf('attribute'),
    events: isListOf('event'),
    links: isListOf('link'),
    status: (value) => Object.keys(value).every((key) => ['code', 'message'].includes(key)),
  },
  event: { timeUnixNano: (value) => /^\d{19}$/.test(value), name: (value) => typeof value === 'string', attributes: isListOf('attribute') },
  link: { traceId: (value) => /^[0-9a-f]{32}$/.test(value), spanId: (value) => /^[0-9a-f]{16}$/.test(value) },
  attribute: { key: (value) => typeof value === 'string', value: is('value') },
  value: {
    stringValue: (value) => typeof value === 'string',
    boolValue: (value) => typeof value === 'boolean',
    intValue: (value) => /^-?\d+$/.test(value),
    doubleValue: Number.isFinite,
    arrayValue: (value) => isListOf('value')(value.values),
  },
};
function is(shape: string) {
  return (value: Loose): boolean => Object.entries(value).every(([name, member]) => SHAPES[shape]![name]?.(member) === true);
}
function isListOf(shape: string) {
  return (value: Loose): boolean => Array.isArray(value) && value.every(is(shape));
}

const attributesOf = (span: Loose): Record<string, unknown> =>
  Object.fromEntries(span.attributes.map(({ key, value }: Loose) => [key, Object.values(value)[0]]));

describe('traces of events', () => {
  const received: { headers: IncomingHttpHeaders; body: Loose }[] = [];
  let answers: { status: number; headers?: Record<string, string>; body?: string }[] = [];
  let server: Server;
  let base: string;
  let store: Store;
  const outbound = new Outbound();
  const config = { version: 'v1', runtime: { models: [] } } as never;
  const project = { namespace: 'ns', name: 'p', config };

  before(async () => {
    store = await openStore(emptyDataDir());
    server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece) => pieces.push(piece));
      request.on('end', () => {
        assert.equal(request.url, '/base/v1/traces');
        received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(pieces).toString()) });
        const { status, headers, body = '{}' } = answers.shift() ?? { status: 200 };
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`;
  });
  afterEach(() => {
    received.length = 0;
    answers = [];
  });
  after(async () => {
    await outbound.close();
    await store.close();
    server.close();
  });

  const open = (env: NodeJS.ProcessEnv = {}, pauseMs = 5) => {
    const settings = otlpSettings(base, { OTEL_BSP_SCHEDULE_DELAY: '10', ...env }, '1.2.3')!;
    const exporter = new OtlpExporter(outbound, settings, pauseMs);
    const events = new Events({ store, projects: { load: () => ({ config }) }, sink: exporter });
    return { exporter, events, end: () => events.close().then(() => exporter.close()) };
  };
  const spans = (): Loose[] => received.flatMap(({ body }) => body.resourceSpans[0].scopeSpans[0].spans);
  const chat = (events: Events, words = 'Where is the secret garden?'): string => {
    const recording = events.begin('inference', project, { sessionId: 's1' });
    recording.note('rag_query_start', { database: 'docs', top_k: 3 }, { query: words });
    recording.end({
      model: 'm',
      tokens: { prompt: 5, completion: 7, total: 12 },
      data: { finish_reason: 'stop', passages: [] },
      content: {
        messages: [{ role: 'user', content: words }],
        response: 'Behind the wall.',
        tool_calls: [],
        request: { temperature: 0.5, seed: 7 },
      },
      metadata: { stream: false },
    });
    return recording.id;
  };

  it('have the shape of OTLP and the names of the conventions, without what was said', async () => {
    const { events, end } = open({
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
      OTEL_RESOURCE_ATTRIBUTES: 'team=sea',
      OTEL_SERVICE_NAME: 'mine',
    });
    const id = chat(events);
    const failing = events.begin('mcp_call', project);
    failing.end({
      data: { server: 'files', tool: 'read' },
      content: { arguments: { path: 'private' } },
      error: 'No such file.',
      metadata: { code: 'not_found' },
    });
    events
      .begin('voice_turn', project)
      .end({ data: { inference_event_id: id, timings: { stt_ms: 12.5 } }, content: { transcript: 'private' } });
    await end();
    const [{ headers, body }] = received as [{ headers: IncomingHttpHeaders; body: Loose }];
    assert.deepEqual([headers['x-key'], headers['content-type']], ['a b', 'application/json']);
    assert.ok(is('request')(body), JSON.stringify(body));
    const resource = attributesOf(body.resourceSpans[0].resource);
    assert.deepEqual(resource, { 'service.name': 'mine', 'service.version': '1.2.3', team: 'sea' });
    const [inference, call, turn] = spans();
    assert.equal(inference.name, 'chat m');
    const told = attributesOf(inference);
    for (const [name, value] of Object.entries({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'quern',
      'gen_ai.request.model': 'm',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.seed': '7',
      'gen_ai.usage.input_tokens': '5',
      'gen_ai.usage.output_tokens': '7',
      'gen_ai.conversation.id': 's1',
      'quern.event.id': id,
      'quern.project': 'p',
    }))
      assert.equal(told[name], value, name);
    assert.ok(BigInt(inference.endTimeUnixNano) >= BigInt(inference.startTimeUnixNano));
    assert.deepEqual(attributesOf(inference.events[0]), { 'quern.database': 'docs', 'quern.top_k': '3' });
    assert.deepEqual([call.name, call.status], ['execute_tool read', { code: 2, message: 'No such file.' }]);
    assert.equal(attributesOf(call)['error.type'], 'not_found');
    assert.deepEqual(turn.links, [{ traceId: inference.traceId, spanId: inference.spanId }]);
    assert.equal(attributesOf(turn)['quern.timings.stt_ms'], 12.5);
    assert.doesNotMatch(JSON.stringify(body), /secret garden|Behind the wall|private/);
  });

  it('hold what was said where the operator wants it', async () => {
    const { events, end } = open({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' });
    chat(events);
    await end();
    const told = attributesOf(spans()[0]);
    assert.deepEqual(JSON.parse(String(told['gen_ai.input.messages'])), [
      { role: 'user', parts: [{ type: 'text', content: 'Where is the secret garden?' }] },
    ]);
    assert.deepEqual(JSON.parse(String(told['gen_ai.output.messages'])), [
      { role: 'assistant', parts: [{ type: 'text', content: 'Behind the wall.' }] },
    ]);
  });

  it('come in batches, and again where the receiver was busy', async () => {
    answers = [{ status: 503, headers: { 'retry-after': '0' } }, { status: 429 }, { status: 200 }];
    const { events, end } = open({ OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4', OTEL_BSP_SCHEDULE_DELAY: '60000' });
    for (let at = 0; at < 10; at += 1) chat(events);
    await events.flush();
    await end();
    assert.deepEqual(
      received.map(({ body }) => body.resourceSpans[0].scopeSpans[0].spans.length),
      [4, 4, 4, 4, 2],
    );
    assert.equal(new Set(spans().map(({ spanId }) => spanId)).size, 10);
  });

  it('are given up where the receiver refuses them, and never hold the log up', async () => {
    answers = [{ status: 400 }];
    const refused = open();
    chat(refused.events);
    await refused.end();
    assert.equal(received.length, 1);
    const gone = new OtlpExporter(outbound, otlpSettings('http://127.0.0.1:9', { OTEL_BSP_MAX_QUEUE_SIZE: '5' }, '1')!, 60_000);
    const events = new Events({ store, projects: { load: () => ({ config }) }, sink: gone });
    for (let at = 0; at < 50; at += 1) chat(events);
    await events.flush();
    assert.ok((await events.list('ns', 'p', { limit: 1, offset: 0 })).total >= 50);
    await events.close();
    const start = performance.now();
    await gone.close();
    assert.ok(performance.now() - start < 30_000);
  });
});

describe('settings of traces', () => {
  it('are none unless an endpoint is named', () => {
    assert.equal(otlpSettings('', {}, '1'), null);
    assert.equal(otlpSettings('http://a', { OTEL_SDK_DISABLED: 'true' }, '1'), null);
    assert.equal(otlpSettings('http://a', { OTEL_TRACES_EXPORTER: 'none' }, '1'), null);
  });

  it('are those of the environment variables', () => {
    assert.equal(otlpSettings('http://a:4318', {}, '1')!.url, 'http://a:4318/v1/traces');
    const own = otlpSettings(
      '',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b/x', OTEL_EXPORTER_OTLP_TIMEOUT: '77', OTEL_BSP_MAX_QUEUE_SIZE: 'many' },
      '1',
    )!;
    assert.deepEqual([own.url, own.timeoutMs, own.queueSize, own.content], ['https://b/x', 77, 2048, false]);
  });

  it('are refused by name, without the values of headers', () => {
    assert.throws(() => otlpSettings('localhost:4318', {}, '1'), { kind: 'bad_request', message: /--otlp-endpoint.*"localhost:4318"/ });
    for (const headers of ['no-pair-canary', 'a=%zz-canary', 'a=x%0d%0aB: canary'])
      assert.throws(
        () => otlpSettings('http://a', { OTEL_EXPORTER_OTLP_HEADERS: headers }, '1'),
        ({ message }: Error) => /OTEL_EXPORTER_OTLP_HEADERS/.test(message) && !/canary/.test(message),
      );
  });
});
