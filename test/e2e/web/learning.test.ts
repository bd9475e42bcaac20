import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { emptyDataDir } from '../../support/daemon.js';
import { until } from '../../support/until.js';
import { NO_BROWSER, WebStage } from '../../support/web/stage.js';

/** Rows of a weather station, of which row 201 is odd. */
function stationFile(folder: string): string {
  const rows = Array.from({ length: 300 }, (_none, at) => {
    const time = new Date(Date.UTC(2026, 0, 1, at)).toISOString().slice(0, 16);
    const isOdd = at === 200;
    return [
      time,
      (10 + Math.sin(at / 4) + (isOdd ? 60 : 0)).toFixed(2),
      at === 5 ? '' : (1000 + (at % 9)).toString(),
      `"north, ${at % 2}"`,
    ].join(',');
  });
  const path = join(folder, 'station.csv');
  writeFileSync(path, `time,degrees,pressure,place\n${rows.join('\n')}\n`);
  return path;
}

const SORTED = [
  ...[
    'The invoice is wrong',
    'I was charged twice',
    'Please refund my payment',
    'The invoice has the wrong amount',
    'My payment was charged twice',
  ],
  ...[
    'The app does not start',
    'The page crashes when I sign in',
    'I cannot sign in to the app',
    'The app crashes at once',
    'The page does not load',
  ],
].map((text, at) => `${at < 5 ? 'billing' : 'support'}: ${text}`);

describe('machine learning in the web interface', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const folder = emptyDataDir();
  const shows = (text: string): Promise<void> =>
    stage.browser.until(`document.querySelector('main').innerText.includes(${JSON.stringify(text)})`);
  const field = (label: string): string =>
    `(document.getElementById([...document.querySelectorAll('main label')].find((one) => one.innerText.startsWith(${JSON.stringify(label)})).htmlFor))`;
  const set = (label: string, value: string): Promise<void> =>
    stage.browser.until(
      `((one) => { one.value = ${JSON.stringify(value)}; for (const name of ['input', 'change']) one.dispatchEvent(new Event(name, { bubbles: true })); return true; })(${field(label)})`,
    );

  it('reads a table, refuses what is none, and knows its columns', async () => {
    await stage.open('learning');
    writeFileSync(join(folder, 'empty.csv'), 'a,b\n');
    await stage.browser.attach('main input[type=file]', join(folder, 'empty.csv'));
    await shows('empty.csv has no rows');
    writeFileSync(join(folder, 'german.csv'), 'Grad;Grad;Druck\n1,5;-2;1.013,25\n0,5;N/A;990\n');
    await stage.browser.attach('main input[type=file]', join(folder, 'german.csv'));
    await shows('2 rows, 3 columns');
    assert.deepEqual(
      await stage.browser.value(
        `[...document.querySelectorAll('main tbody tr')].map(({ cells: [name, , how] }) => name.innerText + ' ' + how.firstElementChild.value)`,
      ),
      ['Grad numeric', 'Grad 2 numeric', 'Druck numeric'],
    );
    // Nine of ten cells of a column are numbers.
    writeFileSync(join(folder, 'slips.csv'), `price,note\n"1,250.5",a\nbroken,b\n${'7,1\n'.repeat(8)}`);
    await stage.browser.attach('main input[type=file]', join(folder, 'slips.csv'));
    await shows('1 no number ("broken"), taken as 7');
    assert.deepEqual(await stage.browser.value(`[...document.querySelectorAll('main tbody select')].map((one) => one.value)`), [
      'numeric',
      '',
    ]);
    await stage.browser.attach('main input[type=file]', stationFile(folder));
    await shows('300 rows, 4 columns');
    await shows('1 empty, taken as 1004');
    assert.deepEqual(await stage.browser.value(`[...document.querySelectorAll('main tbody select')].map((one) => one.value)`), [
      '',
      'numeric',
      'numeric',
      '',
    ]);
  });

  it('fits a detector, shows the scores over time and why, and counts by the threshold', async () => {
    await set('Share of anomalies expected', '0.01');
    await stage.browser.click('Fit and score');
    await shows('learned from 300 rows');
    await stage.browser.until(`document.querySelector('main canvas') && document.querySelector('main .reason')`);
    const [first, why] = await stage.browser.value<[string, string]>(
      `(([row]) => [row.cells[0].innerText, row.querySelector('.reason').innerText])(document.querySelectorAll('[aria-label="The oddest rows"] tbody tr'))`,
    );
    assert.deepEqual([first, why.startsWith('degrees')], ['201', true]);
    const counted = `Number(/: ([\\d,]+) anomalies/.exec(document.querySelector('.threshold').innerText)[1].replace(',', ''))`;
    assert.ok((await stage.browser.value<number>(counted)) <= 6);
    // The result is of the detector that was fitted, not of the one that is chosen next.
    await set('Detector', 'hbos');
    await stage.browser.until(`document.querySelector('main .reason')`);
    assert.equal(await stage.browser.value(`document.querySelectorAll('main p.bad').length`), 0);
    await stage.inspect('learning');
    await stage.browser.value(
      `((one) => { one.value = one.min; one.dispatchEvent(new Event('input', { bubbles: true })); })(document.querySelector('.threshold input'))`,
    );
    await stage.browser.until(`${counted} > 250`);
  });

  it('streams the rows, pauses, goes on, resets and deletes', async () => {
    await stage.browser.resize(1440, 900);
    await stage.browser.click('Live', 'main nav');
    // The page itself pauses after some rows, since a busy machine would see that late; and the detector has learned before it goes on.
    await stage.browser.value(`(new MutationObserver((_, watching) => {
      if (!/\\b(?:[6-9]\\d|[12]\\d\\d) of 300 rows sent/.test(document.querySelector('main').innerText)) return;
      watching.disconnect();
      [...document.querySelectorAll('main button')].find((one) => one.innerText === 'Pause').click();
    }).observe(document.querySelector('main'), { subtree: true, characterData: true, childList: true }), 0)`);
    await stage.browser.click('Send the rows');
    await stage.browser.until(`[...document.querySelectorAll('main button')].some((one) => one.innerText === 'Go on')`);
    await until(async () => {
      const told = await fetch(`${stage.daemon.core}/v1/ml/anomaly/stream/live`);
      return ((await told.json()) as { model_version: number }).model_version > 0;
    }, 'the detector has learned');
    await stage.inspect('learning-live');
    await set('Pause between pieces', '0');
    await stage.browser.click('Go on');
    await stage.browser.until(`/it has learned (?:once|[1-9])/.test(document.querySelector('main').innerText)`);
    await shows('300 of 300 rows sent');
    await shows('row 201:');
    await stage.browser.click('Reset the detector');
    await stage.browser.until(`/\\b0 of 300 rows sent/.test(document.querySelector('main').innerText)`);
    await stage.browser.click('Send the rows');
    await stage.browser.until(`/\\b[1-9]\\d* of 300 rows sent/.test(document.querySelector('main').innerText)`);
    writeFileSync(join(folder, 'other.csv'), `a,b\n${'1,2\n'.repeat(100)}`);
    await stage.browser.attach('main input[type=file]', join(folder, 'other.csv'));
    await stage.browser.until(`/\\b0 of 100 rows sent/.test(document.querySelector('main').innerText)`);
    await stage.browser.click('Delete the detector');
    await stage.browser.click('Delete', 'dialog[open] footer');
    await stage.browser.until(`!document.querySelector('main').innerText.includes('it has learned')`);
  });

  it('trains a text classifier, shows what it mistakes for what, and sorts texts', async () => {
    await stage.browser.click('Text classifier', 'main nav');
    await stage.browser.fill('main textarea', 'no label here\nbilling: one');
    await stage.browser.click('Train');
    await shows('Line 1 has no label');
    writeFileSync(join(folder, 'examples.csv'), 'text,label\nOne,a\n');
    await stage.browser.attach('main input[type=file]', join(folder, 'examples.csv'));
    await stage.browser.until(`document.querySelector('main textarea').value === 'a: One'`);
    await stage.browser.click('Take them back');
    await stage.browser.until(`document.querySelector('main textarea').value.startsWith('no label here')`);
    await stage.browser.fill('main textarea', SORTED.join('\n'));
    await stage.browser.click('Train');
    await shows('learned 2 labels from 10 examples');
    const cells = await stage.browser.value<string[]>(`[...document.querySelectorAll('.matrix td')].map((one) => one.innerText)`);
    const sum = cells.reduce((all, one) => all + Number(one || 0), 0);
    assert.ok(Math.abs(sum - SORTED.length) < 0.3, cells.join());
    await stage.browser.fill('main form textarea', 'The app crashes');
    await stage.browser.click('Sort them');
    await stage.browser.until(`[...document.querySelectorAll('main strong')].some((one) => one.innerText === 'support')`);
    await stage.inspect('learning-classifier');
  });

  it('lists what is saved, tries one, and deletes one after a question', async () => {
    await stage.browser.resize(1440, 900);
    await stage.browser.click('Saved', 'main nav');
    await shows('classifier');
    await stage.browser.click('Try texts');
    await shows('Texts, one a line');
    await stage.browser.click('Delete table');
    await stage.browser.click('Delete', 'dialog[open] footer');
    await stage.browser.until(
      `!document.querySelector('dialog[open]') && !/detector/.test(document.querySelector('main table').innerText)`,
    );
    await stage.browser.click('Delete texts');
    await stage.browser.click('Delete', 'dialog[open] footer');
    await shows('Nothing is saved yet');
  });
});
