import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_BROWSER, WebStage } from '../../support/web/stage.js';

const KEY = 'sëcret key 1';
const BROWSERS_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('the web interface', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();

  it('is served to browsers, and the greeting of the API to others', async () => {
    for (const accept of [undefined, '*/*', 'application/json']) {
      const answer = await fetch(stage.daemon.core, accept ? { headers: { accept } } : {});
      assert.deepEqual(await answer.json(), { message: 'Hello, World!' });
    }
    const page = await fetch(stage.daemon.core, { headers: { accept: BROWSERS_ACCEPT } });
    assert.match(page.headers.get('content-type')!, /^text\/html/);
    assert.match(page.headers.get('content-security-policy')!, /default-src 'none'/);
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text())![1]!;
    for (const coding of ['br', 'gzip', 'identity']) {
      const answer = await fetch(stage.daemon.core + script, { headers: { 'accept-encoding': coding } });
      assert.equal(answer.headers.get('content-encoding'), coding === 'identity' ? null : coding);
      assert.match(answer.headers.get('cache-control')!, /immutable/);
      assert.match(await answer.text(), /\w/);
    }
  });

  it('serves no other file', async () => {
    for (const name of ['nothing.js', '..%2findex.html', '%2e%2e/%2e%2e/cli/main.js', '../../../package.json', '%00', 'quern.svg.gz']) {
      const answer = await fetch(`${stage.daemon.core}/assets/${name}`);
      assert.equal(answer.status, 404, name);
    }
  });

  it('shows each view by its address, and says so where there is none', async () => {
    await stage.open('system');
    await stage.browser.until(`['is healthy', 'Memory in use'].every((one) => document.querySelector('main').innerText.includes(one))`);
    await stage.inspect('system');
    await stage.open('nowhere');
    await stage.browser.until(`document.querySelector('main').innerText.includes('no page "nowhere"')`);
    await stage.browser.resize(390, 844);
    await stage.browser.click('Views');
    await stage.browser.click('System', 'nav');
    await stage.browser.until(`location.hash === '#/system' && !document.querySelector('nav').checkVisibility()`);
  });
});

describe('the web interface of a daemon without a project', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();

  it('invites to make one in each view that needs it, and goes on there', async () => {
    const project = (): string => `${stage.daemon.core}/v1/projects/default/quickstart`;
    await stage.open('data');
    await stage.browser.until(`document.querySelector('main').innerText.includes('No datasets yet')`);
    // The page may ask a project once more that goes elsewhere.
    stage.forgive(404);
    const shows: readonly (readonly [view: string, text: string])[] = [
      ['lab', 'Ask'],
      ['data', 'No datasets yet'],
      ['traces', 'Traces'],
      ['speech', 'Speech'],
    ];
    for (const [view, text] of shows) {
      assert.equal((await fetch(`${project()}?purge=true`, { method: 'DELETE' })).status, 200);
      await stage.browser.value(`(location.hash = '#/${view}', 0)`);
      await stage.browser.until(`document.querySelector('main').innerText.includes('You have no project yet')`);
      if (view === 'lab') await stage.inspect('lab-no-project');
      await stage.browser.click('Begin', 'main');
      await stage.browser.until(`document.querySelector('main').innerText.includes(${JSON.stringify(text)})`);
      assert.equal((await fetch(project())).status, 200);
    }
  });
});

describe('the web interface of a daemon with a key', { skip: NO_BROWSER }, () => {
  const stage = new WebStage({ env: { QUERN_API_KEY: KEY } });

  it('asks for the key, and goes on with the right one', async () => {
    await stage.open('system');
    await stage.browser.until(`document.activeElement === document.querySelector('dialog[open] input')`);
    for (const wrong of ['wrong', 'ключ']) {
      await stage.browser.fill('dialog input', wrong);
      await stage.browser.click('Use this key');
      const told = wrong === 'wrong' ? 'does not know this key.' : 'letters that a browser cannot send';
      await stage.browser.until(`document.querySelector('dialog').innerText.includes('${told}')`);
    }
    await stage.browser.press('Escape');
    await stage.browser.until(`!document.querySelector('dialog[open]')`);
    // Views ask for their state every two or three seconds.
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    assert.equal(await stage.browser.value(`document.querySelector('dialog[open]') === null`), true);
    await stage.browser.click('Give the key');
    await stage.browser.fill('dialog input', KEY);
    await stage.browser.click('Use this key');
    await stage.browser.until(`!document.querySelector('dialog[open]') && document.querySelector('main').innerText.includes('is healthy')`);
    assert.deepEqual(
      await stage.browser.value(`[...document.querySelectorAll('main [role=alert], .toast')].map((one) => one.innerText)`),
      [],
    );
  });

  it('shows commands in which the shell fills the key in', async () => {
    await stage.browser.value(`(location.hash = '#/api/health', 0)`);
    await stage.browser.until(
      `document.querySelector('#health [aria-label^="The request"]')?.innerText.includes('-H "Authorization: Bearer $API_KEY"')`,
    );
  });

  it('forgets the key', async () => {
    await stage.browser.resize(1440, 900);
    await stage.browser.click('Forget the key', 'nav');
    await stage.browser.until(`document.querySelector('dialog[open] input') && localStorage.getItem('quern.key') === null`);
  });
});
