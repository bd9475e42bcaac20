import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeWhenRefused, endWhenRefused } from '../../../gateway/accounts/revocation.js';
import { coreEndpoints } from '../../../gateway/core/index.js';
import type { Refusal, SocketListener } from '../../../gateway/http/transport.js';
import { universalEndpoints } from '../../../gateway/universal/index.js';
import { OPERATOR_KEY, Person, personOf } from '../../support/accounts/front-stage.js';
import { ann, json, nobody, root, stage } from '../../support/accounts/people.js';
import type { Answer } from '../../support/exchange.js';
import { until } from '../../support/until.js';
/** Who must sign in, by what, and how long it holds. */
export function signsIn(): void {
  it('want a sign-in of every endpoint but those that say so', async () => {
    for (const [api, endpoints] of [
      ['core', coreEndpoints],
      ['universal', universalEndpoints],
    ] as const)
      for (const { method, path, access } of endpoints) {
        const { status, text } = await nobody.ask(api, method, path.replaceAll(/\{\w+\+?\}/g, 'x'), method === 'POST' ? {} : undefined);
        if (access === 'anyone') assert.equal(status, 200, `${method} ${path}`);
        else {
          assert.equal(status, 401, `${method} ${path}`);
          assert.match(text, /sign-in\/email/);
        }
      }
    assert.equal((await nobody.ask('core', 'GET', '/v1/not/there')).status, 401);
    assert.equal((await nobody.ask('core', 'DELETE', '/v1/models')).status, 401);
  });

  it('refuse what is no key and no token, and take the key of the machine', async () => {
    for (const token of ['wrong', 'sk_wrong', `${ann.token}x`, 'a.b'])
      assert.equal((await new Person(stage, token).ask('core', 'GET', '/v1/models')).status, 401, token);
    assert.equal((await new Person(stage, OPERATOR_KEY).ask('core', 'GET', '/v1/projects/anns/diary')).status, 200);
  });

  it('tell clients of OpenAI in their own form', async () => {
    const answer = await nobody.ask('core', 'POST', '/v1/projects/anns/diary/chat/completions', {}, { 'user-agent': 'OpenAI/JS 5' });
    assert.equal(answer.status, 401);
    assert.equal(json(answer).error.type, 'authentication_error');
  });

  it('know at once that somebody has signed out, was banned, or that a key was revoked', async () => {
    const { key, id } = json(await ann.ask('core', 'POST', '/api/module/apikeys', { name: 'a key' }));
    const byKey = new Person(stage, key);
    assert.equal((await byKey.ask('core', 'GET', '/v1/models')).status, 200);
    await ann.ask('core', 'DELETE', `/api/module/apikeys/${id}`);
    assert.equal((await byKey.ask('core', 'GET', '/v1/models')).status, 401);
    const guest = await personOf(stage, 'guest@example.com');
    assert.equal((await guest.ask('core', 'GET', '/v1/models')).status, 200);
    await guest.ask('core', 'POST', '/api/auth/sign-out', {});
    assert.equal((await guest.ask('core', 'GET', '/v1/models')).status, 401);
  });

  it('end the WebSockets and the streams of who has signed out', async () => {
    let isStill = true;
    const told: string[] = [];
    const peer = { send: () => true, bufferedBytes: 0, close: (code: number, reason: string) => told.push(`${code} ${reason}`) };
    const listener = closeWhenRefused({ open: () => undefined, message: () => undefined, closed: () => undefined }, async () => isStill, 5);
    listener.open(peer);
    await sleep(30);
    assert.deepEqual(told, []);
    isStill = false;
    await until(() => told.length > 0);
    listener.closed(1008);
    assert.equal(told[0], '1008 signed out');
    let sent = 0;
    async function* endless(): AsyncGenerator<string, void, undefined> {
      for (;;) {
        await sleep(1);
        yield 'data: x\n\n';
      }
    }
    isStill = true;
    for await (const _item of endWhenRefused(endless(), async () => isStill, 5)) {
      sent += 1;
      if (sent === 20) isStill = false;
    }
    assert.ok(sent >= 20);
    const asking = (token: string) =>
      stage.core.upgrade({
        path: '/v1/anns/diary/voice/chat',
        query: '',
        remoteAddress: '',
        header: (name) => ({ host: 'localhost', authorization: `Bearer ${token}` })[name] ?? '',
      });
    assert.equal(((await asking('wrong')) as Refusal).status, 401);
  });

  it('end the WebSockets of who has lost a role', async () => {
    const guest = await personOf(stage, 'former@example.com');
    const { id } = json(await guest.ask('core', 'GET', '/api/module/me'));
    const become = async (role: string): Promise<void> =>
      assert.equal((await root.ask('core', 'POST', `/admin/data/users/${id}/role`, { role })).status, 200);
    await become('admin');
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      const headers: Record<string, string> = { host: 'localhost', authorization: `Bearer ${guest.token}` };
      const header = (name: string): string => headers[name] ?? '';
      const listener = (await stage.universal.upgrade({ path: '/v1/audio/chat', query: '', remoteAddress: '', header })) as SocketListener;
      const told: string[] = [];
      listener.open({ send: () => true, bufferedBytes: 0, close: (code, reason) => told.push(`${code} ${reason}`) });
      mock.timers.tick(5_000);
      await sleep(50);
      assert.deepEqual(told, []);
      await become('user');
      mock.timers.tick(5_000);
      await until(() => told.length > 0);
      // The first look may come late, and say so too.
      assert.deepEqual(new Set(told), new Set(['1008 signed out']));
      listener.closed(1008);
    } finally {
      mock.timers.reset();
    }
  });

  it('take a cookie from pages of the own origin alone', async () => {
    const { headers } = await nobody.ask('core', 'POST', '/api/auth/sign-in/email', {
      email: 'ann@example.com',
      password: 'correct horse 7 battery',
    });
    const cookie = headers['set-cookie']!.split(';')[0]!;
    assert.match(cookie, /demo/);
    const make = (more: Record<string, string>): Promise<Answer> =>
      nobody.ask('core', 'POST', '/v1/projects/anns', { name: 'by-cookie' }, { cookie, ...more });
    assert.equal((await make({})).status, 403);
    assert.equal((await make({ origin: 'http://localhost:9999' })).status, 403);
    assert.equal((await make({ origin: 'null' })).status, 403);
  });
}
