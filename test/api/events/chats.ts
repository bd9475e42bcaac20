import assert from 'node:assert/strict';
import { Failure } from '../../../schemas/errors.js';
import { chat, list, names, newest, stage, user } from '../../support/events-stage.js';
import { ANY_EVENTS, type Scenario } from '../../support/scenario.js';
import { FINISH } from '../../unit/runtime/chat/scripted-provider.js';

/** Events of chats, of failures, and the list by what they are about. */
export const CHATS: Scenario[] = [
  chat('a chat with passages', user('Where does the volcano erupt?', { temperature: 0.5 })),
  ...newest('its record has the steps in their order and the data of the spec', (body) => {
    assert.match(body.event_id, /^evt_\d{8}_\d{6}_inference_[0-9a-f]{6}$/);
    assert.match(body.request_id, /^req_[0-9a-f]{12}$/);
    assert.deepEqual([body.type, body.event_type, body.status, body.error], ['inference', 'inference', 'completed', null]);
    assert.deepEqual([body.namespace, body.project, body.session_id], ['ns', 'p', null]);
    assert.match(body.config_hash, /^[0-9a-f]{64}$/);
    assert.deepEqual(names(body), ['request_received', 'rag_query_start', 'rag_retrieval_complete', 'response_generated']);
    assert.deepEqual(body.events, body.sub_events);
    const [received, asked, found, generated] = body.sub_events;
    assert.deepEqual(received.data, { message_length: 29, model: 'plain', rag_enabled: true });
    const question = {
      database: 'first_db',
      top_k: 3,
      retrieval_strategy: 'near',
      rag_queries_count: 1,
      query: 'Where does the volcano erupt?',
    };
    assert.deepEqual(asked.data, question);
    assert.equal(found.data.chunks_retrieved, 3);
    assert.equal(found.data.top_chunks.length, 2);
    assert.deepEqual(Object.keys(found.data.top_chunks[0]), ['rank', 'content_preview', 'source', 'score']);
    assert.equal(found.data.top_chunks[0].source, 'Volcano.md');
    assert.equal(generated.data.response.choices[0].message.content, 'echo: Where does the volcano erupt?');
    for (const { timestamp, duration_ms: ms } of body.sub_events) {
      assert.ok(ms >= 0 && ms < 60_000);
      assert.equal(new Date(timestamp).toISOString(), timestamp);
    }
    const { data } = body;
    assert.equal(data.model, 'plain');
    assert.deepEqual(data.messages, [{ role: 'user', content: 'Where does the volcano erupt?' }]);
    assert.equal(data.response, 'echo: Where does the volcano erupt?');
    assert.deepEqual(data.tokens, { prompt: 7, completion: 2, total: 9 });
    assert.equal(data.request.temperature, 0.5);
    assert.equal(data.passages.length, 3);
    assert.ok(data.duration_ms > 0 && data.duration_ms === body.total_elapsed_time_ms);
    assert.equal(body.time_to_first_token_ms, null);
  }),
  list('its item in the list', '?type=inference&limit=1', ({ total, events, limit, offset }) => {
    assert.deepEqual([total, limit, offset], [1, 1, 0]);
    const [{ summary, duration_ms: ms, ...item }] = events;
    assert.deepEqual(summary, { model: 'plain', tokens: { prompt: 7, completion: 2, total: 9 }, duration_ms: ms });
    assert.deepEqual([item.type, item.event_type, item.status], ['inference', 'inference', 'completed']);
  }),
  chat('a stream', user('Hello', { stream: true, model: 'silent' }), { headers: { 'X-Session-ID': 's1' }, events: [ANY_EVENTS] }),
  ...newest('the steps of a stream', (body) => {
    assert.deepEqual(names(body), [
      'request_received',
      'llm_inference_start',
      'llm_first_token',
      'llm_inference_complete',
      'stream_complete',
    ]);
    assert.deepEqual(body.sub_events[1].data, { model: 'silent' });
    assert.deepEqual(body.sub_events[3].data, { finish_reason: 'stop' });
    assert.equal(body.session_id, 's1');
    assert.equal(body.data.response, 'echo: Hello');
    assert.ok(body.time_to_first_token_ms > 0 && body.time_to_first_token_ms <= body.total_elapsed_time_ms);
  }),
  {
    ...chat('a chat that fails', user('x', { rag_enabled: false })),
    body: () => {
      stage.provider.say([new Failure('unavailable', 'The model is away.')]);
      return user('x', { rag_enabled: false });
    },
    status: 503,
  },
  ...newest('a failure has its reason', (body) => {
    assert.deepEqual([body.status, body.error], ['failed', 'The model is away.']);
    assert.equal(body.metadata.code, 'unavailable');
    assert.deepEqual(names(body), ['request_received']);
  }),
  {
    ...chat('a stream that breaks off', {}),
    body: () => {
      stage.provider.say([{ type: 'text', text: 'half' }, new Failure('model_failed', 'The model broke.')]);
      return user('x', { rag_enabled: false, stream: true });
    },
    events: [ANY_EVENTS],
  },
  ...newest('a stream that failed says so', (body) => {
    assert.deepEqual([body.status, body.error, body.metadata.reason], ['failed', 'stream_failed', 'The model broke.']);
    assert.equal(body.data.response, 'half');
  }),
  {
    ...chat('a model that does not exist', user('x', { model: 'nobody' })),
    status: 400,
    json: () => stage.provider.say((request) => [{ type: 'text', text: `echo: ${request.messages.at(-1)?.content}` }, FINISH]),
  },
  ...newest('is a failed event', (body) => assert.deepEqual([body.status, body.data.model], ['failed', 'nobody'])),
  list('by session', '?session_id=s1', (body) => assert.equal(body.total, 1)),
  list('by status', '?status=failed&type=inference', (body) => assert.equal(body.total, 3)),
  list('by model', '?model=silent', (body) => assert.equal(body.total, 1)),
  list('the newest first, in pages', '?type=inference&limit=2&offset=1', (body) => {
    assert.deepEqual([body.total, body.limit, body.offset, body.events.length], [5, 2, 1, 2]);
    assert.ok(body.events[0].timestamp >= body.events[1].timestamp);
  }),
  list('from today on', `?start_time=${new Date().toISOString().slice(0, 10)}`, (body) => assert.ok(body.total >= 5)),
  list('up to yesterday', `?end_time=${new Date(Date.now() - 86_400_000).toISOString()}`, (body) => assert.equal(body.total, 0)),
];
