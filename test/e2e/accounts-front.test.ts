import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { WebSocket } from 'ws';
import { PASSWORD } from '../support/accounts/visitor.js';
import { Browser, CHROMIUM } from '../support/browser.js';
import { type DaemonUnderTest, emptyDataDir, runToEnd, startDaemon } from '../support/daemon.js';
import { freePort } from '../support/ports.js';

const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };
const AUTH_SECRET = 'q8Zt0yW3nLr5Vb7Xc9Ka1Sd4Gf6Hj2Pm';

/** Writes a module file into a folder; returns its path. */
function moduleFile(folder: string, more: object = {}): string {
  const path = join(folder, 'module.yaml');
  // JSON is YAML.
  writeFileSync(path, JSON.stringify({ app: { name: 'Quern', id: 'quern' }, seed: { admin: ADMIN }, ...more }));
  return path;
}

describe('a daemon with accounts', () => {
  let daemon: DaemonUnderTest;
  let token: string;
  let key: string;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const isText = typeof body === 'string';
    const response = await fetch(path, {
      method: 'POST',
      headers: { ...(isText ? {} : { 'content-type': 'application/json' }), ...headers },
      body: isText ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, text, json: () => JSON.parse(text) as Record<string, unknown> };
  };
  before(async () => {
    const dataDir = emptyDataDir();
    const port = await freePort();
    const env = { AUTH_SECRET, AUTH_URL: `http://127.0.0.1:${port}` };
    daemon = await startDaemon({ dataDir, port, args: ['--accounts', moduleFile(dataDir)], env });
    const ann = { email: 'ann@example.com', password: PASSWORD, name: 'Ann' };
    assert.equal((await post(`${daemon.core}/api/auth/sign-up/email`, ann)).status, 200);
    token = String((await post(`${daemon.core}/api/auth/sign-in/email`, ann)).json().token);
    key = String((await post(`${daemon.core}/api/module/apikeys`, { name: 'laptop' }, { authorization: `Bearer ${token}` })).json().key);
  });
  after(() => daemon?.end());

  it('keeps them in its data directory, and lets nobody in without', async () => {
    assert.ok(existsSync(join(daemon.dataDir, 'accounts')));
    for (const path of [`${daemon.core}/v1/models`, `${daemon.runtime}/v1/models`]) assert.equal((await fetch(path)).status, 401);
    assert.equal((await fetch(`${daemon.runtime}/api/auth/ok`)).status, 200);
  });

  it('chats with the client of OpenAI by an API key', async () => {
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await post(`${daemon.core}/v1/projects/anns`, { name: 'diary' }, headers)).status, 200);
    const client = new OpenAI({ apiKey: key, baseURL: `${daemon.core}/v1/projects/anns/diary`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello!' }];
    const stream = await client.chat.completions.create({ model: '', messages, max_tokens: 4, stream: true });
    let said = '';
    for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? '';
    assert.notEqual(said, '');
    const wrong = new OpenAI({ apiKey: 'sk_wrong', baseURL: `${daemon.core}/v1/projects/anns/diary`, maxRetries: 0 });
    await assert.rejects(() => wrong.chat.completions.create({ model: '', messages }), OpenAI.AuthenticationError);
  });

  it('takes a long body of whom it does not know yet, and refuses that of a stranger', async () => {
    // A bearer token that was not used for two seconds is looked up while the body comes.
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    const form = (bytes: number): FormData => {
      const data = new FormData();
      data.append('file', new Blob(['x'.repeat(bytes)]), 'long.txt');
      return data;
    };
    const upload = (authorization: string) =>
      fetch(`${daemon.runtime}/v1/files`, { method: 'POST', headers: { authorization }, body: form(5_000_000) });
    const kept = await upload(`Bearer ${token}`);
    assert.equal(((await kept.json()) as { bytes: number }).bytes, 5_000_000);
    assert.equal((await upload('Bearer nobody')).status, 401);
    const rows = { buffer_id: 'none', data: Array.from({ length: 20_000 }, () => ({ word: 'x'.repeat(40) })) };
    const append = (authorization: string) => post(`${daemon.runtime}/v1/polars/append`, rows, { authorization });
    assert.equal((await append(`Bearer ${key}`)).status, 404);
    assert.equal((await append('Bearer nobody')).status, 401);
  });

  it('opens WebSockets for those who have signed in', async () => {
    const outcome = (headers: Record<string, string>): Promise<string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${daemon.core.replace('http', 'ws')}/v1/anns/diary/voice/chat?llm_model=default`, { headers });
        socket.on('unexpected-response', (_request, { statusCode }) => resolve(String(statusCode)));
        socket.on('error', (error) => resolve(error.message));
        socket.on('message', (message) => {
          resolve(String(message));
          socket.close();
        });
      });
    assert.equal(await outcome({}), '401');
    assert.match(await outcome({ authorization: `Bearer ${key}` }), /"type":/);
  });

  it('shows the admin its page', { skip: CHROMIUM ? false : 'no Chromium is installed' }, async () => {
    const browser = await Browser.start();
    try {
      await browser.open(`${daemon.core}/admin`);
      await browser.fill('#email', ADMIN.email);
      await browser.fill('#password', ADMIN.password);
      await browser.press('Enter');
      await browser.until(`document.querySelectorAll('#panel-users tbody tr').length === 2`);
      assert.deepEqual(browser.complaints, []);
    } finally {
      await browser.close();
    }
  });

  it('does not start by a module file that is wrong, and says where', async () => {
    const dataDir = emptyDataDir();
    const args = ['start', '--port', '0', '--runtime-port', '0', '--data-dir', dataDir];
    const file = moduleFile(dataDir, { meters: { tokens: { limits: { gold: 5 } } } });
    const { code, output } = await runToEnd([...args, '--accounts', file], { AUTH_SECRET, AUTH_URL: 'http://localhost' });
    assert.notEqual(code, 0);
    assert.match(output, /meters\.tokens\.limits\.gold: there is no plan "gold"/);
  });
});
