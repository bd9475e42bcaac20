import { after, before, describe, it } from 'node:test';
import { Browser, CHROMIUM } from '../support/browser.js';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';

describe('the documentation page', { skip: CHROMIUM ? false : 'no Chromium is installed' }, () => {
  let daemon: DaemonUnderTest;
  let browser: Browser;
  before(async () => {
    daemon = await startDaemon();
    browser = await Browser.start();
  });
  after(async () => {
    await browser?.close();
    await daemon?.end('SIGKILL');
  });

  for (const [api, operation] of [
    ['core', '/v1/projects/{namespace}/{project}/chat/completions'],
    ['runtime', '/v1/chat/completions'],
  ] as const)
    it(`lists the operations of the ${api} API in a real browser`, async () => {
      await browser.open(`${daemon[api]}/docs`);
      await browser.until(`document.documentElement.outerHTML.includes(${JSON.stringify(operation)})`);
    });
});
