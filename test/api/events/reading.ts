import assert from 'node:assert/strict';
import { LOGS, list, refused } from '../../support/events-stage.js';
import type { Scenario } from '../../support/scenario.js';

/** Lists that are empty, and questions that are refused. */
export const READING: Scenario[] = [
  list('72 an empty project has none', '', (body) => assert.deepEqual(body, { total: 0, events: [], limit: 10, offset: 0 }), 'empty'),
  refused('limit=0', ['limit']),
  refused('limit=101', ['limit']),
  refused('limit=ten', ['limit']),
  refused('offset=-1', ['offset']),
  refused('start_time=yesterday', ['start_time', 'yesterday', 'ISO 8601']),
  refused('end_time=2026-02-30', ['end_time']),
  refused('status=odd', ['status']),
  { name: 'an unknown project', path: '/v1/projects/ns/nope/event_logs', status: 404, contains: ['ns/nope'] },
  {
    name: '72 an unknown event is named with its project',
    path: `${LOGS}/evt_none`,
    status: 404,
    contains: ["Event 'evt_none' not found in project 'ns/p'"],
  },
  ...['..', '%2e%2e', '..%2fproject.yaml', '%2e%2e%2f%2e%2e%2fx'].map(
    (path): Scenario => ({ name: `72 ${path} is no event`, path: `${LOGS}/${path}`, status: 404, lacks: ['version: v1'] }),
  ),
  { name: 'an id that no event can have', path: `${LOGS}/${'e'.repeat(6_000)}`, status: 404, contains: ['not found'] },
];
