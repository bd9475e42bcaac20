import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clicked } from '../../support/browser.js';
import { NO_BROWSER, WebStage } from '../../support/web/stage.js';

describe('the API view of the web interface', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const shows = (text: string): Promise<void> =>
    stage.browser.until(`document.querySelector('main').innerText.includes(${JSON.stringify(text)})`);
  const answer = `document.querySelector('#health [aria-label=Answer]')?.innerText`;

  it('lists the operations by tag, and finds them by words', async () => {
    await stage.open('api');
    await shows('/v1/projects/{namespace}/{project}/chat/completions');
    await stage.browser.fill('main input[type=search]', 'check every component');
    await shows('1 operation.');
    await stage.browser.fill('main input[type=search]', 'no such words');
    await shows('No operation has these words');
    await stage.browser.fill('main input[type=search]', 'health');
  });

  it('sends a request, shows the answer and the same as a command', async () => {
    await stage.browser.until(clicked(`document.querySelector('#health > summary')`));
    await stage.browser.click('Send', '#health');
    await stage.browser.until(`${answer}?.includes('"status": "healthy"')`);
    assert.match(
      await stage.browser.value(`document.querySelector('#health [aria-label^="The request"]').innerText`),
      /^curl 'http:.*\/health'$/,
    );
    await stage.inspect('api');
  });

  it('streams an answer with a body and the project filled in, and stops it', async () => {
    await stage.browser.open('about:blank#');
    await stage.browser.open(`${stage.daemon.core}/docs#chat_completions`);
    const within = '#chat_completions';
    await stage.browser.until(`document.querySelector('${within} textarea')`);
    await stage.browser.fill(`${within} textarea`, JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], stream: true }));
    await stage.browser.click('Send', within);
    await stage.browser.until(`/data: \\[DONE\\]/.test(document.querySelector('${within} [aria-label=Answer]')?.innerText)`);
    await stage.browser.fill(`${within} textarea`, '{"messages": 1}');
    await stage.browser.click('Send', within);
    await stage.browser.until(`/^422/.test(document.querySelector('${within} [role=status]').innerText)`);
    await stage.browser.fill(`${within} input`, 'elsewhere');
    await stage.browser.reload();
    await stage.browser.until(`document.querySelector('${within} textarea')?.value === '{"messages": 1}'`);
    assert.equal(await stage.browser.value(`document.querySelector('${within} input').value`), 'elsewhere');
    await stage.browser.click('Fill in anew', within);
    await stage.browser.until(
      `document.querySelector('${within} textarea').value.includes('Hello') || document.querySelector('${within} textarea').value.includes('"role"')`,
    );
    assert.equal(await stage.browser.value(`Object.keys(localStorage).some((name) => name.includes('draft.api'))`), false);
    await stage.browser.click('What the body may hold', within);
    await stage.browser.until(`document.querySelector('${within}').innerText.includes('temperature')`);
  });

  it('stands alone on the port of the runtime, which has no other view', async () => {
    await stage.browser.open('about:blank#');
    await stage.browser.open(`${stage.daemon.runtime}/docs`);
    await shows('/v1/chat/completions');
    assert.equal(await stage.browser.value(`document.querySelectorAll('nav').length`), 0);
    stage.forgive(404, 422);
    await stage.inspect('api-runtime');
  });
});
