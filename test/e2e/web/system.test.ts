import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { emptyDataDir } from '../../support/daemon.js';
import { freePort } from '../../support/ports.js';
import { NO_BROWSER, toasted, WebStage } from '../../support/web/stage.js';

const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };
const ANN = { name: 'Ann', email: 'ann@example.com', password: 'a long password 12' };

describe('the system view of the web interface', { skip: NO_BROWSER }, () => {
  const stage = new WebStage();
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(`${stage.daemon.core}/v1/projects/default/quickstart/${path}`, {
      method: 'POST',
      ...(body instanceof FormData ? { body } : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  const shows = (text: string): Promise<void> =>
    stage.browser.until(`document.querySelector('main').innerText.includes(${JSON.stringify(text)})`);

  it('shows the parts of the daemon, the machine with advice, the disk and the version', async () => {
    await stage.open('system');
    for (const text of ['is healthy', 'universal-runtime', 'processor', 'Memory in use', 'Nothing is under way.', 'free'])
      await shows(text);
    await stage.browser.click('Changes of');
    await stage.inspect('system');
    await stage.browser.click('Look again');
    await shows('is healthy');
  });

  it('shows a task while it runs, and cancels it', async () => {
    await post('datasets', { name: 'docs', database: 'main_database', data_processing_strategy: 'universal_processor' });
    const form = new FormData();
    form.append('file', new Blob(['A line about nothing in particular, and more of it.\n'.repeat(500_000)]), 'long.txt');
    assert.ok((await post('datasets/docs/data', form)).ok);
    await post('datasets/docs/actions', { action_type: 'process' });
    await stage.browser.click('Cancel the task dataset');
    await stage.browser.until(toasted('Task cancelled'));
    await shows('Nothing is under way.');
  });
});

describe('the web interface of a daemon with accounts', { skip: NO_BROWSER }, async () => {
  const [dataDir, port] = [emptyDataDir(), await freePort()];
  const file = join(dataDir, 'module.yaml');
  writeFileSync(file, JSON.stringify({ app: { name: 'Quern', id: 'quern' }, seed: { admin: ADMIN } }));
  const env = { AUTH_SECRET: 'q8Zt0yW3nLr5Vb7Xc9Ka1Sd4Gf6Hj2Pm', AUTH_URL: `http://127.0.0.1:${port}` };
  const stage = new WebStage({ dataDir, port, env, args: ['--accounts', file] });
  const enter = async ({ email, password }: { email: string; password: string }): Promise<void> => {
    await stage.browser.fill('dialog input[type=email]', email);
    await stage.browser.fill('dialog input[type=password]', password);
    await stage.browser.press('Enter');
  };

  it('asks who is there, and says what is wrong', async () => {
    await stage.open('system');
    await stage.browser.until(`document.querySelector('dialog[open] input[type=password]')`);
    stage.forgive(401);
    await stage.inspect('sign-in');
    await enter({ ...ANN, password: 'a wrong password' });
    await stage.browser.until(`document.querySelector('dialog .bad')?.innerText.includes('Invalid email or password')`);
  });

  it('makes an account, shows who is signed in, and hides what others run', async () => {
    await stage.browser.click('Make an account', 'dialog[open] .row:last-child');
    await stage.browser.fill('dialog input[autocomplete=name]', ANN.name);
    await enter(ANN);
    await stage.browser.until(`!document.querySelector('dialog[open]')`);
    await stage.browser.resize(1440, 900);
    await stage.browser.until(
      `document.querySelector('nav').innerText.includes('Ann') && document.querySelector('main').innerText.includes('is healthy')`,
    );
    assert.ok(!(await stage.browser.value<string>(`document.querySelector('main').innerText`)).includes('Memory in use'));
  });

  it('makes the first project of somebody who has none, in their own namespace', async () => {
    assert.deepEqual(
      await stage.browser.value(`[...document.querySelectorAll('main [role=alert], .toast')].map((one) => one.innerText)`),
      [],
    );
    await stage.browser.click('Projects', 'nav');
    await stage.browser.click('New project');
    await stage.browser.until(`/^u-[0-9a-f]{12}$/.test([...document.querySelectorAll('dialog[open] input')].at(-1).value)`);
    await stage.browser.press('Escape');
    await stage.browser.click('Chat', 'nav');
    await stage.browser.until(`document.querySelector('main').innerText.includes('no project yet')`);
    await stage.inspect('begin');
    await stage.browser.resize(1440, 900);
    await stage.browser.click('Begin', 'main');
    await stage.browser.until(
      `document.querySelector('main textarea') && /^u-.*quickstart$/.test(document.querySelector('nav select').value)`,
    );
    assert.deepEqual(
      await stage.browser.value(`[...document.querySelectorAll('main [role=alert], .toast')].map((one) => one.innerText)`),
      [],
    );
  });

  it('keeps what was typed while a session ends elsewhere, and shows it to nobody else', async () => {
    const [first, second] = ['a question of Ann', 'and more of it'];
    await stage.browser.fill('main textarea', first);
    await stage.browser.value(
      `fetch('/api/auth/sign-out', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).then(() => 0)`,
    );
    await stage.browser.click('System', 'nav');
    await stage.browser.until(`document.querySelector('dialog[open] input[type=password]')`);
    await stage.browser.press('Escape');
    await stage.browser.click('Chat', 'nav');
    await stage.browser.until(`document.querySelector('main').innerText.includes('Sign in to go on')`);
    assert.equal(await stage.browser.value(`document.querySelector('main textarea')?.checkVisibility() ?? false`), false);
    await stage.browser.click('Sign in', 'main');
    await enter(ANN);
    await stage.browser.until(
      `document.querySelector('main textarea')?.checkVisibility() && document.querySelector('main textarea').value === '${first}'`,
    );
    await stage.browser.fill('main textarea', second);
  });

  it('signs out, and lets those in who run the machine', async () => {
    await stage.browser.click('Sign out', 'nav');
    await stage.browser.until(`document.querySelector('dialog[open] input[type=password]')`);
    assert.deepEqual(await stage.browser.value(`Object.keys(localStorage).filter((one) => /draft|project|owner/.test(one))`), []);
    await stage.browser.press('Escape');
    await stage.browser.click('System', 'nav');
    await stage.browser.click('Sign in', 'main');
    await enter(ADMIN);
    await stage.browser.until(
      `!document.querySelector('dialog[open]') && document.querySelector('main').innerText.includes('Memory in use')`,
    );
  });
});
