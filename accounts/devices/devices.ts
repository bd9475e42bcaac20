import { Failure } from '../../schemas/errors.js';
import type { Database, Ground } from '../database/database.js';
import type { Attempts } from '../http/attempts.js';
import { hash, keyedHash, newCredential, newUserCode, nextCredential, plainUserCode } from '../http/hashes.js';
import { type Caller, isBanned, type Proof, rolesOf } from '../identity/sessions.js';

/** How an access token of a device begins. */
export const ACCESS_PREFIX = 'dat_';
const REFRESH_PREFIX = 'drt_';
const REQUEST_MS = 10 * 60 * 1000;
/** Seconds that a device waits between two questions; five more after each that came too soon (RFC 8628, section 3.5). */
const INTERVAL_S = 5;
const ACCESS_MS = 3600 * 1000;
const REFRESH_MS = 90 * 24 * 3600 * 1000;
/** How long tokens are given once more for what they were given for: the answer may have been lost, or two programs were as fast. */
const GRACE_MS = 10_000;
const WRONG_CODES = { most: 5, windowS: 10 * 60 };
const LAST_USED_MS = 60_000;

/** What a device shows and waits with. Times are seconds. */
export interface DeviceRequest {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUrl: string;
  readonly verificationUrlComplete: string;
  readonly expiresIn: number;
  readonly interval: number;
}

/** What a device signs in with. */
export interface DeviceTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: string;
  readonly expiresIn: number;
}

/** An error of OAuth 2, which has names of its own (RFC 6749, section 5.2; RFC 8628, section 3.5). */
export class DeviceRefusal extends Error {
  constructor(
    readonly error:
      | 'authorization_pending'
      | 'slow_down'
      | 'access_denied'
      | 'expired_token'
      | 'invalid_grant'
      | 'invalid_client'
      | 'invalid_request',
    message: string,
  ) {
    super(message);
  }
}

/** Whether what was done at a moment is too long ago, or was done before the clock was set back, to be answered once more. */
function isLate(moment: number, now: number): boolean {
  return Math.abs(now - Number(moment)) > GRACE_MS;
}

/** Signs all devices of a user out, as a new password does. */
export async function endDevicesOf({ tables }: Database, userId: string): Promise<void> {
  const own = tables.selectFrom('accounts_device').select('id').where('userId', '=', userId);
  await tables.deleteFrom('accounts_device_token').where('deviceId', 'in', own).execute();
  await tables.deleteFrom('accounts_device').where('userId', '=', userId).execute();
}

/** Devices that are signed in by their user in a browser (RFC 8628), with access tokens of an hour and refresh tokens that work once. */
export class Devices {
  readonly #ground: Ground;
  readonly #attempts: Attempts;

  constructor(ground: Ground, attempts: Attempts) {
    this.#ground = ground;
    this.#attempts = attempts;
  }

  /** Begins a sign-in. */
  async authorize(clientId: string | null): Promise<DeviceRequest> {
    const { clientIds } = this.#ground.settings.deviceAuth;
    if (clientIds && !clientIds.includes(clientId ?? ''))
      throw new DeviceRefusal('invalid_client', `the client ${JSON.stringify(clientId)} is not among auth.device_auth.client_ids`);
    const deviceCode = newCredential('');
    const userCode = newUserCode();
    await this.#ground.database.tables
      .insertInto('accounts_device_request')
      .values({
        deviceCode: hash('device code', deviceCode),
        userCode: keyedHash(this.#ground.settings.secrets[0]!, 'user code', plainUserCode(userCode)),
        clientId,
        state: 'pending',
        userId: null,
        expires: this.#ground.now() + REQUEST_MS,
        intervalS: INTERVAL_S,
        polled: 0,
      })
      .execute();
    const verificationUrl = new URL('/api/module/device', this.#ground.settings.origin).href;
    return {
      deviceCode,
      userCode,
      verificationUrl,
      verificationUrlComplete: `${verificationUrl}?user_code=${userCode}`,
      expiresIn: REQUEST_MS / 1000,
      interval: INTERVAL_S,
    };
  }

  /**
   * Answers a device that waits: its tokens, or a `DeviceRefusal` that says how it stands. The tokens are given for ten seconds, always the
   * same ones, for an answer may be lost; then no more.
   */
  async poll(deviceCode: string): Promise<DeviceTokens> {
    const { tables } = this.#ground.database;
    const code = hash('device code', deviceCode);
    const request = await tables.selectFrom('accounts_device_request').selectAll().where('deviceCode', '=', code).executeTakeFirst();
    const now = this.#ground.now();
    const isOver = request?.state === 'done' && isLate(request.polled, now);
    if (!request || isOver) throw new DeviceRefusal('invalid_grant', 'there is no such sign-in, or its tokens were fetched; begin anew');
    if (Number(request.expires) <= now) throw new DeviceRefusal('expired_token', 'nobody confirmed this sign-in in time; begin anew');
    if (request.state === 'denied') {
      await tables.deleteFrom('accounts_device_request').where('deviceCode', '=', code).execute();
      throw new DeviceRefusal('access_denied', 'the user has refused this sign-in');
    }
    if (request.state === 'pending') {
      // A question that lies ahead was asked before the clock was set back.
      const since = now - Number(request.polled);
      const tooSoon = since >= 0 && since < Number(request.intervalS) * 1000;
      await tables
        .updateTable('accounts_device_request')
        .set((row) => ({ polled: now, intervalS: tooSoon ? row('intervalS', '+', INTERVAL_S) : row.ref('intervalS') }))
        .where('deviceCode', '=', code)
        .execute();
      if (tooSoon) throw new DeviceRefusal('slow_down', `ask every ${Number(request.intervalS) + INTERVAL_S} s`);
      throw new DeviceRefusal('authorization_pending', 'the user has not confirmed this sign-in yet');
    }
    // Named after the code: a question that was cut off here leaves nothing that the next one would make twice.
    const deviceId = hash('device', deviceCode);
    const device = { id: deviceId, userId: request.userId!, clientId: request.clientId, created: now, lastUsed: now };
    await this.#ground.database.newOnly(tables.insertInto('accounts_device').values(device)).execute();
    const given = await this.#tokensAfter(deviceCode, deviceId);
    await tables
      .updateTable('accounts_device_request')
      .set({ state: 'done', polled: now })
      .where('deviceCode', '=', code)
      .where('state', '=', 'approved')
      .execute();
    return given;
  }

  /** The user's word on a code that the device shows. `Failure` for a wrong or expired code, and for one that was answered. */
  async verify(caller: Caller, visitor: string, typed: string, isApproved: boolean): Promise<void> {
    const { tables } = this.#ground.database;
    for (const key of [`user code:${caller.userId}`, `user code:${visitor}`]) await this.#attempts.take(key, WRONG_CODES, 'codes');
    const codes = this.#ground.settings.secrets.map((secret) => keyedHash(secret, 'user code', plainUserCode(typed)));
    const { numUpdatedRows } = await tables
      .updateTable('accounts_device_request')
      .set({ state: isApproved ? 'approved' : 'denied', userId: caller.userId })
      .where('userCode', 'in', codes)
      .where('state', '=', 'pending')
      .where('expires', '>', this.#ground.now())
      .executeTakeFirst();
    if (numUpdatedRows === 0n) {
      const known = await tables
        .selectFrom('accounts_device_request')
        .select(['state', 'userId'])
        .where('userCode', 'in', codes)
        .where('expires', '>', this.#ground.now())
        .executeTakeFirst();
      if (known && known.userId === caller.userId && (known.state === 'denied') !== isApproved) return;
      if (known) throw new Failure('conflict', 'this code was answered already', { code: 'code_used' });
      throw new Failure('not_found', 'there is no such code, or its ten minutes are over; look at the device again', {
        code: 'unknown_code',
      });
    }
    for (const key of [`user code:${caller.userId}`, `user code:${visitor}`]) await this.#attempts.clear(key);
  }

  /**
   * New tokens for a refresh token. They are given for ten seconds, always the same ones, for an answer may be lost; a refresh token that
   * comes back later was stolen or copied: all tokens of its device end.
   */
  async refresh(refreshToken: string): Promise<DeviceTokens> {
    const { tables } = this.#ground.database;
    const refresh = hash('refresh token', refreshToken);
    const now = this.#ground.now();
    const row = await tables.selectFrom('accounts_device_token').selectAll().where('refresh', '=', refresh).executeTakeFirst();
    const invalid = (): DeviceRefusal =>
      new DeviceRefusal('invalid_grant', 'this refresh token does not hold, or not any more; sign in again');
    if (!row || Number(row.refreshExpires) <= now) throw invalid();
    if (row.replaced !== null && isLate(row.replaced, now)) {
      await this.#end(row.deviceId);
      throw invalid();
    }
    if (!(await this.#owner(row.deviceId))) throw invalid();
    const given = await this.#tokensAfter(refreshToken, row.deviceId);
    await tables
      .updateTable('accounts_device_token')
      .set({ replaced: now })
      .where('refresh', '=', refresh)
      .where('replaced', 'is', null)
      .execute();
    return given;
  }

  /** Who asks by an access token; undefined for one that does not hold. */
  async proofOf(accessToken: string): Promise<Proof | undefined> {
    const { tables } = this.#ground.database;
    const now = this.#ground.now();
    const row = await tables
      .selectFrom('accounts_device_token')
      .select(['deviceId', 'accessExpires'])
      .where('access', '=', hash('access token', accessToken))
      .executeTakeFirst();
    if (!row || Number(row.accessExpires) <= now) return undefined;
    const owner = await this.#owner(row.deviceId);
    if (!owner) return undefined;
    if (now - Number(owner.lastUsed) > LAST_USED_MS)
      await tables.updateTable('accounts_device').set({ lastUsed: now }).where('id', '=', row.deviceId).execute();
    const { userId, email, name, role } = owner;
    return {
      caller: { userId, email, name, roles: rolesOf(role), via: 'device', credentialId: row.deviceId },
      until: Number(row.accessExpires),
    };
  }

  /** The devices of a user, newest first. */
  async list(userId: string): Promise<readonly { id: string; clientId: string | null; createdAt: string; lastUsed: string }[]> {
    const rows = await this.#ground.database.tables
      .selectFrom('accounts_device')
      .selectAll()
      .where('userId', '=', userId)
      .orderBy('created', 'desc')
      .limit(100)
      .execute();
    const iso = (at: number): string => new Date(Number(at)).toISOString();
    return rows.map(({ id, clientId, created, lastUsed }) => ({ id, clientId, createdAt: iso(created), lastUsed: iso(lastUsed) }));
  }

  /** Signs a device of the user out; false where the user has none of that id. */
  async remove(userId: string, id: string): Promise<boolean> {
    const owned = await this.#ground.database.tables
      .selectFrom('accounts_device')
      .select('id')
      .where('id', '=', id)
      .where('userId', '=', userId)
      .executeTakeFirst();
    if (owned) await this.#end(id);
    return owned !== undefined;
  }

  /** Removes requests and tokens whose time is over. */
  async sweep(): Promise<void> {
    const { tables } = this.#ground.database;
    await tables
      .deleteFrom('accounts_device_request')
      .where('expires', '<', this.#ground.now() - REQUEST_MS)
      .execute();
    await tables.deleteFrom('accounts_device_token').where('refreshExpires', '<', this.#ground.now()).execute();
  }

  #owner(deviceId: string) {
    return this.#ground.database.tables
      .selectFrom('accounts_device')
      .innerJoin('user', 'user.id', 'accounts_device.userId')
      .select([
        'accounts_device.userId',
        'accounts_device.lastUsed',
        'user.email',
        'user.name',
        'user.role',
        'user.banned',
        'user.banExpires',
      ])
      .where('accounts_device.id', '=', deviceId)
      .executeTakeFirst()
      .then((owner) => (owner && !isBanned(owner, this.#ground.now()) ? owner : undefined));
  }

  async #end(deviceId: string): Promise<void> {
    await this.#ground.database.tables.deleteFrom('accounts_device_token').where('deviceId', '=', deviceId).execute();
    await this.#ground.database.tables.deleteFrom('accounts_device').where('id', '=', deviceId).execute();
  }

  /**
   * The tokens of a device that are given for its code, or for a refresh token: made at the first question, and the same at each after it.
   * They are stored before what they are given for is spent, so that a server that dies in between leaves no device without.
   */
  async #tokensAfter(credential: string, deviceId: string): Promise<DeviceTokens> {
    const { tables, newOnly } = this.#ground.database;
    const now = this.#ground.now();
    const [accessToken, refreshToken] = [ACCESS_PREFIX, REFRESH_PREFIX].map((prefix) =>
      nextCredential(prefix, this.#ground.settings.secrets[0]!, credential),
    ) as [string, string];
    const row = {
      access: hash('access token', accessToken),
      refresh: hash('refresh token', refreshToken),
      deviceId,
      accessExpires: now + ACCESS_MS,
      refreshExpires: now + REFRESH_MS,
      replaced: null,
    };
    await newOnly(tables.insertInto('accounts_device_token').values(row)).execute();
    return { accessToken, refreshToken, expiresAt: new Date(row.accessExpires).toISOString(), expiresIn: ACCESS_MS / 1000 };
  }
}
