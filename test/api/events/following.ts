import assert from 'node:assert/strict';
import { recordWork } from '../../../runtime/events/recording.js';
import { found, LOGS, list, stage, user } from '../../support/events-stage.js';
import { RecordedExchange } from '../../support/exchange.js';
import type { Scenario } from '../../support/scenario.js';
import { FINISH } from '../../unit/runtime/chat/scripted-provider.js';

/** Readers that follow, and events of no project. */
export const GOING: Scenario[] = [
  {
    name: 'a reader hears of an event when it is stored',
    path: '/v1/projects/ns/gone/event_logs',
    json: async () => {
      stage.provider.say([{ type: 'text', text: 'heard' }, FINISH]);
      const exchange = new RecordedExchange({ path: '/v1/projects/ns/gone/event_logs/stream?type=inference' });
      stage.application.request(exchange);
      await stage.call('POST', '/v1/projects/ns/gone/chat/completions', user('Listen'));
      await stage.events.flush();
      await stage.call('DELETE', '/v1/projects/ns/gone?purge=true');
      const answer = await exchange.done;
      assert.equal(answer.events.length, 1);
      const { type, event_id: heard } = JSON.parse(answer.events[0]!);
      assert.equal(type, 'inference');
      assert.ok(answer.text.includes(`id: ${heard}\n`));
    },
  },
  {
    name: 'a reader of the log of the server',
    path: '/v1/event_logs',
    json: async (body) => {
      assert.equal(body.total, 0);
      const exchange = new RecordedExchange({ path: '/v1/event_logs/stream?type=fit' });
      stage.application.request(exchange);
      await recordWork(
        stage.events,
        { type: 'fit', model: 'm' },
        async () => undefined,
        () => ({}),
      );
      await stage.events.flush();
      stage.events.endStreams();
      const answer = await exchange.done;
      found.id = JSON.parse(answer.events[0]!).event_id;
    },
  },
  {
    name: 'what belongs to no project is in its list',
    path: '/v1/event_logs?model=m',
    json: ({ events, total }) =>
      assert.deepEqual([total, events[0].event_id, events[0].namespace, events[0].project], [1, found.id, '', '']),
  },
  { name: 'and can be read', path: () => `/v1/event_logs/${found.id}`, json: (body) => assert.equal(body.data.model, 'm') },
  { name: 'an event of no log', path: '/v1/event_logs/evt_none', status: 404, contains: ["'evt_none'", 'the log of the server'] },
  { name: '.. is no event of the server', path: '/v1/event_logs/%2e%2e', status: 404 },
  { name: 'a time that is none', path: '/v1/event_logs?start_time=soon', status: 422, contains: ['soon'] },
  { name: 'a stream of an unknown project', path: '/v1/projects/ns/nope/event_logs/stream', status: 404 },
  { name: 'a stream with a wrong filter', path: `${LOGS}/stream?status=odd`, status: 422 },
  { name: 'the project is made anew', method: 'POST', path: '/v1/projects/ns', body: { name: 'gone' } },
  list('and has no events', '', (body) => assert.equal(body.total, 0), 'gone'),
];
