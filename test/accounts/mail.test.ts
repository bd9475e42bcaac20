import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { type Mail, mailer } from '../../accounts/mail.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { PASSWORD, Visitor } from '../support/accounts/visitor.js';
import { until } from '../support/until.js';

const NEW_PASSWORD = 'another horse 8 battery';

/** Waits for a mail that leaves after the answer. */
async function mailTo(mails: readonly Mail[], to: string, subject: RegExp): Promise<string> {
  const found = (): Mail | undefined => mails.findLast((mail) => mail.to === to && subject.test(mail.subject));
  await until(found, `there is a mail to ${to}`);
  return /https?:\/\/\S+/.exec(found()!.text)![0];
}

const pathOf = (link: string): string => new URL(link).pathname + new URL(link).search;

describe('mails of accounts', () => {
  const mails: Mail[] = [];
  let accounts: Accounts;
  let strict: Accounts;
  before(async () => {
    const sendMail = async (mail: Mail): Promise<void> => void mails.push(mail);
    accounts = await createAccounts({ ...optionsFor(await DATABASE_SERVERS[0]!.open()), sendMail });
    strict = await createAccounts({
      ...optionsFor(await DATABASE_SERVERS[0]!.open(), { config: { auth: { email: { verify_on_signup: true } } } }),
      sendMail,
    });
  });
  after(async () => {
    await accounts?.close();
    await strict?.close();
  });

  it('bring a new password, once, which ends every session and device', async () => {
    const ann = new Visitor(accounts);
    await ann.signUp('ann@example.com');
    await ann.signIn('ann@example.com');
    const begun = (await ann.post('/api/module/device/authorize')).body;
    await ann.post('/api/module/device/verify', { userCode: begun.userCode, action: 'approve' });
    const { accessToken } = (await ann.post('/api/module/device/token', { deviceCode: begun.deviceCode })).body;
    const other = new Visitor(accounts);
    const asked = await other.post('/api/auth/request-password-reset', { email: 'ann@example.com', redirectTo: '/reset' });
    const link = await mailTo(mails, 'ann@example.com', /new password/);
    const landing = await other.get(pathOf(link));
    const token = new URL(landing.headers.get('location')!, 'http://localhost:3000').searchParams.get('token')!;
    assert.equal((await other.post('/api/auth/reset-password', { newPassword: 'password', token })).status, 400, 'a common one');
    assert.equal((await other.post('/api/auth/reset-password', { newPassword: NEW_PASSWORD, token })).status, 200);
    assert.equal((await other.post('/api/auth/reset-password', { newPassword: `${NEW_PASSWORD}!`, token })).status, 400);
    assert.equal((await ann.get('/api/auth/get-session')).body, null);
    assert.equal(await accounts.callerOf(new Headers({ authorization: `Bearer ${accessToken}` })), undefined);
    assert.deepEqual(
      [(await other.signIn('ann@example.com')).status, (await other.signIn('ann@example.com', NEW_PASSWORD)).status],
      [401, 200],
    );
    const unknown = await other.post('/api/auth/request-password-reset', { email: 'nobody@example.com', redirectTo: '/reset' });
    assert.deepEqual([unknown.status, unknown.body], [asked.status, asked.body]);
    assert.equal(
      mails.some(({ to }) => to === 'nobody@example.com'),
      false,
    );
  });

  it('are few to one address, however many ask', async () => {
    const statuses: number[] = [];
    for (let ask = 0; ask < 7; ask += 1)
      statuses.push(
        (
          await new Visitor(accounts, `198.51.100.${ask}`).post('/api/auth/request-password-reset', {
            email: 'ann@example.com',
            redirectTo: '/reset',
          })
        ).status,
      );
    assert.ok(statuses.includes(429) && statuses[0] === 200, String(statuses));
  });

  it('prove an address before its first sign-in, where the file says so', async () => {
    const bob = new Visitor(strict);
    assert.equal((await bob.signUp('bob@example.com')).body.token, null);
    assert.equal((await bob.signIn('bob@example.com')).status, 403);
    const link = await mailTo(mails, 'bob@example.com', /Confirm/);
    assert.equal((await bob.get(pathOf(link).replace(/token=[^&]{10}/, 'token=0000000000'))).status >= 300, true);
    assert.equal((await bob.signIn('bob@example.com')).status, 403, 'a changed token proves nothing');
    await bob.get(pathOf(link));
    assert.equal((await bob.get('/api/auth/get-session')).body.user.emailVerified, true);
    assert.equal((await bob.signIn('bob@example.com')).status, 200);
  });

  it('tell the owner of an account that somebody signs up with its address (A2)', async () => {
    assert.equal((await new Visitor(accounts).signUp('ann@example.com', PASSWORD)).status, 200);
    assert.match(await mailTo(mails, 'ann@example.com', /have an account/), /^http:\/\/localhost:3000/);
  });
});

describe('mail by SMTP', () => {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let server: Server;
  before(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      let inData = false;
      let text = '';
      socket.on('error', () => {});
      socket.write('220 test ESMTP\r\n');
      socket.on('data', (chunk) => {
        text += chunk.toString('utf8');
        let end = text.indexOf('\r\n');
        while (end >= 0) {
          const line = text.slice(0, end);
          text = text.slice(end + 2);
          received.push(line);
          if (inData && line === '.') inData = false;
          if (!inData)
            socket.write(
              line === 'DATA'
                ? '354 go on\r\n'
                : line === 'QUIT'
                  ? '221 bye\r\n'
                  : line.startsWith('RCPT TO:<full@')
                    ? '452 mailbox full\r\n'
                    : '250 ok\r\n',
            );
          if (line === 'DATA') inData = true;
          end = text.indexOf('\r\n');
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const send = async (to: string, subject = 'A subject'): Promise<void> => {
    const { port } = server.address() as { port: number };
    await (
      await mailer({ transport: 'smtp', from: 'Demo <no-reply@example.com>', smtp: { host: '127.0.0.1', port, secure: false } }, () => {})
    )({ to, subject, text: 'Open\nhttps://example.com/reset' });
  };

  it('leaves as it is, to one address, and no line of its own makes a header', async () => {
    await send('ann@example.com', 'Hello\r\nBcc: thief@example.com');
    assert.ok(received.includes('RCPT TO:<ann@example.com>'));
    assert.equal(received.filter((line) => line.startsWith('RCPT')).length, 1);
    assert.ok(!received.some((line) => /^bcc:/i.test(line)));
    assert.ok(received.includes('https://example.com/reset'));
  });

  it('rejects what the server does not take', async () => {
    await assert.rejects(send('full@example.com'), /mailbox full/);
    await assert.rejects(
      (await mailer({ transport: 'smtp', from: 'a@b.c', smtp: { host: '127.0.0.1', port: 1 } }, () => {}))({
        to: 'a@b.c',
        subject: '',
        text: '',
      }),
      /ECONNREFUSED/,
    );
  });
});
