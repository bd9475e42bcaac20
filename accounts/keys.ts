import type { Kysely } from 'kysely';
import { Failure } from '../schemas/errors.js';
import type { Ground } from './database/database.js';
import type { Tables } from './database/tables.js';
import type { Attempts } from './http/attempts.js';
import { keyedHash, newCredential } from './http/hashes.js';
import { isBanned, type Proof, rolesOf } from './identity/sessions.js';

const MOST_KEYS = 100;
const LAST_USED_MS = 60_000;
/** Characters after the prefix that a list shows, so that a person finds the key again. */
const SHOWN = 4;

/** What a new key may have besides its name. */
export interface KeyOptions {
  readonly name: string;
  readonly scopes?: readonly string[];
  /** When it ends, in milliseconds since 1970. */
  readonly expires?: number;
  /** Most requests in a minute. */
  readonly perMinute?: number;
}

/** A key as lists show it. */
export interface ListedKey {
  readonly id: string;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly string[] | null;
  readonly perMinute: number | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsed: string | null;
}

/** API keys of users; the database has their keyed hashes alone. */
export class Keys {
  readonly #ground: Ground;
  readonly #attempts: Attempts;

  constructor(ground: Ground, attempts: Attempts) {
    this.#ground = ground;
    this.#attempts = attempts;
  }

  /** Makes a key; the answer is the one time that it is seen. `Failure('conflict')` beyond 100 keys of a user. */
  async create(userId: string, { name, scopes, expires, perMinute }: KeyOptions): Promise<ListedKey & { key: string }> {
    const key = newCredential(this.#ground.settings.apiKeys.prefix);
    const row = {
      id: crypto.randomUUID(),
      userId,
      hash: keyedHash(this.#ground.settings.secrets[0]!, 'api key', key),
      prefix: key.slice(0, this.#ground.settings.apiKeys.prefix.length + SHOWN),
      name,
      scopes: scopes ? scopes.join(' ') : null,
      perMinute: perMinute ?? null,
      created: this.#ground.now(),
      expires: expires ?? null,
      lastUsed: null,
    };
    if (!(await this.#added(row))) throw new Failure('conflict', `a user may have ${MOST_KEYS} keys; revoke one first`);
    return { ...keySummary(row), key };
  }

  /** Adds a key where its user has fewer than may be, also of many that are added at once; false where there is no room. */
  async #added(row: Tables['accounts_key']): Promise<boolean> {
    const { tables, language } = this.#ground.database;
    const countIn = (within: Kysely<Tables>) =>
      within
        .selectFrom('accounts_key')
        .select((each) => each.fn.countAll<number>().as('count'))
        .where('userId', '=', row.userId);
    if (language === 'sqlite') {
      // One statement, for D1 has no transactions, and one that writes is alone.
      const { numInsertedOrUpdatedRows = 0n } = await tables
        .insertInto('accounts_key')
        .columns(Object.keys(row) as (keyof typeof row)[])
        .expression(
          tables
            .selectNoFrom((each) => Object.entries(row).map(([name, value]) => each.val(value).as(name)))
            .where((each) => each(countIn(tables), '<', MOST_KEYS)),
        )
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    }
    return tables.transaction().execute(async (within) => {
      // The user's record makes those who add keys to it wait for each other.
      await within.selectFrom('user').select('id').where('id', '=', row.userId).forUpdate().execute();
      if (Number((await countIn(within).executeTakeFirstOrThrow()).count) >= MOST_KEYS) return false;
      await within.insertInto('accounts_key').values(row).execute();
      return true;
    });
  }

  /** The keys of a user, newest first. */
  async list(userId: string): Promise<readonly ListedKey[]> {
    const rows = await this.#ground.database.tables
      .selectFrom('accounts_key')
      .selectAll()
      .where('userId', '=', userId)
      .orderBy('created', 'desc')
      .limit(MOST_KEYS)
      .execute();
    return rows.map(keySummary);
  }

  /** Ends a key of the user; false where the user has none of that id. */
  async revoke(userId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#ground.database.tables
      .deleteFrom('accounts_key')
      .where('id', '=', id)
      .where('userId', '=', userId)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Whether a text looks like a key. */
  isKey(text: string): boolean {
    return text.startsWith(this.#ground.settings.apiKeys.prefix);
  }

  /** Who asks by a key; undefined for one that does not hold. `Failure('too_many')` beyond what the key may do in a minute. */
  async proofOf(key: string): Promise<Proof | undefined> {
    const { tables } = this.#ground.database;
    const now = this.#ground.now();
    const hashes = this.#ground.settings.secrets.map((secret) => keyedHash(secret, 'api key', key));
    const row = await tables
      .selectFrom('accounts_key')
      .innerJoin('user', 'user.id', 'accounts_key.userId')
      .select([
        'accounts_key.id',
        'accounts_key.hash',
        'accounts_key.userId',
        'accounts_key.scopes',
        'accounts_key.perMinute',
        'accounts_key.expires',
        'accounts_key.lastUsed',
      ])
      .select(['user.email', 'user.name', 'user.role', 'user.banned', 'user.banExpires'])
      .where('accounts_key.hash', 'in', hashes)
      .executeTakeFirst();
    if (!row || (row.expires !== null && Number(row.expires) <= now) || isBanned(row, now)) return undefined;
    if (row.perMinute !== null)
      await this.#attempts.take(`key:${row.id}`, { most: Number(row.perMinute), windowS: 60 }, 'requests with this key');
    // A key that stands under the secret before moves to the present one, so that it outlives the other.
    if (now - Number(row.lastUsed ?? 0) > LAST_USED_MS || row.hash !== hashes[0])
      await tables.updateTable('accounts_key').set({ lastUsed: now, hash: hashes[0]! }).where('id', '=', row.id).execute();
    return {
      caller: {
        userId: row.userId,
        email: row.email,
        name: row.name,
        roles: rolesOf(row.role),
        via: 'api_key',
        credentialId: row.id,
        ...(row.scopes === null ? {} : { scopes: row.scopes.split(' ').filter(Boolean) }),
      },
      // A key whose requests are counted is asked for each time.
      until: row.perMinute !== null ? 0 : row.expires === null ? Infinity : Number(row.expires),
    };
  }
}

function keySummary(row: Tables['accounts_key']): ListedKey {
  const iso = (at: number | null): string | null => (at === null ? null : new Date(Number(at)).toISOString());
  return {
    id: row.id,
    prefix: row.prefix,
    name: row.name,
    scopes: row.scopes === null ? null : row.scopes.split(' ').filter(Boolean),
    perMinute: row.perMinute,
    createdAt: iso(row.created)!,
    expiresAt: iso(row.expires),
    lastUsed: iso(row.lastUsed),
  };
}
