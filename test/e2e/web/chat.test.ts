import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { focused } from '../../support/browser.js';
import { emptyDataDir, startDaemon } from '../../support/daemon.js';
import { docx, pdf, wordParagraph } from '../../support/documents.js';
import { ScriptedOpenAI } from '../../support/scripted-openai.js';
import { EDITOR_BYTES, ENTRY_BYTES, loadedAssets, sumOf, VIEW_BYTES, VIEWS } from '../../support/web/assets.js';
import { chatHost } from '../../support/web/chat-host.js';
import { answering, LET_GO, NO_BROWSER, toasted, WebStage } from '../../support/web/stage.js';

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const FIELD = 'textarea[aria-label=Message]';
const LAST = `[...document.querySelectorAll('article')].at(-1)`;
const shows = (text: string): string => `document.querySelector('main').innerText.includes(${JSON.stringify(text)})`;
const answered = (text: string): string =>
  `document.querySelector('[role=log]')?.getAttribute('aria-busy') === 'false' && ${LAST}?.innerText.includes(${JSON.stringify(text)})`;
/** Whether screen readers are told a text, beside the page or in the dialog that is open. */
const told = (text: string, within = '#app'): string =>
  `document.querySelector(${JSON.stringify(`${within} > [role=status]`)})?.textContent.includes(${JSON.stringify(text)})`;
const VALUE = `document.querySelector(${JSON.stringify(FIELD)})?.value`;
const REFUSED = `Promise.resolve(new Response('{"detail":"The disk is full."}', { status: 507 }))`;
const MODEL = 'select[aria-label=Model]';
/** The focus is in the field of the message. */
const IN_FIELD = `document.activeElement === document.querySelector(${JSON.stringify(FIELD)})`;
const GREETING = 'Hello, who are you?';

describe('the first visit of the chat', { skip: NO_BROWSER }, () => {
  // As it is from another machine: browsers keep the clipboard and more from pages that come by plain HTTP under such a name.
  const NAME = 'quern.test';
  const stage = new WebStage({ args: ['--allowed-hosts', NAME] }, [`--host-resolver-rules=MAP ${NAME} 127.0.0.1`]);

  it('says who answers, answers at once, and imports an example', async () => {
    const { browser } = stage;
    // The address that people type has no part behind it yet.
    await browser.open(stage.daemon.core.replace('127.0.0.1', NAME));
    assert.equal(await browser.value('isSecureContext'), false);
    await browser.until(shows('quern-tiny'));
    await browser.until(`${shows('Watch over a cold store')} && ${shows('use it here')}`);
    await stage.inspect('chat-first-visit');
    await browser.fill(FIELD, GREETING);
    // This Enter ends a word of an input method.
    await browser.value(
      `document.querySelector(${JSON.stringify(FIELD)}).dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))`,
    );
    assert.deepEqual([await browser.value(VALUE), await browser.value('location.hash')], [GREETING, '']);
    await browser.press('Enter');
    await browser.until(answered('tokens/s'));
    assert.match(await browser.value('location.hash'), /^#\/chat\/conv_/);
    const { conversations } = (await (await fetch(`${stage.daemon.core}/v1/projects/default/quickstart/conversations`)).json()) as {
      conversations: { title: string; messages: number }[];
    };
    assert.deepEqual(
      conversations.map(({ title, messages }) => [title, messages]),
      [[GREETING, 2]],
    );
    await browser.until(focused(`${LAST}.querySelector('[aria-label=Copy]')`));
    await browser.press('Enter');
    await browser.until(toasted('Copied.'));
    // A sound that is played again and again is heard until it is stopped, however late that is.
    await browser.value(
      `((Own) => (window.Audio = function (address) { return Object.assign(new Own(address), { loop: true }); }, 0))(window.Audio)`,
    );
    await browser.click('Read aloud');
    await browser.until(`performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/audio/speech'))`);
    await browser.click('Stop reading');
    await browser.until(`${LAST}.querySelector('[aria-label="Read aloud"]')`);
    await browser.click('New conversation');
    await browser.click('Import Watch over a cold store');
    await browser.until(`document.querySelector('nav select').value === 'cold-store'`);
  });

  it('opens the passages of an answer where they stand', async () => {
    const { browser } = stage;
    const isRead = async (): Promise<boolean> => {
      const found = await fetch(`${stage.daemon.core}/v1/projects/default/cold-store/rag/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'defrost' }),
      });
      return (await found.text()).includes('EV-220');
    };
    while (!(await isRead())) await new Promise((resolve) => setTimeout(resolve, 100));
    await browser.fill(FIELD, 'When does room C defrost?');
    await browser.press('Enter');
    await browser.until(`document.querySelector('[aria-label=Sources] button')`);
    await browser.click('1', '[aria-label=Sources]');
    await browser.until(`document.querySelector('aside mark')?.textContent.includes('evaporators of room C')`);
    await stage.inspect('chat-source');
    await browser.press('Escape');
    await browser.until(`!document.querySelector('aside')`);
  });
});

describe('the chat of the web interface', { skip: NO_BROWSER }, () => {
  const dataDir = emptyDataDir();
  let host: ScriptedOpenAI;
  const stage = new WebStage({ dataDir });
  before(async () => {
    host = await ScriptedOpenAI.start();
    host.always(chatHost);
    const folder = join(dataDir, 'projects', 'default', 'desk');
    mkdirSync(folder, { recursive: true });
    const models = [
      { name: 'm', provider: 'compat_api', model: 'm', base_url: host.base },
      { name: 'other', provider: 'compat_api', model: 'n', base_url: host.base },
    ];
    const mcp = {
      servers: [{ name: 'everything', transport: 'stdio', command: process.execPath, args: [EVERYTHING, 'stdio'], ask: ['echo'] }],
    };
    writeFileSync(
      join(folder, 'project.yaml'),
      JSON.stringify({ version: 'v1', name: 'desk', namespace: 'default', runtime: { models }, mcp }),
    );
    await stage.open('chat');
    await stage.browser.value(`(localStorage.setItem('quern.project', '{"namespace":"default","name":"desk"}'), 0)`);
    await stage.browser.reload();
    await stage.browser.until(`document.querySelector('nav select')?.value === 'desk'`);
  });
  after(() => host.close());

  const ask = async (text: string): Promise<void> => {
    await stage.browser.until(`document.querySelector(${JSON.stringify(FIELD)})`);
    await stage.browser.fill(FIELD, text);
    await stage.browser.press('Enter');
  };
  const begin = async (text: string): Promise<void> => {
    await stage.browser.click('New conversation');
    await stage.browser.until(`location.hash === '#/chat'`);
    await ask(text);
  };

  it('shows Markdown with code, tables and formulas, and nothing of other hosts', async () => {
    const { browser } = stage;
    await begin('Show me markdown');
    await browser.until(answered('A generic List<T>'));
    await browser.until(`${LAST}.querySelectorAll('math').length === 2 && ${LAST}.querySelector('.hljs-keyword')`);
    const seen = await browser.value<unknown>(`({
      table: ${LAST}.querySelectorAll('.wide table tr').length,
      cells: [...${LAST}.querySelectorAll('tbody tr:first-child td')].map((one) => getComputedStyle(one).textAlign),
      code: [...${LAST}.querySelectorAll('.code .language')].map((one) => one.textContent),
      pictures: ${LAST}.querySelectorAll('img').length,
      hacked: 'hacked' in window,
      links: [...${LAST}.querySelectorAll('.markdown a')].map((one) => [one.getAttribute('href'), one.rel, one.target]),
    })`);
    const safe = ['noopener noreferrer', '_blank'];
    assert.deepEqual(seen, {
      table: 3,
      cells: ['start', 'right'],
      code: ['python', 'mermaid'],
      pictures: 0,
      hacked: false,
      links: [
        ['https://example.org/a', ...safe],
        ['https://example.org/p.png', ...safe],
        [null, ...safe],
      ],
    });
    assert.ok(await browser.value(shows('it costs $5 or $10')));
    // Screen readers hear the answer without its marks.
    await browser.until(told('Answer: A heading Some bold text, code, a link and a formula'));
    await stage.inspect('chat-markdown');
    // The end stays in sight where the room becomes smaller, as it does when a phone opens its keyboard.
    await browser.value(`((one) => one.scrollTo({ top: one.scrollHeight }))(document.querySelector('[role=log]'))`);
    await browser.until(`!document.querySelector('[aria-label="To the end"]')`);
    await browser.resize(390, 400);
    await browser.until(
      `((one) => one.scrollHeight > one.clientHeight && one.scrollHeight - one.scrollTop - one.clientHeight < 2)(document.querySelector('[role=log]'))`,
    );
    await browser.resize(1440, 900);
  });

  it('loads no more than its share of code', async () => {
    await stage.open('nowhere');
    const entry = await loadedAssets(stage.browser);
    assert.ok(sumOf(entry) <= ENTRY_BYTES, `the entry has ${sumOf(entry)} bytes`);
    for (const view of VIEWS) {
      await stage.open(view);
      const bytes = sumOf(await loadedAssets(stage.browser), entry);
      assert.ok(bytes <= (view === 'projects' ? EDITOR_BYTES : VIEW_BYTES), `the view ${view} has ${bytes} bytes`);
    }
    stage.browser.complaints.length = 0;
    await stage.open('chat');
  });

  it('edits a question, answers again, and goes from branch to branch', async () => {
    const { browser } = stage;
    await begin('One two three');
    await browser.until(`${answered('had 3 words')} && ${IN_FIELD}`);
    await browser.press('ArrowUp');
    await browser.until(`document.activeElement.getAttribute('aria-label') === 'Your question in other words'`);
    await browser.fill('textarea[aria-label="Your question in other words"]', 'One two');
    const here = await browser.value<string>('location.hash');
    await browser.click('New conversation');
    await browser.until(`!${shows('had 3 words')}`);
    await browser.value(`(location.hash = ${JSON.stringify(here)}, 0)`);
    await browser.until(`${answered('had 3 words')} && ${IN_FIELD}`);
    await browser.press('ArrowUp');
    await browser.until(`document.querySelector('textarea[aria-label="Your question in other words"]')?.value === 'One two'`);
    await browser.press('Escape');
    await browser.until(IN_FIELD);
    await browser.press('ArrowUp');
    await browser.fill('textarea[aria-label="Your question in other words"]', 'One two');
    await browser.click('Ask again');
    await browser.until(`${answered('had 2 words')} && ${shows('2 of 2')}`);
    await browser.click('Another answer');
    await browser.until(`${answered('had 2 words')} && ${LAST}.innerText.includes('2 of 2')`);
    await stage.inspect('chat-branches');
    await browser.click('Branch before', 'article');
    await browser.until(answered('had 3 words'));
    await browser.click('More');
    await browser.click('Branch into a new conversation', ':popover-open');
    await browser.until(toasted('conversation of its own'));
  });

  it('stops, goes on, and says what a broken answer was', async () => {
    const { browser } = stage;
    await begin('Say it slowly');
    await browser.until(shows('and goes on'));
    await browser.until(focused(`document.querySelector('input[type=search]')`));
    await browser.press('Escape');
    assert.equal(await browser.value(`document.querySelector('[role=log]').getAttribute('aria-busy')`), 'true');
    await browser.until(focused(`document.querySelector(${JSON.stringify(FIELD)})`));
    await browser.press('Escape');
    await browser.until(answered('You stopped this answer'));
    assert.ok(await browser.value(`${LAST}.innerText.includes('It begins and goes on')`));
    await browser.click('Continue');
    await browser.until(`${shows('It begins and goes onIt begins')}`);
    // The second press of a double click on "Send" stops nothing, and the keyboard stays on the button whose words change.
    await browser.value(`document.querySelector('[aria-label=Stop]').dispatchEvent(new MouseEvent('click', { detail: 2, bubbles: true }))`);
    await browser.until(focused(`document.querySelector('[aria-label=Stop]')`));
    assert.equal(await browser.value(`document.querySelector('[role=log]').getAttribute('aria-busy')`), 'true');
    await browser.press('Enter');
    await browser.until(answered('You stopped this answer'));
    assert.equal(await browser.value('document.activeElement.ariaLabel'), 'Send');
    await begin('Now break');
    await browser.until(
      `document.querySelector('[role=log]')?.getAttribute('aria-busy') === 'false' && ${LAST}.querySelector('[role=alert]')`,
    );
    await stage.inspect('chat-failed');
  });

  it('goes on though the connection of the answer before stays open for a while', async () => {
    const { browser } = stage;
    const ending = `new TransformStream({ flush: () => new Promise((resolve) => (window.endStream = resolve)) })`;
    await browser.value(
      answering(
        '/turns',
        `ownFetch(url, options).then((told) => window.endStream ? told : new Response(told.body.pipeThrough(${ending}), told))`,
      ),
    );
    await begin('One two three');
    await browser.until(`${answered('had 3 words')} && window.endStream !== undefined`);
    await ask('Say it slowly');
    await browser.until(shows('and goes on'));
    await browser.value(`(window.endStream(), new Promise((resolve) => setTimeout(() => resolve(0), 200)))`);
    assert.ok(await browser.value(`${LAST}.innerText.includes('It begins and goes on')`), 'the answer is gone');
    await browser.click('Stop');
    await browser.until(answered('You stopped this answer'));
    await browser.value(`(window.fetch = window.ownFetch, 0)`);
  });

  it('folds thoughts, and asks before a tool is called', async () => {
    const { browser } = stage;
    await begin('Please think');
    await browser.until(answered('Four.'));
    assert.equal(await browser.value(`${LAST}.querySelector('details').open`), false);
    await begin('An echo please');
    await browser.until(shows('asks you before this call is made'));
    await stage.inspect('chat-waiting-tool');
    await browser.click('Allow');
    await browser.until(answered('The tool said: '));
    assert.ok(await browser.value(`${LAST}.querySelector('details').textContent.includes('Hi there')`));
  });

  it('keeps settings, drafts, names and pins, and finds and deletes conversations', async () => {
    const { browser } = stage;
    await begin('Where is the lighthouse');
    await browser.until(answered('had 4 words'));
    await browser.click('Settings of this conversation');
    await browser.fill('dialog textarea', 'Answer like a sailor.');
    // It is opened again in the very moment in which it closes.
    await browser.value(
      `(new MutationObserver((_, watching) => (watching.disconnect(), document.querySelector('[aria-label="Settings of this conversation"]').click())).observe(document.querySelector('dialog[open]'), { attributeFilter: ['open'] }), 0)`,
    );
    await browser.press('Escape');
    await browser.until(`document.querySelector('dialog[open] textarea')?.value === 'Answer like a sailor.'`);
    await browser.fill('dialog input[max="2"]', '0.3');
    // Another page changes the conversation while its settings are open.
    const id = (await browser.value<string>('location.hash')).split('/').at(-1)!;
    await fetch(`${stage.daemon.core}/v1/projects/default/desk/conversations/${id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'Where is the lighthouse now' }),
    });
    await browser.value(`(window.dispatchEvent(new Event('focus')), 0)`);
    await browser.until(`document.querySelector('.main h1').innerText === 'Where is the lighthouse now'`);
    assert.equal(await browser.value(`document.querySelector('dialog input[max="2"]').value`), '0.3');
    await stage.inspect('chat-settings');
    // What fails behind an open dialog is heard in it, and can be put away there.
    await browser.value(answering('/conversations/', REFUSED));
    await browser.choose(MODEL, 'other');
    await browser.until(told('The disk is full.', 'dialog[open]'));
    await browser.until(`(() => {
      const { x, y } = document.querySelector('dialog[open] .toast button')?.getBoundingClientRect() ?? {};
      return x && document.elementFromPoint(x + 9, y + 9)?.closest('dialog[open] .toast');
    })()`);
    await browser.click('Dismiss', 'dialog[open]');
    await browser.value(`(window.fetch = ownFetch, 0)`);
    await browser.click('Keep', 'dialog[open]');
    await browser.until(`!document.querySelector('dialog[open]')`);
    // A question that is asked before the choice of a model has reached the daemon waits for it.
    await browser.value(
      answering(
        '/conversations/',
        `options?.method === 'PATCH' ? new Promise((go) => (window.letGo = go)).then(() => ownFetch(url, options)) : undefined`,
      ),
    );
    await browser.choose(MODEL, 'other');
    await browser.until('window.letGo');
    await ask('And the harbour');
    await browser.until(shows('And the harbour'));
    await browser.value(LET_GO);
    await browser.until(answered('had 3 words'));
    const { model, messages, temperature } = host.seen.at(-1)!.body as {
      model: string;
      temperature: number;
      messages: { content: string }[];
    };
    assert.deepEqual([model, temperature], ['n', 0.3]);
    assert.ok(messages.some(({ content }) => content.includes('Answer like a sailor.')));
    await browser.fill(FIELD, 'A thought that is not sent');
    await browser.reload();
    await browser.until(`document.querySelector(${JSON.stringify(FIELD)})?.value === 'A thought that is not sent'`);
    await browser.click('More of Where is the lighthouse');
    await browser.click('Rename', ':popover-open');
    await browser.fill('dialog input', 'Lights at sea');
    await browser.click('Rename', 'dialog[open]');
    await browser.until(`document.querySelector('.main h1').innerText === 'Lights at sea'`);
    await browser.click('More of Lights at sea');
    await browser.click('Pin', ':popover-open');
    await browser.until(`document.querySelector('.list li')?.innerText.includes('Lights at sea')`);
    const { conversations } = (await (await fetch(`${stage.daemon.core}/v1/projects/default/desk/conversations`)).json()) as {
      conversations: { id: string }[];
    };
    const saved = await fetch(`${stage.daemon.core}/v1/projects/default/desk/conversations/${conversations[0]!.id}/export?format=json`);
    writeFileSync(join(dataDir, 'saved.json'), (await saved.text()).replaceAll('harbour', 'pier'));
    await browser.attach('.top input[type=file]', join(dataDir, 'saved.json'));
    await browser.until(toasted('1 conversation was imported'));
    await browser.fill('input[type=search]', 'harbour');
    await browser.until(`document.querySelectorAll('.list > li').length === 1`);
    await stage.inspect('chat-search');
    await browser.resize(390, 844);
    await browser.click('List of conversations');
    await browser.until(`document.querySelector('.side').checkVisibility()`);
    await stage.inspect('chat-list');
    await browser.click('More of Lights at sea');
    await browser.click('Delete', ':popover-open');
    await browser.click('Delete it', 'dialog[open]');
    await browser.until(`location.hash === '#/chat' && document.querySelectorAll('.list > li').length === 0`);
  });

  it('keeps text and files of a question that is refused', async () => {
    const { browser } = stage;
    const file = join(dataDir, 'plan.txt');
    writeFileSync(file, 'North by north-west.');
    const count = async (): Promise<number> =>
      ((await (await fetch(`${stage.daemon.core}/v1/projects/default/desk/conversations`)).json()) as { total: number }).total;
    const before = await count();
    await browser.click('New conversation');
    await browser.attach('.composer input[type=file]', file);
    await browser.until(`document.querySelectorAll('.composer li').length === 1`);
    await browser.value(answering('/turns', REFUSED));
    await ask('Which way now');
    await browser.until(`${shows('The disk is full.')} && ${VALUE} === 'Which way now' && location.hash === '#/chat'`);
    assert.equal(await browser.value(`document.querySelectorAll('.composer li').length`), 1);
    assert.equal(await count(), before);
    await browser.value(`(window.fetch = ownFetch, 0)`);
    await browser.until(focused(`document.querySelector(${JSON.stringify(FIELD)})`));
    await browser.press('Enter');
    await browser.until(`${answered('words.')} && location.hash.startsWith('#/chat/') && ${VALUE} === ''`);
    assert.match(JSON.stringify(host.seen.at(-1)!.body), /north-west/);
    await browser.value(answering('/turns', REFUSED));
    await browser.click('Edit', '[role=log]');
    await browser.fill('textarea[aria-label="Your question in other words"]', 'Which way then');
    await browser.click('Ask again');
    await browser.until(shows('The disk is full.'));
    assert.equal(await browser.value(`document.querySelector('.edited textarea').value`), 'Which way then');
    await browser.value(`(window.fetch = ownFetch, 0)`);
    await browser.attach('.composer input[type=file]', file);
    await browser.until(`document.querySelectorAll('.composer li').length === 1`);
    const here = await browser.value<string>('location.hash');
    await browser.click('New conversation');
    await browser.until(`document.querySelectorAll('.composer li').length === 0`);
    await browser.value(`(location.hash = ${JSON.stringify(here)}, 0)`);
    await browser.until(`document.querySelectorAll('.composer li').length === 1`);
    await browser.click('Remove plan.txt');
  });

  it('sends a document with the text that the daemon reads in it, and says why one cannot be read', async () => {
    const { browser } = stage;
    const [letter, scan] = [join(dataDir, 'letter.docx'), join(dataDir, 'scan.pdf')];
    writeFileSync(letter, docx(wordParagraph('The harbour opens at nine.')));
    writeFileSync(scan, pdf(['0 0 10 10 re f']));
    await browser.click('New conversation');
    await browser.attach('.composer input[type=file]', scan);
    await browser.until(toasted('scan.pdf holds no text'));
    await browser.resize(360, 740);
    await browser.until(
      `(({ x, y }) => document.elementFromPoint(x + 9, y + 9).closest('button')?.ariaLabel === 'Send')(document.querySelector('.composer [type=submit]').getBoundingClientRect())`,
    );
    await browser.resize(1440, 900);
    // A file may be dropped anywhere in the chat; elsewhere it does not take the place of the page.
    const drop = (at: string): Promise<boolean> =>
      browser.value(`((dataTransfer) => {
        dataTransfer.items.add(new File(['Low water at six.'], 'note.txt'));
        return document.querySelector('${at}').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      })(new DataTransfer())`);
    assert.deepEqual([await drop('.main h1'), await drop('nav')], [false, false]);
    await browser.until(`document.querySelector('.composer').innerText.includes('note.txt')`);
    await browser.click('Remove note.txt');
    await browser.attach('.composer input[type=file]', letter);
    await browser.until(`document.querySelector('.composer li')?.innerText.includes('26 characters')`);
    stage.forgive(422);
    await stage.inspect('chat-document');
    await ask('When does it open');
    await browser.until(answered('words.'));
    assert.match(JSON.stringify(host.seen.at(-1)!.body), /File \\"letter.docx.*The harbour opens at nine/);
  });

  it('keeps what is said in a talk in a conversation, and none where nothing is said', async () => {
    const { browser } = stage;
    await browser.click('New conversation');
    await browser.until(`location.hash === '#/chat'`);
    // No model that listens is here; what is said comes as text.
    await browser.value(answering('/v1/models', `Promise.resolve(new Response('{"data":[{"id":"whisper"}]}'))`));
    await browser.value(
      `(window.WebSocket = class extends WebSocket { constructor(...given) { super(...given); window.talkSocket = this; } }, 0)`,
    );
    await browser.click('Talk');
    await browser.until(`window.talkSocket?.readyState === 1 && location.hash.startsWith('#/chat/conv_')`);
    await browser.value(`(talkSocket.send(JSON.stringify({ type: 'text', text: 'Where is the pier' })), 0)`);
    await browser.until(answered('had 4 words'));
    await browser.until(`document.querySelector('.main h1').innerText === 'Where is the pier'`);
    await stage.inspect('chat-talk');
    await browser.click('End', '.voice');
    await browser.until(`!document.querySelector('.voice')`);
    await browser.click('New conversation');
    await browser.until(`location.hash === '#/chat'`);
    await browser.click('Talk');
    await browser.until(`document.querySelector('.voice') && location.hash.startsWith('#/chat/conv_')`);
    await browser.click('End', '.voice');
    await browser.until(`location.hash === '#/chat'`);
    await browser.value(`(window.fetch = ownFetch, 0)`);
  });

  it('shows what a file of conversations has twice, and asks behind what is not read yet', async () => {
    const { browser } = stage;
    const source = (n: number) => ({
      n,
      id: 'a',
      text: 'b',
      document: 'c.md',
      file_hash: null,
      dataset: null,
      page: null,
      score: 0.5,
      metadata: {},
    });
    const call = { id: 'same', type: 'function', function: { name: 'look', arguments: '{}' } };
    const made = {
      tool_call_id: 'same',
      name: 'look',
      server: 's',
      tool: 'look',
      arguments: '{}',
      result: 'seen',
      failed: false,
      duration_ms: 1,
    };
    const answer = {
      id: 'b',
      parent: 'a',
      role: 'assistant',
      content: 'It says so [1], as `a` and x[1] and [99] do.',
      citations: [source(1), source(1), source(2)],
      tool_calls: [call, call],
      made_calls: [made, made],
    };
    const now = new Date().toISOString();
    writeFileSync(
      join(dataDir, 'twice.json'),
      JSON.stringify({
        format: 'quern-conversation',
        version: 1,
        conversation: { title: 'Twice', created_at: now, updated_at: now, current: 'b' },
        messages: [{ id: 'a', parent: null, role: 'user', content: 'What does it say' }, answer],
      }),
    );
    await browser.fill('input[type=search]', '');
    await browser.attach('.top input[type=file]', join(dataDir, 'twice.json'));
    await browser.until(`document.querySelector('.list')?.innerText.includes('Twice')`);
    await browser.value(answering('limit=2000', `new Promise((go) => setTimeout(() => go(ownFetch(url, options)), 500))`));
    await browser.click('Twice', '.list');
    await browser.until(`location.hash.startsWith('#/chat/')`);
    await ask('And what more');
    await browser.until(answered('had 3 words'));
    await browser.value(`(window.fetch = ownFetch, 0)`);
    const seen = await browser.value(
      `[document.querySelectorAll('article').length, [...document.querySelectorAll('button.cite')].map((one) => one.textContent), document.querySelectorAll('[aria-label=Sources] > li').length, document.querySelectorAll('details.call').length]`,
    );
    assert.deepEqual(seen, [4, ['1'], 1, 2]);
  });

  it('takes files, and shows them with the question', async () => {
    const { browser } = stage;
    await browser.click('New conversation');
    const [picture, text] = [join(dataDir, 'dot.png'), join(dataDir, 'note.txt')];
    const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    writeFileSync(picture, Buffer.from(PIXEL, 'base64'));
    writeFileSync(text, 'The password of the lighthouse is herring.');
    await browser.attach('.composer input[type=file]', picture, text);
    await browser.until(`document.querySelectorAll('.composer li').length === 2`);
    // A long text that is pasted is a file too; a short one goes into the field.
    const paste = (given: string): Promise<boolean> =>
      browser.value(`(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', ${given});
        return document.querySelector('${FIELD}').dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      })()`);
    assert.equal(await paste(`'a word'`), true);
    assert.equal(await paste(`'a line\\n'.repeat(4_000)`), false);
    await browser.until(`[...document.querySelectorAll('.composer li')].some((one) => one.innerText.includes('pasted.txt'))`);
    await ask('What is this');
    await browser.until(answered('words.'));
    assert.match(JSON.stringify(host.seen.at(-1)!.body), /herring/);
    await browser.until(`document.querySelector('article img')?.naturalWidth === 1`);
    await stage.inspect('chat-attachments');
  });

  it('keeps what was written when the daemon ends, and goes on when it is back', async () => {
    const { browser } = stage;
    await begin('Say it slowly, please');
    await browser.until(shows('and goes on'));
    const port = Number(new URL(stage.daemon.core).port);
    await stage.daemon.end('SIGKILL');
    await browser.until(shows('does not answer'));
    assert.ok(await browser.value(`[...document.querySelectorAll('article')].some((one) => one.innerText.includes('slowly, please'))`));
    await browser.fill(FIELD, 'Typed meanwhile');
    stage.daemon = await startDaemon({ dataDir, port });
    await browser.until(`!${shows('does not answer')} && ${shows('was cut off')}`);
    assert.equal(await browser.value(`document.querySelector(${JSON.stringify(FIELD)}).value`), 'Typed meanwhile');
    stage.forgive('net::ERR_CONNECTION_REFUSED');
    browser.complaints.length = 0;
  });

  it('shows what another page said, and that a conversation is gone', async () => {
    const { browser } = stage;
    await begin('First page');
    await browser.until(answered('had 2 words'));
    const id = (await browser.value<string>('location.hash')).split('/').at(-1)!;
    const place = `${stage.daemon.core}/v1/projects/default/desk/conversations/${id}`;
    const turn = { method: 'POST', headers: { 'content-type': 'application/json' } };
    await (await fetch(`${place}/turns`, { ...turn, body: JSON.stringify({ message: { content: 'From the other page here' } }) })).text();
    await browser.value(`(window.dispatchEvent(new Event('focus')), 0)`);
    await browser.until(answered('had 5 words'));
    const slow = fetch(`${place}/turns`, { ...turn, body: JSON.stringify({ message: { content: 'slowly' } }) });
    await slow;
    await ask('Both at once');
    await browser.until(shows('being written in this conversation'));
    assert.equal(await browser.value(`document.querySelector(${JSON.stringify(FIELD)}).value`), 'Both at once');
    stage.forgive(409);
    await browser.until(`${shows('being written on another page')} || ${LAST}.innerText.includes('and goes on')`);
    await browser.click('Stop', '.composer');
    await browser.until(answered('You stopped this answer'));
    assert.equal(await browser.value(`${LAST}.querySelectorAll('.markdown > div').length`), 1);
    await fetch(place, { method: 'DELETE' });
    await browser.value(`(window.dispatchEvent(new Event('focus')), 0)`);
    await browser.until(shows('This conversation is not here'));
    stage.forgive(404);
    await stage.inspect('chat-gone');
    await browser.click('Begin a new one');
    await browser.until(`location.hash === '#/chat' && ${VALUE} === 'Both at once'`);
    await begin('Say it slowly');
    await browser.until(shows('and goes on'));
    await browser.reload();
    await browser.until(`${shows('was cut off')} && ${VALUE} === ''`);
    await browser.choose('nav select', 'quickstart');
    await browser.until(`location.hash === '#/chat' && ${shows('quern-tiny')}`);
  });
});
