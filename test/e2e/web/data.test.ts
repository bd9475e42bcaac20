import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { focused } from '../../support/browser.js';
import { emptyDataDir } from '../../support/daemon.js';
import { pdf } from '../../support/documents.js';
import { NO_BROWSER, toasted, WebStage } from '../../support/web/stage.js';

const has = (text: string): string => `document.querySelector('main').innerText.includes(${JSON.stringify(text)})`;
const DIALOG = 'dialog[open]';

describe('the data view', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const folder = emptyDataDir();
  const files = (dataset: string): string[] => {
    try {
      return readdirSync(join(stage.daemon.dataDir, 'projects/default/quickstart/lf_data/datasets', dataset, 'raw'));
    } catch {
      return [];
    }
  };

  it('makes a dataset, takes files and folders, reads them and says why one cannot be read', async () => {
    const { browser } = stage;
    await stage.open('data');
    await browser.until(has('No datasets yet'));
    await stage.inspect('data-empty');
    await browser.click('New dataset');
    await browser.fill(`${DIALOG} input`, 'my manuals');
    await browser.until(`document.querySelector('${DIALOG} .bad')?.innerText.includes('without spaces')`);
    await browser.fill(`${DIALOG} input`, 'manuals');
    await browser.until(`!document.querySelector('${DIALOG} .bad')`);
    await browser.click('Create', DIALOG);
    await browser.until(has('No files yet'));

    const manuals = join(folder, 'manuals', 'pumps');
    mkdirSync(manuals, { recursive: true });
    for (let at = 0; at < 60; at += 1)
      writeFileSync(join(manuals, `pump-${at}.md`), `# Pump ${at}\n\nThe seal of pump ${at} lasts ${at + 3} years.\n`);
    await browser.attach('[data-pick=folder]', join(folder, 'manuals'));
    await browser.until(has('60 stored'));
    await browser.until(has('All files are processed: 60 read.'));
    await browser.until(has('manuals/pumps/pump-10.md'));
    await browser.until(has('1 to 50 of 60 files'));
    writeFileSync(join(folder, 'broken.pdf'), '%PDF-1.4\nnothing of a page follows');
    await browser.attach('[data-pick=files]', join(folder, 'broken.pdf'));
    await browser.until(`[...document.querySelectorAll('td button')].some(({ innerText }) => innerText === 'Try again')`);
    assert.match(await browser.value<string>(`document.querySelector('td .bad').innerText`), /\w{3}/);
    await stage.inspect('data-files');
  });

  it('leaves nothing of an upload that is cancelled', async () => {
    const { browser } = stage;
    const large = join(folder, 'large.txt');
    writeFileSync(large, Buffer.alloc(100 * 2 ** 20, 'many words here '));
    const before = files('manuals').length;
    await browser.command('Network.enable');
    await browser.command('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 8 * 2 ** 20,
    });
    await browser.attach('[data-pick=files]', large);
    await browser.until(`document.querySelector('progress')?.value > 0.02`);
    await browser.click('Cancel large.txt');
    await browser.until(has('1 cancelled'));
    await browser.command('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    const uploads = join(stage.daemon.dataDir, 'uploads');
    while (readdirSync(uploads).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(files('manuals').length, before);
  });

  it('reads what came of an upload during which the page was loaded again', async () => {
    const { browser } = stage;
    const small = join(folder, 'hinge.md');
    writeFileSync(small, 'The hinge is oiled each spring.');
    const slowly = (uploadThroughput: number): Promise<unknown> =>
      browser.command('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
    await slowly(2 ** 20);
    await browser.attach('[data-pick=files]', small, join(folder, 'large.txt'));
    await browser.until(has('1 of 2 files'));
    // Nobody is there to say that the page may be left.
    await browser.value(`(BeforeUnloadEvent.prototype.preventDefault = () => undefined, 0)`);
    await browser.reload();
    await browser.until(toasted('1 file of an upload that was broken off is read now'));
    await slowly(-1);
    await browser.fill('[type=search]', 'hinge.md');
    await browser.until(`[...document.querySelectorAll('tr')].some(({ innerText }) => /hinge\\.md\\s+1 passage/.test(innerText))`);
    await browser.fill('[type=search]', '');
    await browser.click('Remove hinge.md');
    await browser.click('Remove', `${DIALOG} footer`);
    await browser.until(`!document.querySelector('${DIALOG}') && !${has('hinge.md')}`);
    assert.equal(await browser.value(`Object.keys(localStorage).some((name) => name.startsWith('quern.unread'))`), false);
  });

  it('keeps files waiting while the daemon is away, and sends them when it is back', async () => {
    const { browser } = stage;
    const network = (offline: boolean): Promise<unknown> =>
      browser.command('Network.emulateNetworkConditions', { offline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await network(true);
    await browser.attach('[data-pick=files]', join(folder, 'manuals', 'pumps', 'pump-1.md'));
    await browser.until(has('1 file waits'));
    await network(false);
    await browser.until(has('1 here already'));
    // The console names the connection that was cut.
    stage.forgive('net::ERR_INTERNET_DISCONNECTED');
    await browser.click('Delete this dataset');
    await browser.click('Delete its files for good', DIALOG);
    await browser.click('Keep it', DIALOG);
    await browser.click('Delete this dataset');
    assert.equal(await browser.value(`document.querySelectorAll('${DIALOG} input')[1].checked`), false);
    await browser.click('Keep it', DIALOG);
  });

  it('shows the passages of a file beside the page that they come from', async () => {
    const { browser } = stage;
    const path = join(folder, 'pages.pdf');
    writeFileSync(
      path,
      pdf([
        'BT /F1 16 Tf 40 300 Td (The first page tells of pumps.) Tj ET',
        'BT /F1 16 Tf 40 300 Td (The second page tells of valves.) Tj ET',
      ]),
    );
    await browser.attach('[data-pick=files]', path);
    await browser.fill('[type=search]', 'pages.pdf');
    await browser.until(`[...document.querySelectorAll('tr')].some(({ innerText }) => /pages\\.pdf\\s+2 passages/.test(innerText))`);
    await browser.click('pages.pdf', 'table');
    await browser.until(`document.querySelector('img[alt="Page 1"]')?.naturalWidth > 100`);
    await browser.until(focused(`document.querySelector('[aria-label=Passages] button')`));
    await browser.press('ArrowDown');
    await browser.until(`document.querySelector('img[alt="Page 2"]')?.naturalWidth > 100`);
    await stage.inspect('data-file-page');
    await browser.click('Page before');
    await browser.until(has('Page 1 of 2'));
    await browser.click('Text as it was read');
    await browser.until(`document.querySelector('mark')?.innerText.includes('valves')`);
    await browser.click('Remove this file');
    await browser.click('Remove', `${DIALOG} footer`);
    await browser.until(`location.hash === '#/data/manuals' && ${has('1 to 50 of 61 files')}`);
  });

  it('tries a file again, finds files by name, and deletes a dataset with what is in it', async () => {
    const { browser } = stage;
    await browser.click('Try again', 'table');
    await browser.until(has('0 read, 1 failed'));
    await browser.fill('[type=search]', 'pump-59');
    await browser.until(`document.querySelectorAll('tbody tr').length === 1`);
    await browser.click('Remove manuals/pumps/pump-59.md');
    await browser.click('Remove', `${DIALOG} footer`);
    await browser.until(has('No file has that in its name'));
    await browser.click('Delete this dataset');
    await browser.click('Delete', `${DIALOG} footer`);
    await browser.until(has('No datasets yet'));
    assert.deepEqual(stage.complaints, []);
  });
});
