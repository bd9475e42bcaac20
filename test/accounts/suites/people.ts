import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { type Accounts, createAccounts } from '../../../accounts/accounts.js';
import { openDatabase } from '../../../accounts/database/database.js';
import { TABLES_VERSION } from '../../../accounts/database/migrate.js';
import type { Tables } from '../../../accounts/database/tables.js';
import { hashOf } from '../../../accounts/identity/passwords.js';
import { type DatabaseServer, optionsFor, type ReadyDatabase } from '../../support/accounts/database-servers.js';
import { member, PASSWORD, Visitor } from '../../support/accounts/visitor.js';
import { until } from '../../support/until.js';

const ADMIN = { email: 'root@example.com', password: 'a password for root 1' };
const CONFIG = { seed: { admin: ADMIN } };

/** How a database server is made to drop all connections but the asking one. */
const DROP_ALL: Readonly<Record<string, (tables: Kysely<Tables>) => Promise<readonly string[]>>> = {
  pg: async () => ['select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'],
  mysql: async (tables) => {
    const { rows } = await sql<{ id: number }>`
      select id from information_schema.processlist where db = database() and id <> connection_id()`.execute(tables);
    return rows.map(({ id }) => `kill ${id}`);
  },
};

/** Sign-up, sign-in, sessions, roles and tables. */
export function peopleSuite(server: DatabaseServer): void {
  describe(`people in ${server.name}`, { skip: server.missing }, () => {
    let database: ReadyDatabase;
    let accounts: Accounts;
    before(async () => {
      database = await server.open();
      accounts = await createAccounts(optionsFor(database, { config: CONFIG }));
    });
    after(() => accounts?.close());

    it('are signed up, in, seen and out (A11)', async () => {
      const visitor = new Visitor(accounts);
      assert.deepEqual((await visitor.get('/api/auth/ok')).body, { ok: true });
      assert.equal((await visitor.signUp('ann@example.com')).status, 200);
      const { status, body } = await visitor.signIn('ann@example.com');
      assert.equal(status, 200);
      assert.equal(body.user.email, 'ann@example.com');
      const session = await visitor.get('/api/auth/get-session');
      assert.equal(session.body.user.id, body.user.id);
      const program = new Visitor(accounts);
      program.headers = { authorization: `Bearer ${body.token}` };
      assert.equal((await program.get('/api/auth/get-session')).body.user.id, body.user.id);
      assert.equal((await visitor.post('/api/auth/sign-out')).status, 200);
      assert.equal((await program.get('/api/auth/get-session')).body, null);
    });

    it('with a wrong password and those who are not there get the same answer (A1)', async () => {
      await new Visitor(accounts).signUp('bob@example.com');
      const [wrong, unknown] = [
        await new Visitor(accounts).signIn('bob@example.com', 'not the one 123'),
        await new Visitor(accounts).signIn('nobody@example.com'),
      ];
      assert.equal(wrong.status, 401);
      assert.deepEqual([wrong.status, wrong.body], [unknown.status, unknown.body]);
    });

    it('who sign up twice get the same answer, and no second account (A2)', async () => {
      const [first, second] = [
        await new Visitor(accounts).signUp('cat@example.com'),
        await new Visitor(accounts).signUp('CAT@example.com'),
      ];
      const shape = ({ body }: { body: { token: unknown; user: object } }): unknown => ({
        token: body.token,
        user: Object.entries(body.user).map(([key, value]) => (/id|At|name/.test(key) ? key : [key, value])),
      });
      assert.deepEqual([first.status, shape(first)], [second.status, shape(second)]);
      assert.equal(second.headers.getSetCookie().length, 0);
    });

    it('who sign up twelve times at once are one user (A3)', async () => {
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, index) => new Visitor(accounts, `198.51.100.${index}`).signUp('dan@example.com')),
      );
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
      const admin = new Visitor(accounts);
      await admin.signIn(ADMIN.email, ADMIN.password);
      const { body } = await admin.get('/api/auth/admin/list-users?searchField=email&searchValue=dan@&limit=100');
      assert.equal(body.users.length, 1);
      assert.equal((await new Visitor(accounts).signIn('dan@example.com')).status, 200);
    });

    it('are kept without a token or password in clear (A10)', async () => {
      const visitor = await member(accounts, 'eve@example.com');
      const { token } = (await visitor.get('/api/auth/get-session')).body.session;
      const { tables, close } = await openDatabase(accounts.settings.database, database.d1);
      try {
        const kept = JSON.stringify([
          await tables.selectFrom('session').selectAll().execute(),
          await tables.selectFrom('account').selectAll().execute(),
          await tables.selectFrom('verification').selectAll().execute(),
        ]);
        assert.ok(!kept.includes(token) && !kept.includes(PASSWORD));
        const stored = (await tables.selectFrom('session').select('token').execute()).map((row) => row.token);
        for (const stolen of stored.slice(0, 3)) {
          const thief = new Visitor(accounts);
          thief.headers = { authorization: `Bearer ${stolen}` };
          assert.equal((await thief.get('/api/auth/get-session')).body, null);
          assert.equal(await accounts.callerOf(new Headers(thief.headers)), undefined);
        }
      } finally {
        await close();
      }
    });

    it('end their other sessions by a new password (A11)', async () => {
      const [here, there] = [await member(accounts, 'fay@example.com'), new Visitor(accounts)];
      await there.signIn('fay@example.com');
      const changed = await here.post('/api/auth/change-password', { currentPassword: PASSWORD, newPassword: 'another horse 8 battery' });
      assert.equal(changed.status, 200);
      assert.notEqual((await here.get('/api/auth/get-session')).body, null);
      assert.equal((await there.get('/api/auth/get-session')).body, null);
    });

    it('cannot make themselves more than they are (A5)', async () => {
      for (const extra of [{ role: 'admin' }, { plan: 'pro' }, { banned: false }, { emailVerified: true }]) {
        const { status } = await new Visitor(accounts).post('/api/auth/sign-up/email', {
          email: 'gus@example.com',
          password: PASSWORD,
          name: 'Gus',
          ...extra,
        });
        assert.equal(status, 400, JSON.stringify(extra));
      }
    });

    it('cannot change into more than they are either, and lose what they are no more at once (A5, A18)', async () => {
      const visitor = await member(accounts, 'max@example.com');
      const { id } = (await visitor.get('/api/auth/get-session')).body.user;
      const row = async (): Promise<unknown> => {
        const { tables, close } = await openDatabase(accounts.settings.database, database.d1);
        const found = await tables.selectFrom('user').selectAll().where('id', '=', id).executeTakeFirst();
        await close();
        return found;
      };
      const before = await row();
      for (const extra of [{ role: 'admin' }, { plan: 'pro' }, { banned: false }, { emailVerified: true }, { email: 'root@example.com' }])
        assert.equal((await visitor.post('/api/auth/update-user', { name: 'Max', ...extra })).status, 400, JSON.stringify(extra));
      assert.deepEqual(await row(), before);
      await accounts.directory.setRole(id, 'admin');
      assert.equal((await visitor.get('/api/auth/admin/list-users')).status, 200);
      await accounts.directory.setRole(id, 'user');
      for (const path of ['/api/auth/admin/list-users', '/admin/data/users']) assert.equal((await visitor.get(path)).status, 403, path);
    });

    it('have no session by a cookie that is unsigned, changed, of another or of nobody (A9)', async () => {
      const [ned, oda] = [await member(accounts, 'ned@example.com'), await member(accounts, 'oda@example.com')];
      const signed = (visitor: Visitor): string => decodeURIComponent(/demo\.session_token=([^;]+)/.exec(visitor.cookie)![1]!);
      const [own, others] = [signed(ned), signed(oda)];
      const [token, signature] = [own.slice(0, own.lastIndexOf('.')), own.slice(own.lastIndexOf('.'))];
      const seen = async (value: string): Promise<unknown> =>
        (await new Visitor(accounts).get('/api/auth/get-session', { cookie: `demo.session_token=${encodeURIComponent(value)}` })).body;
      assert.notEqual(await seen(own), null);
      for (const value of [
        token,
        `${token}.`,
        `${token}.AAAA`,
        own.slice(0, -2),
        token + others.slice(others.lastIndexOf('.')),
        signature,
        '.',
        '',
      ])
        assert.equal(await seen(value), null, value);
      const { id } = (await oda.get('/api/auth/get-session')).body.user;
      const { tables, close } = await openDatabase(accounts.settings.database, database.d1);
      await tables.deleteFrom('session').where('userId', '=', id).execute();
      await tables.deleteFrom('account').where('userId', '=', id).execute();
      await tables.deleteFrom('user').where('id', '=', id).execute();
      await close();
      assert.equal(await seen(others), null);
    });

    it('are changed by our rules alone, and told to no cache', async () => {
      const admin = new Visitor(accounts);
      await admin.signIn(ADMIN.email, ADMIN.password);
      for (const path of ['set-role', 'remove-user', 'set-user-password', 'create-user', 'impersonate-user', 'update-user'])
        assert.equal((await admin.post(`/api/auth/admin/${path}`, {})).status, 404, path);
      assert.equal((await admin.get('/api/auth/get-session')).headers.get('cache-control'), 'no-store');
    });

    it('are listed for the admin alone, at most 100 at a time, without hashes (A18)', async () => {
      assert.equal((await new Visitor(accounts).get('/api/auth/admin/list-users')).status, 401);
      assert.equal((await (await member(accounts, 'hal@example.com')).get('/api/auth/admin/list-users')).status, 403);
      const admin = new Visitor(accounts);
      await admin.signIn(ADMIN.email, ADMIN.password);
      const { status, body, text } = await admin.get('/api/auth/admin/list-users?limit=100000000');
      assert.equal(status, 200);
      assert.equal(body.limit, 100);
      assert.ok(!text.includes('scrypt$'));
    });

    it('are shut out when banned, at once (A9)', async () => {
      const visitor = await member(accounts, 'ida@example.com');
      const admin = new Visitor(accounts);
      await admin.signIn(ADMIN.email, ADMIN.password);
      const { user } = (await visitor.get('/api/auth/get-session')).body;
      assert.equal((await admin.post('/api/auth/admin/ban-user', { userId: user.id })).status, 200);
      assert.equal((await visitor.get('/api/auth/get-session')).body, null);
      assert.equal((await new Visitor(accounts).signIn('ida@example.com')).status, 403);
    });

    it('with a hash of lower cost sign in, and have a better one then; a damaged one is a wrong password (A19)', async () => {
      const { user } = (await (await member(accounts, 'joe@example.com')).get('/api/auth/get-session')).body;
      const opened = await openDatabase(accounts.settings.database, database.d1);
      try {
        const set = (password: string): Promise<unknown> =>
          opened.tables.updateTable('account').set({ password }).where('userId', '=', user.id).execute();
        await set(await hashOf(PASSWORD, { power: 10, r: 4, p: 1 }));
        assert.equal((await new Visitor(accounts).signIn('joe@example.com')).status, 200);
        const { password } = await opened.tables
          .selectFrom('account')
          .select('password')
          .where('userId', '=', user.id)
          .executeTakeFirstOrThrow();
        assert.match(password!, /^scrypt\$10\$8\$1\$/);
        await set('scrypt$99$8$3$damaged');
        assert.equal((await new Visitor(accounts).signIn('joe@example.com')).status, 401);
      } finally {
        await opened.close();
      }
    });

    it('are served again once the database is back that dropped every connection', { skip: !DROP_ALL[server.name] }, async () => {
      const visitor = await member(accounts, 'kim@example.com');
      const { tables, close } = await openDatabase(accounts.settings.database);
      try {
        for (const statement of await DROP_ALL[server.name]!(tables))
          await sql
            .raw(statement)
            .execute(tables)
            .catch(() => {});
        // Each connection that is gone may cost a request.
        const seen = async (): Promise<unknown> => (await visitor.get('/api/auth/get-session')).body?.user?.email;
        await until(async () => (await seen()) === 'kim@example.com', 'the session is known again');
      } finally {
        await close();
      }
    });

    it('find tables made once by four servers that start together, and one admin (A16, A17)', async () => {
      const fresh = await server.open();
      const all = await Promise.all(Array.from({ length: 4 }, () => createAccounts(optionsFor(fresh, { config: CONFIG }))));
      const admin = new Visitor(all[0]!);
      assert.equal((await admin.signIn(ADMIN.email, ADMIN.password)).status, 200);
      assert.equal((await admin.get('/api/auth/admin/list-users')).body.total, 1);
      await Promise.all(all.map((each) => each.close()));
    });

    it('are refused tables that are missing or newer (A17)', async () => {
      const fresh = await server.open();
      await assert.rejects(
        createAccounts(optionsFor(fresh, { config: { database: { ...fresh.fields, auto_migrate: false } } })),
        /auto_migrate/,
      );
      await (await createAccounts(optionsFor(fresh))).close();
      const opened = await openDatabase({ ...accounts.settings.database, ...{ url: fresh.fields.url ?? '' } }, fresh.d1);
      await opened.tables
        .updateTable('accounts_fact')
        .set({ value: String(TABLES_VERSION + 1) })
        .execute();
      await opened.close();
      await assert.rejects(createAccounts(optionsFor(fresh)), /newer version/);
    });

    it('are not promoted by the seed (A16)', async () => {
      const fresh = await server.open();
      const plain = await createAccounts(optionsFor(fresh));
      await new Visitor(plain).signUp(ADMIN.email);
      await plain.close();
      await assert.rejects(createAccounts(optionsFor(fresh, { config: CONFIG })), /not promoted/);
    });
  });
}
