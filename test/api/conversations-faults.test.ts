import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from '../../schemas/generated/core/conversations.js';
import { openedRuntime } from '../support/compat-stage.js';
import { ConversationStage, conversationData } from '../support/conversation-stage.js';
import type { RecordedExchange } from '../support/exchange.js';
import { until } from '../support/until.js';

describe('conversations under faults', () => {
  let stage: ConversationStage;
  let id: string;
  const dataDir = conversationData();
  const at = (more: Record<string, string> = {}) => ({ conversation_id: id, ...more });
  /** Begins an answer that has no end, and waits for its first words. */
  const endless = async (headers?: Record<string, string>): Promise<RecordedExchange> => {
    const body = { message: { content: 'endless' }, settings: { max_tokens: -1 } };
    const exchange = stage.begin('conversation_turn', { ids: at(), body, ...(headers ? { headers } : {}) });
    while (!exchange.written.includes('round step 3')) await sleep(5);
    return exchange;
  };
  const last = async (): Promise<Message> => (await stage.messages(id)).at(-1)!;
  before(async () => {
    stage = await ConversationStage.open(dataDir);
    id = await stage.create();
  });
  after(() => stage?.close());

  it('an answer is stopped, and what was written stays', async () => {
    const exchange = await endless();
    const busy = await stage.ask('conversation_turn', { ids: at(), body: { message: { content: 'hello' } } });
    assert.deepEqual([busy.status, JSON.parse(busy.text).message.slice(0, 29)], [409, 'An answer is being written in']);
    for (const endpoint of ['conversation_message_edit', 'conversation_message_delete'])
      assert.equal(
        (await stage.ask(endpoint, { ids: at({ message_id: (await last()).id }), body: { content: 'x' } })).status,
        409,
        endpoint,
      );
    assert.deepEqual(await stage.json('conversation_stop', { ids: at() }), { stopped: true });
    const { text } = await exchange.done;
    const message = await last();
    assert.deepEqual([message.status, message.content.startsWith('round step 1. round step 2.')], ['stopped', true]);
    assert.ok(text.endsWith(`event: message\ndata: ${JSON.stringify(message)}\n\ndata: [DONE]\n\n`));
    assert.doesNotMatch(text, /Sorry/);
  });

  it('a client that vanishes leaves what was written', async () => {
    const exchange = await endless();
    exchange.leave();
    await until(() => stage.runtime.conversations.shared.running.size === 0);
    const message = await last();
    assert.deepEqual([message.status, message.content.startsWith('round step 1.')], ['cut', true]);
  });

  it('a growing answer is on disk each second', async () => {
    const exchange = await endless();
    const growing = async () => stage.runtime.conversations.shared.records.message(id, (await last()).id).message;
    await until(async () => (await growing()).content.length > 20, 'more of the answer is on disk');
    assert.equal((await growing()).status, 'cut');
    await stage.json('conversation_stop', { ids: at() });
    await exchange.done;
  });

  it('an answer that goes on is counted once', async () => {
    await stage.ask('conversation_turn', { ids: at(), body: { message: { content: 'good day' } } });
    const answer = await last();
    await stage.json('conversation_message_edit', { ids: at({ message_id: answer.id }), body: { content: 'some '.repeat(200) } });
    const { records } = stage.runtime.conversations.shared;
    const bytes = (): number => records.head({ namespace: 'ns', project: 'p', owner: '' }, id).bytes;
    const before = bytes();
    await stage.ask('conversation_turn', { ids: at(), body: { continue: answer.id } });
    assert.ok((await last()).content.length >= 1_000);
    assert.ok(bytes() - before < 800, `${bytes() - before} bytes more`);
  });

  it('the same request twice asks once', async () => {
    const body = { message: { content: 'hello' }, client_id: 'k1' };
    const [one, two] = await Promise.all([1, 2].map(() => stage.ask('conversation_turn', { ids: at(), body })));
    const three = await stage.ask('conversation_turn', {
      ids: at(),
      headers: { 'idempotency-key': 'k1' },
      body: { message: { content: 'hello' } },
    });
    const answers = [one!, two!, three].map(({ events }) => JSON.parse(events.at(-2)!) as Message);
    assert.equal(new Set(answers.map((answer) => answer.id)).size, 1);
    assert.deepEqual(answers[1], answers[0]);
    assert.equal((await stage.messages(id)).filter(({ content }) => content === 'hello').length, 1);
  });

  it('what cannot be asked stores nothing, and what fails later is told and kept', async () => {
    const before = (await stage.messages(id)).length;
    const wrong: [body: object, status: number][] = [
      [{}, 400],
      [{ message: { content: 'a' }, regenerate: true }, 400],
      [{ message: { content: '  ' } }, 400],
      [{ message: { content: 'a' }, parent: 'msg_aaaaaaaaaaaaaaaaaaaaaa' }, 404],
      [{ message: { content: 'a' }, parent: '../x' }, 422],
      [{ continue: (await stage.messages(id))[0]!.id }, 400],
      [{ parent: (await last()).id, regenerate: true }, 400],
      [{ tool_results: [{ tool_call_id: 'a', content: 'b' }] }, 400],
      [{ message: { content: 'a' }, settings: { model: 'nobody' } }, 400],
      [{ message: { content: 'a' }, settings: { colour: 'red' } }, 422],
      [{ message: { content: 'a', attachments: [{ name: 'a', media_type: 'b', url: 'https://example.com' }] } }, 400],
    ];
    for (const [body, status] of wrong)
      assert.equal((await stage.ask('conversation_turn', { ids: at(), body })).status, status, JSON.stringify(body));
    assert.equal((await stage.messages(id)).length, before);
    const long = await stage.ask('conversation_turn', { ids: at(), body: { message: { content: 'word '.repeat(20_000) } } });
    assert.equal(long.status, 200);
    const [, error, message] = long.events.map((event) => (event === '[DONE]' ? {} : JSON.parse(event)));
    assert.match(error.error.message, /context|tokens/);
    assert.deepEqual([message.status, message.error], ['failed', error.error.message]);
    assert.equal((await last()).status, 'failed');
  });

  it('nothing is found under odd names', async () => {
    for (const odd of ['..', '..%2F..', 'conv_..%2f..%2f..%2f..%2faaaaaa', '%00', 'a'.repeat(3_000), `conv_${'a'.repeat(22)}`])
      for (const endpoint of ['conversation_read', 'conversation_delete', 'conversation_export', 'conversation_stop'])
        assert.equal((await stage.ask(endpoint, { ids: { conversation_id: odd } })).status, 404, `${endpoint} ${odd}`);
    for (const odd of ['..', '..%2Fa', 'msg_', 'a'.repeat(3_000)]) {
      assert.equal((await stage.ask('conversation_file', { ids: at({ attachment_id: odd }) })).status, 404);
      assert.equal((await stage.ask('conversation_message_delete', { ids: at({ message_id: odd }) })).status, 404);
    }
    assert.equal((await stage.ask('conversations_list', { query: '?cursor=1.2.3' })).status, 422);
  });

  it('all is there after another start, and nothing after its project has gone', async () => {
    const before = await stage.messages(id);
    await stage.close();
    stage = new ConversationStage(await openedRuntime(dataDir));
    assert.deepEqual(await stage.messages(id), before);
    await stage.json('project_delete', { query: '?purge=true' });
    await stage.json('project_create', { body: { name: 'p' }, ids: { namespace: 'ns' } });
    assert.equal((await stage.json('conversations_list')).total, 0);
    const { store } = stage.runtime.conversations.shared.records;
    await until(() => store.conversationMessages.keys({ limit: 1 }).length === 0);
    assert.deepEqual([store.conversationMessages.keys({ limit: 1 }), store.conversationTrash.keys({ limit: 1 })], [[], []]);
  });
});
