import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Voice } from '../../runtime/voice/voice.js';
import { type FrontStage, openFrontStage, type Person, personOf } from '../support/accounts/front-stage.js';
import { Speaker, withVoice } from '../support/accounts/speaker.js';
import { type Answer, RecordedExchange } from '../support/exchange.js';
import { writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { until } from '../support/until.js';
import { namedForm } from '../support/worst-bodies.js';

const PROJECT = { name: 'diary' };
/** What each user may spend. */
const TOKENS = 1_000;

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
function json(answer: Answer): any {
  return JSON.parse(answer.text);
}

describe('what the daemon counts for its users', () => {
  let stage: FrontStage;
  let voice: Voice;
  before(async () => {
    const limits = (free: number) => ({ limits: { free } });
    // Without a processor nobody is limited; nobody pays here, so that it is never asked.
    const billing = { provider: 'stripe' };
    const meters = { requests: limits(40), tokens: limits(TOKENS), storage_bytes: limits(40_000) };
    stage = await openFrontStage(
      { billing, meters },
      {
        paymentApi: new URL('http://127.0.0.1:9'),
        environment: { PAYMENT_SECRET_KEY: 'sk_test_of_nobody', PAYMENT_WEBHOOK_SECRET: 'whsec_none' },
      },
    );
    voice = withVoice(stage);
  });
  after(async () => {
    await voice?.close();
    await stage?.close();
  });

  const SAID = { messages: [{ role: 'user', content: 'Say something.' }], max_tokens: 20 };

  async function usedOf(person: Person, meter: string): Promise<number> {
    return json(await person.ask('core', 'GET', `/api/module/usage/${meter}`)).used;
  }

  /** A count is written down beside the answer. */
  async function settled(person: Person, meter: string, before: number): Promise<number> {
    await until(async () => (await usedOf(person, meter)) !== before, `${meter} are counted`);
    return usedOf(person, meter);
  }

  it('are requests, and the one beyond the limit is told where to get more', async () => {
    const ann = await personOf(stage, 'ann@example.com');
    for (let count = 0; count < 40; count++) assert.equal((await ann.ask('core', 'GET', '/v1/models')).status, 200);
    const refused = await ann.ask('core', 'GET', '/v1/models');
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers['retry-after']) > 0);
    assert.equal(json(refused).meter, 'requests');
    assert.match(json(refused).upgrade_url, /^http/);
    assert.equal((await ann.ask('core', 'GET', '/health')).status, 200);
    assert.equal(await usedOf(ann, 'requests'), 40);
  });

  it('are tokens, as the answers say them, streamed and broken off ones too', async () => {
    const bob = await personOf(stage, 'bob@example.com');
    assert.equal((await bob.ask('core', 'POST', '/v1/projects/bobs', PROJECT)).status, 200);
    const first = json(await bob.ask('core', 'POST', '/v1/projects/bobs/diary/chat/completions', { ...SAID, max_tokens: 3 }));
    let used = await settled(bob, 'tokens', 0);
    assert.equal(used, first.usage.total_tokens);
    const stream = { model: 'quern-tiny', ...SAID, max_tokens: 3, stream: true };
    assert.equal((await bob.ask('universal', 'POST', '/v1/chat/completions', stream)).status, 200);
    const streamed = (await settled(bob, 'tokens', used)) - used;
    assert.ok(streamed > 3 && streamed < 40, `${streamed} tokens`);
    used += streamed;
    const embedded = json(await bob.ask('universal', 'POST', '/v1/embeddings', { model: 'lexical', input: 'Say something.' }));
    assert.equal((await settled(bob, 'tokens', used)) - used, embedded.usage.total_tokens);
    used += embedded.usage.total_tokens;
    const exchange = new RecordedExchange({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${bob.token}` },
      body: { ...stream, max_tokens: 2_000, ignore_eos: true },
    });
    stage.universal.request(exchange);
    await until(() => exchange.written.includes('content'));
    exchange.leave();
    assert.ok((await settled(bob, 'tokens', used)) > used, 'an answer that breaks off costs what was written');
  });

  it('are refused to who has no tokens left, and what changes nothing is not', async () => {
    const cid = await personOf(stage, 'cid@example.com');
    const { userId } = (await stage.front.accounts.callerOf(new Headers({ authorization: `Bearer ${cid.token}` })))!;
    await stage.front.accounts.meters.record(userId, 'tokens', TOKENS);
    const refused = await cid.ask('universal', 'POST', '/v1/chat/completions', { model: 'quern-tiny', ...SAID });
    assert.equal(refused.status, 429);
    assert.equal(json(refused).meter, 'tokens');
    assert.equal((await cid.ask('universal', 'GET', '/v1/models')).status, 200);
  });

  it('are tokens of chats that are run again and of spoken turns, each of which is refused when none are left; what costs none is not', async () => {
    const eve = await personOf(stage, 'eve@example.com');
    const place = '/v1/projects/eves/diary';
    const { config } = json(await eve.ask('core', 'POST', '/v1/projects/eves', PROJECT)).project;
    config.voice = { llm_model: config.runtime.models[0].name };
    config.runtime.models[0].model_api_parameters = { max_tokens: 3 };
    assert.equal((await eve.ask('core', 'PUT', place, { config })).status, 200);
    await eve.ask('core', 'POST', `${place}/chat/completions`, { ...SAID, max_tokens: 3 });
    let used = await settled(eve, 'tokens', 0);
    const { events } = json(await eve.ask('core', 'GET', `${place}/event_logs?type=inference`));
    const again = { config: 'current' };
    const replay = (): Promise<Answer> => eve.ask('core', 'POST', `${place}/event_logs/${events[0].event_id}/replay`, again);
    assert.equal((await replay()).status, 200);
    const after = await settled(eve, 'tokens', used);
    assert.equal(after, used * 2);
    used = after;
    const dryRun = (): Promise<Answer> => eve.ask('core', 'POST', `${place}/generations/1/dry-run`, { last: 1 });
    assert.equal((await dryRun()).status, 200);
    assert.ok((await settled(eve, 'tokens', used)) > used);
    const speaker = await Speaker.of(eve, 'eves/diary');
    const { userId } = (await stage.front.accounts.callerOf(new Headers({ authorization: `Bearer ${eve.token}` })))!;
    await stage.front.accounts.meters.record(userId, 'tokens', TOKENS);
    for (const refused of [
      await replay(),
      await dryRun(),
      await eve.ask('core', 'POST', `${place}/generations/1/dry-run`, { questions: [{ query: 'x' }] }),
      await eve.ask('core', 'POST', `${place}/mcp/calls/mcall_0`, { decision: 'allow' }),
      await eve.ask('universal', 'POST', '/v1/embeddings', { model: 'lexical', input: 'x' }),
    ]) {
      assert.equal(refused.status, 429, refused.text);
      assert.match(refused.text, /tokens/);
    }
    await speaker.say('Hello.');
    assert.match(speaker.messages.find(({ type }) => type === 'error')?.message ?? '', /of 1000 tokens are used/);
    speaker.close();
    const rows = { model: 'small', backend: 'ecod', data: [[1], [2], [3], [4], [5], [6], [7], [8], [9], [50]] };
    assert.equal((await eve.ask('universal', 'POST', '/v1/anomaly/fit', rows)).status, 200);
  });

  it('are tokens of what is read into a database and of questions that a model rewrites, which the owner of the namespace pays', async () => {
    writeTinyEncoders(join(stage.runtime.dataDir, 'models'));
    const gil = await personOf(stage, 'gil@example.com');
    const place = '/v1/projects/gils/diary';
    const { config } = json(await gil.ask('core', 'POST', '/v1/projects/gils', PROJECT)).project;
    const [chat] = config.runtime.models;
    const [database] = config.rag.databases;
    database.embedding_strategies = [{ name: 'e', type: 'UniversalEmbedder', config: { model: 'tiny/embedder' } }];
    database.default_embedding_strategy = 'e';
    const ways = { num_queries: 2, model_name: chat.name };
    database.retrieval_strategies = [{ name: 'ways', type: 'MultiQueryStrategy', config: ways, default: true }];
    database.default_retrieval_strategy = 'ways';
    const [{ name: strategy }] = config.rag.data_processing_strategies;
    config.datasets = [{ name: 'papers', database: database.name, data_processing_strategy: strategy }];
    const changed = await gil.ask('core', 'PUT', place, { config });
    assert.equal(changed.status, 200, changed.text);
    const { type, text: form } = namedForm('core/datasets#UploadForm', {});
    const upload = async (text: string): Promise<string> =>
      json(
        await gil.ask('core', 'POST', `${place}/datasets/papers/data?auto_process=true`, form.replace('\r\n\r\ntext', `\r\n\r\n${text}`), {
          'content-type': type,
        }),
      ).task_id;
    // Requests are counted, so that the task is waited for inside.
    const ended = async (task: string): Promise<string> => {
      await stage.runtime.tasks.finished('gils', 'diary', task, new AbortController().signal);
      return (await gil.ask('core', 'GET', `${place}/tasks/${task}`)).text;
    };
    await ended(await upload('The ship sat in the harbour.'));
    const read = await settled(gil, 'tokens', 0);
    assert.ok(read > 0 && read < 40, `${read} tokens`);
    const question = (): Promise<Answer> => gil.ask('core', 'POST', `${place}/rag/query`, { query: 'ship' });
    assert.equal((await question()).status, 200);
    const rewritten = (await settled(gil, 'tokens', read)) - read;
    assert.ok(rewritten > 0, `${rewritten} tokens`);
    await until(async () => (await usedOf(gil, 'tokens')) - read > 40, 'the model that rewrites is counted');
    const { userId } = (await stage.front.accounts.callerOf(new Headers({ authorization: `Bearer ${gil.token}` })))!;
    await stage.front.accounts.meters.record(userId, 'tokens', TOKENS);
    const refused = await question();
    assert.equal(refused.status, 429, refused.text);
    assert.match(await ended(await upload('The cat and the dog.')), /of 1000 tokens are used/);
  });

  it('are bytes of buffers, which are given back where one is cleared', async () => {
    const hal = await personOf(stage, 'hal@example.com');
    assert.equal((await hal.ask('universal', 'POST', '/v1/polars/buffers', { buffer_id: 'heat', window_size: 10_000 })).status, 200);
    const append = (rows: number): Promise<Answer> =>
      hal.ask('universal', 'POST', '/v1/polars/append', {
        buffer_id: 'heat',
        data: Array.from({ length: rows }, (_none, at) => ({ degrees: at })),
      });
    assert.equal((await append(1_000)).status, 200);
    const used = await usedOf(hal, 'storage_bytes');
    assert.ok(used >= 8_000 && used < 40_000, `${used} bytes`);
    const refused = await append(3_000);
    assert.deepEqual([refused.status, json(refused).meter], [429, 'storage_bytes']);
    assert.equal((await hal.ask('universal', 'POST', '/v1/polars/buffers/heat/clear')).status, 200);
    assert.ok((await usedOf(hal, 'storage_bytes')) <= used - 8_000);
  });

  it('are bytes on disk, which a deletion gives back', async () => {
    const dan = await personOf(stage, 'dan@example.com');
    assert.equal((await dan.ask('core', 'POST', '/v1/projects/dans', PROJECT)).status, 200);
    const { config } = json(await dan.ask('core', 'GET', '/v1/projects/dans/diary')).project;
    const dataset = {
      name: 'papers',
      database: config.rag.databases[0].name,
      data_processing_strategy: config.rag.data_processing_strategies[0].name,
    };
    assert.equal((await dan.ask('core', 'POST', '/v1/projects/dans/diary/datasets', dataset)).status, 200);
    const upload = (text: string): Promise<Answer> => {
      const { type, text: form } = namedForm('core/datasets#UploadForm', {});
      return dan.ask('core', 'POST', '/v1/projects/dans/diary/datasets/papers/data', form.replace('\r\n\r\ntext', `\r\n\r\n${text}`), {
        'content-type': type,
      });
    };
    const before = await usedOf(dan, 'storage_bytes');
    const { hash } = json(await upload('a'.repeat(20_000)));
    assert.ok((await usedOf(dan, 'storage_bytes')) >= before + 20_000);
    const refused = await upload('b'.repeat(20_000));
    assert.equal(refused.status, 429);
    assert.equal(json(refused).meter, 'storage_bytes');
    assert.match(json(refused).message, /delete some of what is there/);
    assert.deepEqual([json(refused).resetsAt, refused.headers['retry-after']], [undefined, undefined], 'no day brings room');
    const grown = { config: { ...config, prompts: [{ name: 'long', messages: [{ role: 'system', content: 'c'.repeat(20_000) }] }] } };
    assert.equal((await dan.ask('core', 'PUT', '/v1/projects/dans/diary', grown)).status, 429);
    const rows = { model: 'large', backend: 'ecod', data: Array.from({ length: 5_000 }, (_, at) => [at]) };
    assert.equal((await dan.ask('universal', 'POST', '/v1/anomaly/fit', rows)).status, 429);
    assert.equal((await dan.ask('core', 'POST', '/v1/ml/anomaly/fit', rows)).status, 429);
    assert.equal(
      (await dan.ask('core', 'DELETE', `/v1/projects/dans/diary/datasets/papers/data/${hash}?remove_from_disk=true`)).status,
      200,
    );
    assert.ok((await usedOf(dan, 'storage_bytes')) < 20_000);
    const both = await Promise.all([upload('b'.repeat(20_000)), upload('c'.repeat(20_000))]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 429]);
  });
});
