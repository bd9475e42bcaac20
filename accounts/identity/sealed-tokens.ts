import { createHash } from 'node:crypto';
import type { DBAdapter, Where } from 'better-auth/types';

/** How a sealed token begins; no token that is given out does. */
const SEAL = 'sealed:';

/** What is stored of a session's token: its SHA-256, for a token is random enough to need no key. Who reads the database learns nothing that signs in. */
export function sealToken(token: string): string {
  return token.startsWith(SEAL) ? token : SEAL + createHash('sha256').update(token).digest('base64url');
}

/** Whether a text is what is stored of a token, and so no credential. */
export function isSealed(text: string): boolean {
  return text.startsWith(SEAL);
}

type Row = Record<string, unknown>;
interface Query {
  readonly model: string;
  readonly where?: readonly Where[];
  readonly data?: Row;
  readonly update?: Row;
}
type Method = (query: Query) => Promise<unknown>;

const METHODS = ['create', 'findOne', 'findMany', 'update', 'updateMany', 'delete', 'deleteMany', 'count', 'consumeOne', 'incrementOne'];

/**
 * The adapter with session tokens sealed on their way in. A record that was asked for by its token comes back with that token; one that
 * was found otherwise has the sealed one, which serves as its name (to end that session, say) and never as a credential.
 */
export function withSealedTokens(adapter: DBAdapter): DBAdapter {
  const own = adapter as unknown as Record<string, Method | undefined>;
  const wrapped = Object.fromEntries(METHODS.flatMap((name) => (own[name] ? [[name, sealingHook(own[name].bind(adapter))]] : [])));
  const transaction: DBAdapter['transaction'] = (work) => adapter.transaction((inner) => work(withSealedTokens(inner as DBAdapter)));
  return { ...adapter, ...wrapped, transaction } as DBAdapter;
}

function sealingHook(method: Method): Method {
  return async (query) => {
    if (query.model !== 'session') return method(query);
    const tokens = new Map<unknown, string>();
    const seal = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(seal);
      if (typeof value !== 'string') return value;
      tokens.set(sealToken(value), value);
      return sealToken(value);
    };
    const inData = (data: Row): Row => ('token' in data ? { ...data, token: seal(data.token) } : data);
    const opened = (row: unknown): unknown => {
      const token = tokens.get((row as Row | null)?.token);
      return token === undefined ? row : { ...(row as Row), token };
    };
    const answer = await method({
      ...query,
      ...(query.where
        ? { where: query.where.map((clause) => (clause.field === 'token' ? { ...clause, value: seal(clause.value) as string } : clause)) }
        : {}),
      ...(query.data ? { data: inData(query.data) } : {}),
      ...(query.update ? { update: inData(query.update) } : {}),
    });
    return Array.isArray(answer) ? answer.map(opened) : opened(answer);
  };
}
