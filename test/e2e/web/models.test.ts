import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { HubServer } from '../../support/hub-server.js';
import { NO_BROWSER, toasted, WebStage } from '../../support/web/stage.js';

const REPOSITORY = 'org/small-GGUF';
const MEBIBYTE = 1024 * 1024;

describe('the models of the web interface', { skip: NO_BROWSER }, async () => {
  const hub = await HubServer.start();
  const cache = mkdtempSync(join(tmpdir(), 'quern-web-models-'));
  const stage = new WebStage({ env: { HF_ENDPOINT: hub.url, HF_HUB_CACHE: cache } });
  after(async () => {
    await hub.close();
    rmSync(cache, { recursive: true, force: true });
  });
  hub.put(REPOSITORY, { 'small-Q4_K_M.gguf': Buffer.alloc(24 * MEBIBYTE, 4), 'small-Q8_0.gguf': Buffer.alloc(2 * MEBIBYTE, 8) });
  const shows = (text: string): Promise<void> =>
    stage.browser.until(`document.querySelector('main').innerText.includes(${JSON.stringify(text)})`);

  it('says what is built in, what suits this machine, and that nothing is in memory', async () => {
    await stage.open('models');
    await shows('quern-tiny');
    await shows('No model is in memory');
    await shows('best here');
    await stage.inspect('models');
  });

  it('offers the quantisations of a repository, and says why there are none of another', async () => {
    await stage.browser.fill('main form input', 'org/absent');
    await stage.browser.click('Quantisations');
    await stage.browser.until(`document.querySelector('main form .bad')?.innerText.includes('org/absent')`);
    await stage.browser.fill('main form input', REPOSITORY);
    await stage.browser.click('Quantisations');
    await shows('small-Q8_0.gguf');
    await stage.browser.click(`Pull ${REPOSITORY}:Q8_0`);
    await shows(`${REPOSITORY}:Q8_0 is here.`);
    await stage.browser.click(`Put away ${REPOSITORY}:Q8_0`);
    await stage.browser.until(`document.querySelector('main table td.name')`);
  });

  it('pulls with progress, stops, goes on though another view was looked at, and ends', async () => {
    hub.delayMs = 60;
    await stage.browser.fill('main form input', `${REPOSITORY}:Q4_K_M`);
    await stage.browser.press('Enter');
    await stage.browser.until(
      `document.querySelector('main progress')?.value > 0 && /B\\/s/.test(document.querySelector('main').innerText)`,
    );
    stage.forgive(404);
    // It is not over before it is stopped, however long that takes.
    hub.delayMs = 2_000;
    await stage.inspect('models-pull');
    await stage.browser.click('Stop the download');
    await shows('What came is kept.');
    await stage.open('models');
    await shows('What came is kept.');
    hub.delayMs = 60;
    await stage.browser.click(`Go on with ${REPOSITORY}`);
    await stage.browser.resize(1440, 900);
    await stage.browser.click('System', 'nav');
    await stage.browser.until(`location.hash === '#/system'`);
    hub.delayMs = 0;
    await stage.browser.click('Models', 'nav');
    await shows(`${REPOSITORY}:Q4_K_M is here.`);
    await shows('Q4_K_M, Q8_0');
  });

  it('says in words why a download failed, and tries again', async () => {
    await stage.browser.fill('main form input', 'org/absent');
    await stage.browser.click('Pull');
    await stage.browser.until(`[...document.querySelectorAll('main [role=alert]')].some((one) => one.innerText.includes('org/absent'))`);
    hub.put('org/absent', { 'absent-Q8_0.gguf': Buffer.alloc(MEBIBYTE, 1) });
    await stage.browser.click('Go on with org/absent');
    await shows('org/absent is here.');
  });

  it('removes one after a question', async () => {
    await stage.browser.click('Remove org/absent');
    await stage.browser.until(`document.querySelector('dialog[open]')?.innerText.includes('Its files are deleted')`);
    assert.equal(await stage.browser.value(`document.activeElement.innerText`), 'Keep it');
    await stage.browser.click('Keep it', 'dialog[open]');
    await stage.browser.until(`!document.querySelector('dialog[open]')`);
    await stage.browser.click('Remove org/absent');
    await stage.browser.click('Remove', 'dialog[open] footer');
    await stage.browser.until(toasted('org/absent is removed'));
    await stage.browser.until(`!document.querySelector('main table td.name')?.innerText.includes('org/absent')`);
    await stage.browser.until(`document.activeElement !== document.body`);
    assert.ok(!existsSync(join(cache, 'models--org--absent')));
  });

  it('shows a model in memory with what it takes, and unloads it', async () => {
    const answer = await fetch(`${stage.daemon.core}/v1/projects/default/quickstart/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1 }),
    });
    assert.equal(answer.status, 200);
    await stage.browser.until(`document.querySelector('main button[aria-label="Unload quern-tiny"]')`);
    assert.match(
      await stage.browser.value(`document.querySelector('main button[aria-label="Unload quern-tiny"]').closest('tr').innerText`),
      /MB/,
    );
    await stage.browser.click('Unload quern-tiny');
    await shows('No model is in memory');
    await stage.browser.until(toasted('quern-tiny is unloaded.'));
  });
});
