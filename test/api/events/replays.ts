import assert from 'node:assert/strict';
import { Failure } from '../../../schemas/errors.js';
import { chat, found, LOGS, list, P, stage, user } from '../../support/events-stage.js';
import type { Scenario } from '../../support/scenario.js';
import { FINISH } from '../../unit/runtime/chat/scripted-provider.js';

let recorded = '';
const replay = (name: string, body: unknown, json: Scenario['json']): Scenario => ({
  name,
  method: 'POST',
  path: () => `${LOGS}/${recorded}/replay`,
  body,
  ...(json ? { json } : {}),
});

/** Chats that are run again. */
export const REPLAYS: Scenario[] = [
  { name: 'an event that is not there', method: 'POST', path: `${LOGS}/evt_none/replay`, body: {}, status: 404, contains: ['evt_none'] },
  {
    name: 'a configuration that is neither',
    method: 'POST',
    path: `${LOGS}/evt_none/replay`,
    body: { config: 'old' },
    status: 422,
    contains: ['config'],
  },
  chat('a first turn', user('One'), { headers: { 'X-Session-ID': 'long' } }),
  chat('a turn with history', user('Where does the volcano erupt?', { rag_top_k: 2 }), { headers: { 'X-Session-ID': 'long' } }),
  list('its event', '?limit=1', (body) => (recorded = body.events[0].event_id)),
  chat('a later turn', user('Three'), { headers: { 'X-Session-ID': 'long' } }),
  replay('runs with the history of that moment, and nothing differs', {}, (body) => {
    assert.deepEqual([body.config, body.differs, body.notes], ['recorded', [], []]);
    assert.equal(body.recorded.event_id, recorded);
    assert.notEqual(body.replayed.event_id, recorded);
    assert.equal(body.replayed.config_hash, body.recorded.config_hash);
    assert.equal(body.replayed.response, 'echo: Where does the volcano erupt?');
    assert.equal(body.replayed.passages.length, 2);
    const { messages } = stage.provider.asked.at(-1)!.request;
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user'],
    );
    found.id = body.replayed.event_id;
  }),
  { name: 'and is an event itself', path: () => `${LOGS}/${found.id}`, json: (body) => assert.equal(body.metadata.replay_of, recorded) },
];

/** Chats that are run again after the project has changed. */
export const LATER: Scenario[] = [
  {
    name: 'the project changes',
    method: 'PUT',
    path: P,
    body: () => {
      // biome-ignore lint/suspicious/noExplicitAny: a configuration as a client changes it
      const config = structuredClone(stage.projects.get('ns', 'p').config) as any;
      // Its model is nobody's, which a file may say and a request may not.
      config.rag.databases[0].retrieval_strategies.pop();
      config.runtime.models[0].name = 'renamed';
      config.runtime.default_model = 'renamed';
      config.prompts = [{ name: 'base', messages: [{ role: 'system', content: 'Be rude.' }] }];
      return { config };
    },
  },
  replay('on the recorded configuration the old prompt and model are back', { config: 'recorded' }, (body) => {
    assert.deepEqual(body.differs, []);
    assert.match(String(stage.provider.asked.at(-1)!.request.messages[0]!.content), /^Be kind/);
    assert.equal(body.replayed.model, 'plain');
  }),
  replay(
    "on today's the new ones run, and what differs is said",
    () => {
      stage.provider.say([{ type: 'text', text: 'Go away.' }, FINISH]);
      return { config: 'current' };
    },
    (body) => {
      assert.deepEqual(body.differs, ['model', 'text']);
      assert.match(String(stage.provider.asked.at(-1)!.request.messages[0]!.content), /^Be rude/);
      assert.deepEqual([body.recorded.model, body.replayed.model], ['plain', 'renamed']);
    },
  ),
  replay('on another model', { config: 'current', model: 'silent' }, (body) => {
    assert.deepEqual([body.replayed.model, body.replayed.passages], ['silent', []]);
    assert.ok(body.differs.includes('model') && body.differs.includes('passages'));
  }),
  replay(
    'a run that fails is an answer too',
    () => {
      stage.provider.say([new Failure('unavailable', 'The model is away.')]);
      return {};
    },
    (body) => {
      assert.deepEqual([body.replayed.status, body.replayed.error], ['failed', 'The model is away.']);
      assert.ok(body.differs.includes('status') && body.differs.includes('text'));
    },
  ),
  { name: 'its session is deleted', method: 'DELETE', path: `${P}/chat/sessions/long` },
  replay('and the answer says that the history is missing', {}, (body) =>
    assert.match(body.notes.join(), /Session long does not have its 2 earlier messages/),
  ),
];
