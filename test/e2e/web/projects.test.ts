import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { focused } from '../../support/browser.js';
import { webModule } from '../../support/web/module.js';
import { NO_BROWSER, WebStage } from '../../support/web/stage.js';

const has = (text: string): string => `document.querySelector('main').innerText.includes(${JSON.stringify(text)})`;
const DIALOG = 'dialog[open]';
const editor = (where = 'main'): string => `document.querySelector('${where} [data-editor]').shadowRoot`;
/** The setting of a label in the form. */
const field = (label: string): string =>
  `[...document.querySelectorAll('section[aria-label=Form] label')].find(({ innerText }) => innerText === '${label}')?.parentElement.querySelector('input, textarea, select')`;

describe('the projects view', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const file = (): string => join(stage.daemon.dataDir, 'projects/default/desk/project.yaml');

  it('makes a project of a template and lists it', async () => {
    const { browser } = stage;
    await stage.open('projects');
    await browser.until(has('quickstart'));
    await browser.click('New project');
    await browser.until(`document.querySelectorAll('${DIALOG} optgroup:last-child option').length > 3`);
    await browser.fill(`${DIALOG} [data-name=project]`, 'desk');
    await stage.inspect('projects-new');
    await browser.click('Create', DIALOG);
    await browser.until(`location.hash === '#/projects/default/desk'`);
    await browser.until(`${editor()}?.querySelector('.cm-content')`);
  });

  it('changes the file by its form and as text, with problems at their line, and shows the difference before it is saved', async () => {
    const { browser } = stage;
    appendFileSync(file(), '# kept by hand\n');
    await stage.open('projects');
    await stage.open('projects/default/desk');
    await browser.resize(1440, 900);
    await browser.until(`${editor()}?.querySelector('.cm-content').innerText.includes('kept by hand')`);
    await browser.click('Runtime', 'section[aria-label=Form]');
    await browser.click('default', 'section[aria-label=Form] [aria-label=Models]');
    await browser.until(field('Model'));
    await browser.until(`${focused(field('Model'))} && (document.activeElement.select(), true)`);
    await browser.command('Input.insertText', { text: 'another-model' });
    await browser.until(`${editor()}.querySelector('.cm-content').innerText.includes('model: another-model')`);
    await browser.until(focused(field('Provider')));
    // A field that is emptied stays while one is in it.
    await browser.until(`${focused(field('Model'))} && (document.activeElement.select(), document.execCommand('delete'), true)`);
    await browser.until(`${editor()}.querySelector('.cm-content').innerText.includes('model: ""')`);
    await browser.command('Input.insertText', { text: 'another-model' });
    await browser.until(`${editor()}.querySelector('.cm-content').innerText.includes('model: another-model')`);
    // What is no value stays in its field, and nothing is saved meanwhile.
    await browser.until(focused(`${editor()}.querySelector('.cm-content')`));
    await browser.command('Input.insertText', { text: 'events: {max_age_days: 9}\n' });

    await browser.click('Events', 'section[aria-label=Form]');
    await browser.until(field('Max age days'));
    await browser.until(`${focused(field('Max age days'))} && (document.activeElement.select(), true)`);
    await browser.command('Input.insertText', { text: 'many' });
    await browser.until(has('Max age days: "many" is no number.'));
    assert.ok(await browser.value(`[...document.querySelectorAll('main button')].find((one) => one.innerText === 'Save ...').disabled`));
    await stage.inspect('projects-odd');
    await browser.resize(1440, 900);
    await browser.until(`${editor()}?.querySelector('.cm-content')`);
    await browser.click('Discard changes');
    await browser.until(`${editor()}.querySelector('.cm-content').innerText.includes('kept by hand') && !${has('is no number')}`);
    await browser.until(`${focused(field('Model'))} && (document.activeElement.select(), true)`);
    await browser.command('Input.insertText', { text: 'another-model' });
    await browser.until(focused(field('Provider')));

    await browser.until(focused(`${editor()}.querySelector('.cm-content')`));
    await browser.command('Input.insertText', { text: 'events: {content: loud}\n' });
    await browser.until(has('1 thing stands in the way of saving'));
    await browser.until(`${editor()}.querySelector('.cm-lint-marker-error')`);
    assert.match(await browser.value<string>(`document.querySelector('.problems').innerText`), /Line 1: events\.content: .*full/s);
    await stage.inspect('projects-problem');
    await browser.resize(1440, 900);
    await browser.until(`${editor()}?.querySelector('.cm-content')`);
    await browser.click('Line 1');

    for (let at = 0; at < 'events: {content: '.length; at += 1) await browser.press('ArrowRight');
    await browser.command('Input.insertText', { text: 'hash}  # ' });
    await browser.until(`!${has('in the way of saving')}`);

    await browser.click('Save ...');
    await browser.until(`document.querySelector('${DIALOG} [data-editor]')?.shadowRoot?.textContent.includes('another-model')`);
    await browser.until(
      `[...document.querySelectorAll('${DIALOG} footer button')].some((one) => one.innerText === 'Save' && !one.disabled)`,
    );
    await stage.inspect('projects-save');
    await browser.resize(1440, 900);
    await browser.click('Save', `${DIALOG} footer`);
    await browser.until(`!document.querySelector('${DIALOG}')`);
    const text = readFileSync(file(), 'utf8');
    assert.match(text, /^events: \{content: hash\} {2}# loud\}\n/);
    assert.match(text, /model: another-model\n/);
    assert.match(text, /\n# kept by hand\n$/);
  });

  it('saves nothing over what somebody else changed, and shows both', async () => {
    const { browser } = stage;
    await browser.until(focused(`${editor()}.querySelector('.cm-content')`));
    await browser.command('Input.insertText', { text: 'mine ' });
    appendFileSync(file(), '# theirs\n');
    // What was typed is there after a reload.
    await stage.open('projects/default/desk');
    await browser.until(`document.querySelector('${DIALOG} [data-editor]')?.shadowRoot?.textContent.includes('# theirs')`);
    await stage.inspect('projects-conflict');
    await browser.resize(1440, 900);
    await browser.click('Go on with mine', DIALOG);
    appendFileSync(file(), '# theirs again\n');
    await browser.click('Save ...');
    await browser.until(
      `[...document.querySelectorAll('${DIALOG} footer button')].some((one) => one.innerText === 'Save' && !one.disabled)`,
    );
    await browser.click('Save', `${DIALOG} footer`);
    await browser.until(`document.querySelector('${DIALOG} [data-editor]')?.shadowRoot?.textContent.includes('# theirs again')`);
    assert.doesNotMatch(readFileSync(file(), 'utf8'), /# mine/);
    // The console names the refusal, which was to come.
    assert.match(browser.complaints.splice(0).join('\n'), /^[^\n]*409 \(Conflict\)[^\n]*$/);
    await browser.click('Take the file', DIALOG);
    await browser.until(`${editor()}.querySelector('.cm-content').innerText.includes('# theirs again')`);
  });

  it('shows what the file said before, and takes it back', async () => {
    const { browser } = stage;
    await browser.click('History', 'main');
    await browser.click('Compare with now: number 1');
    await browser.until(has('runtime.models[0].model'));
    await browser.click('Try it on the last chats');
    await browser.until(has('There is no recorded chat'));
    await browser.click('Try it on the test questions');
    await browser.until(has('There are no test questions yet'));
    await stage.inspect('projects-history');
    await browser.click('Go back to number 1', 'main');
    await browser.click('Go back', `${DIALOG} footer`);
    await browser.until(`!document.querySelector('${DIALOG}')`);
    assert.doesNotMatch(readFileSync(file(), 'utf8'), /another-model/);
    await browser.click('All projects');
    await browser.click('Delete desk');
    await browser.click('Delete for good', DIALOG);
    await browser.until(`!document.querySelector('main').innerText.includes('desk')`);
  });
});

describe('the text of a project file', () => {
  it('takes values in their place, also where nothing stood before, and keeps comments', async () => {
    const { withValue, withMoved, saidBy } = await webModule<{
      withValue(text: string, path: (string | number)[], value: unknown): string;
      withMoved(text: string, path: (string | number)[], from: number, to: number): string;
      saidBy(text: string): unknown;
    }>('/src/views/projects/yaml.ts');
    for (const [text, path, wanted] of [
      ['a: # of letters\nb: 1\n', ['a'], { a: 'x', b: 1 }],
      ['a:   # of letters\n', ['a'], { a: 'x' }],
      ['a:\n  # of letters\nb: 1\n', ['a'], { a: 'x', b: 1 }],
      ['a:\nb: 1\n', ['a'], { a: 'x', b: 1 }],
      ['list:\n  -\n  - 2\n', ['list', 0], { list: ['x', 2] }],
      ['list:\n  - # first\n  - 2\n', ['list', 0], { list: ['x', 2] }],
      ['g:\n  a: "y" # of letters\n', ['g', 'a'], { g: { a: 'x' } }],
    ] as const) {
      const after = withValue(text, [...path], 'x');
      assert.deepEqual(saidBy(after), wanted, after);
      for (const comment of ['# of letters', '# first']) assert.equal(after.includes(comment), text.includes(comment), after);
    }
    const moved = withMoved('list:\n  - name: one # first\n  - name: two\n', ['list'], 1, 0);
    assert.equal(moved, 'list:\n  - name: two\n  - name: one # first\n');
  });
});
