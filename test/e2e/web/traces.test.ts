import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { until } from '../../support/until.js';
import { answering, LET_GO, NO_BROWSER, WebStage } from '../../support/web/stage.js';

describe('the traces of the web interface', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const shows = (text: string): Promise<void> =>
    stage.browser.until(`document.querySelector('main').innerText.includes(${JSON.stringify(text)})`);
  const chat = async (content: string): Promise<void> => {
    const answer = await fetch(`${stage.daemon.core}/v1/projects/default/quickstart/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content }], max_tokens: 12 }),
    });
    assert.equal(answer.status, 200);
  };
  before(() => chat('Hello'));

  it('says that nothing happened, then lists what did, and follows', async () => {
    await stage.open('traces');
    await shows('inference');
    // What is stored before the stream of the daemon is there is shown as well.
    await stage.browser.value(answering('/stream', `new Promise((go) => (window.letGo = go)).then(() => ownFetch(url, options))`));
    await stage.browser.click('Follow');
    await stage.browser.until('window.letGo');
    await chat('What can you do?');
    await until(async () => {
      const list = await fetch(`${stage.daemon.core}/v1/projects/default/quickstart/event_logs`);
      return ((await list.json()) as { total: number }).total === 2;
    }, 'both chats are stored');
    await stage.browser.value(LET_GO);
    await stage.browser.until(`document.querySelectorAll('main tbody tr').length === 2`);
    await stage.inspect('traces');
  });

  it('filters, and says so where nothing is left', async () => {
    await stage.browser.choose('main select', 'mcp_call', 1);
    await shows('No event is like this');
    await stage.browser.click('Show all');
    await stage.browser.until(`document.querySelectorAll('main tbody tr').length === 2`);
  });

  it('compares two', async () => {
    await stage.browser.value(`document.querySelectorAll('main tbody input').forEach((one) => one.click())`);
    await stage.browser.click('Compare two');
    await shows('These differ:');
    await shows('text');
    await stage.inspect('traces-compare');
    await stage.browser.click('All events');
    await shows('inference');
  });

  it('shows one as a waterfall with its data, and runs it again', async () => {
    await stage.browser.click('', 'main tbody .when');
    await shows('request received');
    await stage.browser.click('rag query start');
    await shows('hybrid_search');
    await stage.inspect('traces-event');
    await stage.browser.click('Run again');
    await stage.browser.until(`/Both are the same|These differ/.test(document.querySelector('main').innerText)`);
    await stage.browser.click('All of its data');
  });

  it('shows the log of the server too', async () => {
    const body = JSON.stringify({ backend: 'hbos', data: Array.from({ length: 20 }, (_none, at) => [at]) });
    const fit = await fetch(`${stage.daemon.core}/v1/ml/anomaly/fit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    assert.equal(fit.status, 200);
    await stage.open('traces');
    await stage.browser.choose('main select', 'server');
    await stage.browser.until(`document.querySelector('main tbody')?.innerText.includes('fit')`);
    await stage.browser.click('', 'main tbody .when');
    await shows('All of its data');
    await stage.browser.click('All events');
    await stage.browser.until(`location.hash === '#/traces?log=server'`);
  });

  it('says so where there is no such event', async () => {
    await stage.open('traces/evt_nothing');
    await stage.browser.until(`document.querySelector('main [role=alert]')?.innerText.includes('evt_nothing')`);
    await stage.browser.click('All events');
    await shows('inference');
  });
});
