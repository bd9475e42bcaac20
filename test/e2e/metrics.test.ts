import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';
import { until } from '../support/until.js';

/** A line of Prometheus' text format, version 0.0.4. */
const LINE = /^(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{(?:[a-z]+="(?:[^"\\]|\\["\\n])*",?)*\})? (?:[\d.e+-]+|NaN|\+Inf))$/;

describe('/metrics', () => {
  let daemon: DaemonUnderTest;
  before(async () => {
    daemon = await startDaemon({ args: ['--api-key', 'secret-key'] });
  });
  after(() => daemon.end());
  const headers = { authorization: 'Bearer secret-key', 'content-type': 'application/json' };
  const scraped = async (base: string): Promise<string> => {
    const answer = await fetch(`${base}/metrics`, { headers });
    assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    return answer.text();
  };
  const numberAt = (text: string, start: string): number =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(start))
        ?.split(' ')
        .at(-1) ?? Number.NaN,
    );

  it('counts requests, tokens and times on both ports', async () => {
    const body = { messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 8 };
    const post = (url: string, more: object): Promise<Response> =>
      fetch(url, { method: 'POST', headers, body: JSON.stringify({ ...body, ...more }) });
    assert.equal((await post(`${daemon.core}/v1/projects/default/quickstart/chat/completions`, {})).status, 200);
    assert.match(await (await post(`${daemon.runtime}/v1/chat/completions`, { model: 'quern-tiny', stream: true })).text(), /\[DONE\]/);
    await fetch(`${daemon.core}/no/such/path/${'x'.repeat(99)}`, { headers });
    assert.equal((await fetch(`${daemon.core}/info`)).status, 401);
    const counts = {
      'quern_requests_total{api="core",method="POST",path="/v1/projects/{namespace}/{project}/chat/completions",status="200"}': 1,
      'quern_requests_total{api="runtime",method="POST",path="/v1/chat/completions",status="200"}': 1,
      'quern_requests_total{api="core",method="GET",path="",status="404"}': 1,
      'quern_requests_total{api="core",method="GET",path="/info",status="401"}': 1,
      'quern_first_token_seconds_count{model="quern-tiny"}': 2,
      'quern_slots_active{model="quern-tiny"}': 0,
      'quern_model_loaded{model="quern-tiny"': 1,
      quern_tasks_open: 0,
      'quern_events_total{type="inference",status="completed"}': 1,
    };
    for (const base of [daemon.core, daemon.runtime]) {
      let text = '';
      const seen = (): unknown => Object.fromEntries(Object.keys(counts).map((start) => [start, numberAt(text, start)]));
      // What is counted behind the last token is there a moment later.
      await until(async () => {
        text = await scraped(base);
        return isDeepStrictEqual(seen(), counts);
      }, 'everything is counted').catch(() => assert.deepEqual(seen(), counts));
      for (const line of text.trimEnd().split('\n')) assert.match(line, LINE);
      assert.ok(numberAt(text, 'quern_request_seconds_count{api="core"') > 0);
      assert.ok(numberAt(text, 'quern_tokens_total{model="quern-tiny",kind="written"}') > 2);
      assert.ok(numberAt(text, 'quern_tokens_total{model="quern-tiny",kind="read"}') > 2);
      assert.ok(numberAt(text, 'quern_kv_tokens{model="quern-tiny"}') >= 0);
      assert.ok(numberAt(text, 'quern_memory_bytes{process="daemon"}') > 1e7);
      assert.ok(numberAt(text, 'quern_memory_bytes{process="language quern-tiny"}') > 1e7);
      assert.ok(numberAt(text, 'quern_disk_free_bytes') > 0);
    }
    assert.equal((await fetch(`${daemon.core}/metrics`)).status, 401);
  });
});
