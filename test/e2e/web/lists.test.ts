// Lists of the web interface: their pages, and where the keyboard is when something is taken out of them.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { emptyDataDir } from '../../support/daemon.js';
import { answering, NO_BROWSER, WebStage } from '../../support/web/stage.js';

const DIALOG = 'dialog[open]';
const QUICKSTART = '/v1/projects/default/quickstart';
/** The name of what has the focus. */
const FOCUS = `(document.activeElement.ariaLabel ?? document.activeElement.innerText).trim()`;

describe('lists of the web interface', { skip: NO_BROWSER }, () => {
  const cache = emptyDataDir();
  const stage = new WebStage({ env: { HF_HUB_CACHE: cache } });

  const send = async (path: string, body: object | FormData, method = 'POST'): Promise<unknown> => {
    const isForm = body instanceof FormData;
    const headers: Record<string, string> = isForm ? {} : { 'content-type': 'application/json' };
    const answer = await fetch(stage.daemon.core + path, { method, headers, body: isForm ? body : JSON.stringify(body) });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
    return answer.json();
  };
  const many = (count: number, make: (n: number) => unknown): Promise<unknown[]> =>
    Promise.all(Array.from({ length: count }, (_, at) => make(at + 1)));
  const two = (n: number): string => String(n).padStart(2, '0');

  /** Steps to the last page of a list, which has one entry, and back. */
  async function steps(of: string, size: number, rows: string, until = ''): Promise<void> {
    const { browser } = stage;
    const pages = `document.querySelector('nav[aria-label="Pages of ${of}"]')`;
    const isAt = (from: number, to: number): string =>
      `${pages}?.innerText.includes('${from} to ${to} of ${size + 1} ${of}') && document.querySelectorAll('${rows}').length === ${to - from + 1}${until}`;
    const isDisabled = (name: string): string => `document.querySelector('button[aria-label="${name} ${of}"]').disabled`;
    await browser.until(isAt(1, size));
    assert.deepEqual(await browser.value(`[${isDisabled('Earlier')}, ${isDisabled('Later')}]`), [true, false]);
    await browser.click(`Later ${of}`);
    await browser.until(isAt(size + 1, size + 1));
    assert.deepEqual(await browser.value(`[${isDisabled('Earlier')}, ${isDisabled('Later')}]`), [false, true]);
    await browser.click(`Earlier ${of}`);
    await browser.until(isAt(1, size));
    await browser.click(`Later ${of}`);
    await browser.until(isAt(size + 1, size + 1));
  }

  /** Presses the button of a selector by the keyboard. */
  async function press(selector: string): Promise<void> {
    await stage.browser.until(
      `(document.querySelector(${JSON.stringify(selector)})?.focus(), document.activeElement.matches(${JSON.stringify(selector)}))`,
    );
    await stage.browser.press('Enter');
  }

  /** Chooses what deletes from a menu, by the keyboard. */
  async function pressDelete(opener: string): Promise<void> {
    await press(opener);
    await stage.browser.until(`document.activeElement.closest(':popover-open')`);
    await press(':popover-open .dangerous');
  }

  /** Removes the entry whose button has this name, and says what has the focus then; `rows` is how many are left. */
  async function remove(button: string, act: string, rows: string, left: number): Promise<string> {
    const { browser } = stage;
    await press(`main button[aria-label="${button}"]`);
    await browser.until(`document.activeElement.closest('${DIALOG}')`);
    await browser.click(act, `${DIALOG} footer`);
    await browser.until(
      `!document.querySelector('${DIALOG}, main button[aria-label="${button}"]') && document.querySelectorAll('${rows}').length === ${left} && document.activeElement !== document.body`,
    );
    return browser.value(FOCUS);
  }

  before(async () => {
    for (let n = 1; n <= 51; n += 1) {
      const folder = join(cache, `models--org--m${two(n)}`);
      mkdirSync(join(folder, 'snapshots/1'), { recursive: true });
      mkdirSync(join(folder, 'refs'));
      writeFileSync(join(folder, 'refs/main'), '1');
      writeFileSync(join(folder, 'snapshots/1/m.gguf'), `m${n}`);
    }
  });

  it('of files', async () => {
    const { databases, data_processing_strategies: strategies } = (await (
      await fetch(`${stage.daemon.core}${QUICKSTART}/datasets/strategies`)
    ).json()) as { databases: string[]; data_processing_strategies: string[] };
    for (const name of ['one', 'two'])
      await send(`${QUICKSTART}/datasets`, { name, database: databases[0], data_processing_strategy: strategies[0] });
    await many(51, (n) => {
      const form = new FormData();
      form.append('file', new Blob([`File ${n}`]), `file-${two(n)}.txt`);
      return send(`${QUICKSTART}/datasets/one/data?auto_process=false`, form);
    });
    await stage.open('data/one');
    const rows = 'main tbody tr';
    await steps('files', 50, rows);
    assert.match(await remove('Remove file-51.txt', 'Remove', rows, 50), /^Remove file-|^Files of one/);
    assert.equal(await remove('Remove file-10.txt', 'Remove', rows, 49), 'Remove file-11.txt');
    assert.equal(await remove('Remove file-50.txt', 'Remove', rows, 48), 'Remove file-49.txt');
  });

  it('of datasets', async () => {
    await stage.open('data');
    const rows = 'main .dataset';
    await stage.browser.until(`document.querySelectorAll('${rows}').length === 2`);
    assert.equal(await remove('Delete one', 'Delete', rows, 1), 'Delete two');
    assert.equal(await remove('Delete two', 'Delete', rows, 0), 'New dataset');
  });

  it('of models', async () => {
    await stage.open('models');
    const rows = 'main td.name > .mono';
    await steps('models', 50, rows);
    assert.match(await remove('Remove org/m51', 'Remove', rows, 50), /^Remove org|^Models on this machine/);
    assert.equal(await remove('Remove org/m07', 'Remove', rows, 49), 'Remove org/m08');
  });

  it('of saved models', async () => {
    const rows = [{ a: 1 }];
    await many(51, (n) => send('/v1/ml/anomaly/stream', { model: `live-${two(n)}`, data: rows }));
    await stage.open('learning/saved');
    await steps('models', 50, 'main tbody tr');
    await stage.browser.click('Earlier models');
    await stage.browser.until(`document.querySelectorAll('main tbody tr').length === 50`);
    assert.equal(await remove('Delete live-02', 'Delete', 'main tbody tr', 50), 'Delete live-03');
  });

  it('of projects', async () => {
    await many(50, (n) => send('/v1/projects/default', { name: `p-${two(n)}`, config_template: 'default' }));
    await stage.open('projects');
    await steps('projects', 50, 'main .project');
    await stage.browser.click('Earlier projects');
    assert.equal(await remove('Delete p-10', 'Delete for good', 'main .project', 50), 'Delete p-11');
  });

  it('of test questions', async () => {
    const { browser } = stage;
    await many(21, (n) => send('/v1/projects/default/p-01/questions', { query: `Question ${two(n)}`, relevant: [] }));
    await browser.value(`(localStorage.setItem('quern.project', '{"namespace":"default","name":"p-01"}'), 0)`);
    await stage.open('lab');
    const rows = 'main section[aria-labelledby] li';
    await steps('questions', 20, rows);
    const last = await browser.value<string>(`document.querySelector('[aria-label^="Remove the question"]').ariaLabel`);
    assert.match(await remove(last, 'Remove', rows, 20), /question|Question/);
    assert.equal(await browser.value(`document.querySelector('nav[aria-label="Pages of questions"]')`), null);
  });

  it('of the changes of a project', async () => {
    for (let n = 1; n <= 20; n += 1) {
      const { text, stamp } = (await (await fetch(`${stage.daemon.core}/v1/projects/default/p-01/text`)).json()) as {
        text: string;
        stamp: string;
      };
      await send('/v1/projects/default/p-01/text', { text: `${text}# ${n}\n`, stamp }, 'PUT');
    }
    await stage.open('projects/default/p-01/history');
    await steps('changes', 20, 'main ol > li');
  });

  it('of events, also where those of a page are gone', async () => {
    const { browser } = stage;
    const event = (n: number): object => ({
      event_id: `e${n}`,
      type: 'inference',
      status: 'completed',
      timestamp: new Date(n).toISOString(),
      summary: {},
      duration_ms: null,
    });
    const page = (from: number, to: number, total: number): string =>
      JSON.stringify({ events: Array.from({ length: to - from }, (_, at) => event(from + at)), total });
    await stage.open('system');
    await browser.value(
      answering(
        '/event_logs?',
        `Promise.resolve(new Response(String(url).includes('offset=0') ? (window.isGone ? ${JSON.stringify(page(0, 25, 25))} : ${JSON.stringify(page(0, 25, 26))}) : window.isGone ? '{"events":[],"total":25}' : ${JSON.stringify(page(25, 26, 26))}))`,
      ),
    );
    await browser.value(`(location.hash = '#/traces', 0)`);
    await steps('events', 25, 'main tbody tr');
    await browser.value(`(window.isGone = true, 0)`);
    await browser.click('Earlier events');
    await browser.until(`document.querySelectorAll('main tbody tr').length === 25`);
    assert.equal(await browser.value(`document.querySelector('nav[aria-label="Pages of events"]')`), null);
  });

  it('of conversations and their messages', async () => {
    const { browser } = stage;
    const now = new Date().toISOString();
    const conversation = (n: number): string =>
      JSON.stringify({
        format: 'quern-conversation',
        version: 1,
        conversation: { title: `Talk ${two(n)}`, created_at: now, updated_at: now, current: 'd' },
        messages: ['a', 'b', 'c', 'd'].map((id, at, all) => ({
          id,
          parent: all[at - 1] ?? null,
          role: at % 2 === 0 ? 'user' : 'assistant',
          content: `Message ${id}`,
        })),
      });
    const form = new FormData();
    form.append('file', new Blob([Array.from({ length: 51 }, (_, at) => conversation(at + 1)).join('\n')]), 'talks.jsonl');
    await send('/v1/projects/default/p-01/conversations/import', form);
    await stage.open('chat');
    const rows = '.list > li:not(.rest)';
    await browser.until(`document.querySelectorAll('${rows}').length >= 50`);
    await browser.value(`document.querySelector('.list > li:last-child').scrollIntoView()`);
    await browser.until(`document.querySelectorAll('${rows}').length === 51 && !document.querySelector('.rest')`);
    const names = await browser.value<string[]>(`[...document.querySelectorAll('${rows} .opener')].map((one) => one.ariaLabel)`);
    await pressDelete(`.opener[aria-label="${names[3]}"]`);
    await browser.click('Delete it', DIALOG);
    await browser.until(
      `!document.querySelector('${DIALOG}') && document.querySelectorAll('${rows}').length === 50 && document.activeElement !== document.body`,
    );
    assert.equal(await browser.value(FOCUS), names[4]);
    await browser.click(names[0]!.replace('More of ', ''), '.list');
    await browser.until(`document.querySelectorAll('article').length === 4`);
    await pressDelete('article:last-of-type footer .opener');
    await browser.click('Delete it', DIALOG);
    await browser.until(
      `!document.querySelector('${DIALOG}') && document.querySelectorAll('article').length === 3 && document.activeElement !== document.body`,
    );
    assert.deepEqual(await browser.value(`[${FOCUS}, document.activeElement.closest('article')?.innerText.includes('Message c')]`), [
      'More',
      true,
    ]);
  });
});
