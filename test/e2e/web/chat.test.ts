import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_BROWSER, WebStage } from '../../support/web/stage.js';

const MAIN = 'document.querySelector("main")';
const shows = (text: string): string => `${MAIN}.innerText.includes(${JSON.stringify(text)})`;
/** Whether the page has an answer that is complete. */
const ANSWERED = `document.querySelector('[role=log]')?.getAttribute('aria-busy') === 'false' && document.querySelectorAll('article[aria-label=Answer]').length > 0`;

describe('the chat of the web interface', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const ask = async (text: string): Promise<void> => {
    await stage.browser.fill('textarea[aria-label=Message]', text);
    await stage.browser.press('Enter');
  };
  const api = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${stage.daemon.core}/v1/projects/default/quickstart/conversations${path}`);
    return (await answer.json()) as T;
  };

  it('says on the first visit who answers, and answers at once', async () => {
    await stage.open('chat');
    await stage.browser.until(shows('quern-tiny'));
    await stage.browser.until(shows('Watch over a cold store'));
    await stage.inspect('chat-first-visit');
    await ask('Hello, who are you?');
    await stage.browser.until(ANSWERED);
    await stage.browser.until(shows('tokens/s'));
    assert.match(await stage.browser.value('location.hash'), /^#\/chat\/conv_/);
    const { conversations } = await api<{ conversations: { title: string; messages: number }[] }>('');
    assert.deepEqual(
      conversations.map(({ title, messages }) => [title, messages]),
      [['Hello, who are you?', 2]],
    );
    await stage.inspect('chat-answer');
  });
});
