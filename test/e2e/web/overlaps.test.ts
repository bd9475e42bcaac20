// Answers that come late: what the reader did since, and asked since, stays.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { focused } from '../../support/browser.js';
import { answering, holding, LET_GO, NO_BROWSER, toasted, WebStage } from '../../support/web/stage.js';

const FIELD = 'textarea[aria-label=Message]';
const DIALOG = 'dialog[open]';
const HELD = 'window.isHeld';
const shows = (text: string): string => `document.querySelector('main').innerText.includes(${JSON.stringify(text)})`;
const value = (selector: string): string => `document.querySelector(${JSON.stringify(selector)})?.value`;

describe('late answers in the web interface', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(stage.daemon.core + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.ok(answer.ok, await answer.text());
  };
  const go = (place: string): Promise<unknown> => stage.browser.value(`(location.hash = ${JSON.stringify(`#/${place}`)}, 0)`);

  it('leaves the reader in a new project though an older list of projects has it not', async () => {
    const { browser } = stage;
    await stage.open('system');
    await browser.until(`${value('nav select')} === 'quickstart'`);
    await browser.value(holding('/v1/projects'));
    await go('data');
    await browser.until(HELD);
    await post('/v1/projects/default', { name: 'desk', config_template: 'default' });
    await go('projects');
    await browser.click('Work on it');
    await browser.until(`${value('nav select')} === 'desk'`);
    await browser.value(LET_GO);
    assert.equal(await browser.value(value('nav select')), 'desk');
  });

  it('keeps a changed answer though an older list of messages comes behind it', async () => {
    const { browser } = stage;
    await go('chat');
    await browser.until(`document.querySelector(${JSON.stringify(FIELD)})`);
    await browser.fill(FIELD, 'Hello');
    await browser.press('Enter');
    await browser.until(`location.hash.startsWith('#/chat/') && ${shows('tokens/s')}`);
    const first = await browser.value<string>('location.hash');
    await browser.click('New conversation');
    await browser.until(`document.querySelectorAll('article').length === 0`);
    await browser.value(holding('limit=2000'));
    await go(first.slice(2));
    await browser.until(`${HELD} && document.querySelectorAll('article').length === 2`);
    await browser.click('More', 'article:last-of-type footer');
    await browser.click('Change the text', ':popover-open');
    await browser.fill('textarea[aria-label="Text of the answer"]', 'Written by the reader');
    await browser.click('Keep this text');
    await browser.until(`${shows('Written by the reader')} && !document.querySelector('textarea[aria-label="Text of the answer"]')`);
    await browser.value(LET_GO);
    assert.ok(await browser.value(shows('Written by the reader')));
  });

  it('leaves what is typed in another conversation there when a new one is begun', async () => {
    const { browser } = stage;
    const first = await browser.value<string>('location.hash');
    await browser.click('New conversation');
    await browser.until(`location.hash === '#/chat' && ${value(FIELD)} === ''`);
    await browser.value(holding('/turns', 'POST'));
    await browser.fill(FIELD, 'Hello again');
    await browser.press('Enter');
    await browser.until(HELD);
    await go(first.slice(2));
    await browser.until(shows('Written by the reader'));
    await browser.fill(FIELD, 'Typed meanwhile');
    await browser.value(LET_GO);
    await browser.until(`document.querySelectorAll('.list > li').length === 2`);
    await browser.click('New conversation');
    await browser.until(`location.hash === '#/chat' && ${value(FIELD)} === ''`);
    await go(first.slice(2));
    await browser.until(`${shows('Written by the reader')} && ${value(FIELD)} === 'Typed meanwhile'`);
  });

  it('keeps what is typed while the project is saved', async () => {
    const { browser } = stage;
    const content = `document.querySelector('main [data-editor]')?.shadowRoot?.querySelector('.cm-content')`;
    await browser.resize(1440, 900);
    await go('projects/default/desk');
    await browser.until(content);
    await browser.until(focused(content));
    await browser.command('Input.insertText', { text: '# one\n' });
    await browser.click('Save ...');
    await browser.value(holding('/text', 'PUT'));
    await browser.until(
      `[...document.querySelectorAll('${DIALOG} footer button')].some((one) => one.innerText === 'Save' && !one.disabled)`,
    );
    await browser.click('Save', `${DIALOG} footer`);
    await browser.until(HELD);
    await browser.press('Escape');
    await browser.until(`!document.querySelector('${DIALOG}')`);
    await browser.until(focused(content));
    await browser.command('Input.insertText', { text: '# two\n' });
    await browser.until(`${content}.innerText.includes('# two')`);
    await browser.value(LET_GO);
    await browser.until(toasted('Saved.'));
    assert.ok(await browser.value(`${content}.innerText.includes('# two')`), 'what was typed is gone');
    await browser.click('Save ...');
    await browser.until(
      `[...document.querySelectorAll('${DIALOG} footer button')].some((one) => one.innerText === 'Save' && !one.disabled)`,
    );
    await browser.click('Save', `${DIALOG} footer`);
    await browser.until(
      `!document.querySelector('${DIALOG}') && [...document.querySelectorAll('main button')].find((one) => one.innerText === 'Save ...').disabled`,
    );
  });

  it('puts a better model into the project beside what somebody else changes meanwhile', async () => {
    const { browser } = stage;
    const path = '/v1/projects/default/desk';
    const best = { name: 'org/Better-GGUF:Q4_K_M', task: 'chat', best: true, here: true, bytes: 1_000, tokens_per_s: null };
    await browser.value(
      answering('/v1/models/suggestions', `Promise.resolve(new Response(${JSON.stringify(JSON.stringify({ models: [best] }))}))`),
    );
    await go('chat');
    await browser.until(shows('org/Better-GGUF'));
    await browser.value(holding('/text'));
    await browser.click('Use it here');
    await browser.until(HELD);
    const file = (await (await fetch(`${stage.daemon.core}${path}/text`)).json()) as { text: string; stamp: string };
    const changed = await fetch(`${stage.daemon.core}${path}/text`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: `${file.text}# theirs\n`, stamp: file.stamp }),
    });
    assert.equal(changed.status, 200, await changed.text());
    await browser.value(LET_GO);
    await browser.until(shows('answers now in desk.').replace('main', 'body'));
    const { text } = (await (await fetch(`${stage.daemon.core}${path}/text`)).json()) as { text: string };
    assert.match(text, /default_model: better\n/);
    assert.match(text, /model: org\/Better-GGUF:Q4_K_M\n/);
    assert.match(text, /# theirs\n/);
  });

  it('does not offer the quantisations of one repository under the name of another', async () => {
    const { browser } = stage;
    await go('models');
    await browser.until(shows('Get a model'));
    const list = JSON.stringify({ options: [{ filename: 'a.gguf', quantization: 'Q4_K_M', size_human: '1 GB' }] });
    await browser.value(
      answering('/quantizations', `new Promise((go) => (window.letGo = () => go(new Response(${JSON.stringify(list)}))))`),
    );
    await browser.fill('main form input', 'org/first');
    await browser.click('Quantisations');
    await browser.fill('main form input', 'org/second');
    await browser.value(LET_GO);
    assert.equal(await browser.value(`document.querySelectorAll('[aria-label^="Pull org/"]').length`), 0);
  });

  it('goes on with a download that is tried again while the stream of the failed one stays open', async () => {
    const { browser } = stage;
    const stream = `new Response(new ReadableStream({ start: (one) => (window.streams ??= []).push(one) }))`;
    const tell = (at: number, told: object): Promise<unknown> =>
      browser.value(`(streams[${at}].enqueue(new TextEncoder().encode(${JSON.stringify(`data: ${JSON.stringify(told)}\n\n`)})), 0)`);
    await browser.value(answering('/v1/models/download', `Promise.resolve(${stream})`));
    await browser.fill('main form input', 'org/third');
    await browser.click('Pull', 'main form');
    await browser.until(`window.streams?.length === 1`);
    await tell(0, { event: 'error', message: 'The disk is full.' });
    await browser.click('Go on with org/third');
    await browser.until(`window.streams.length === 2`);
    await tell(1, { event: 'init', total_size: 1_000, file_count: 1 });
    await tell(1, { event: 'progress', file: 'a', downloaded: 500, bytes_per_sec: 1 });
    await browser.until(`document.querySelector('[aria-label="Download of org/third"] progress')?.value === 0.5`);
    await browser.value(`((() => { try { streams[0].close(); } catch {} })(), 0)`);
    await browser.value(LET_GO.replace('window.letGo(), ', ''));
    assert.equal(await browser.value(`document.querySelector('[aria-label="Download of org/third"] progress')?.value`), 0.5);
    await browser.click('Stop the download of org/third');
  });
});
