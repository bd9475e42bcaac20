import { Failure } from '../../schemas/errors.js';
import { NoAnswer } from './watched-dialect.js';

/** Seconds after which a client may ask a database again that did not answer. */
const RETRY_AFTER_S = 5;

/** What drivers and systems say when a connection cannot be had, or is gone. */
const GONE =
  /^(?:ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|PROTOCOL_CONNECTION_LOST|PROTOCOL_ENQUEUE_AFTER_\w+|POOL_\w+|UND_ERR_\w+|HRANA_\w+|SERVER_ERROR|CLIENT_CLOSED|STREAM_\w+|D1_UNAVAILABLE)$/;
/** Conditions of PostgreSQL: no connection, no resources, being shut down, a statement or a lock that took too long, a conflict of transactions. */
const POSTGRES = /^(?:08\w{3}|53[023]00|57P\d\d|57014|55P03|40001|40P01)$/;
const MYSQL =
  /^ER_(?:CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS|SERVER_SHUTDOWN|LOCK_WAIT_TIMEOUT|LOCK_DEADLOCK|STATEMENT_TIMEOUT|QUERY_TIMEOUT|QUERY_INTERRUPTED|CONNECTION_KILLED|OPTION_PREVENTS_STATEMENT|OUT_OF_RESOURCES)$/;
const SQLITE = /^SQLITE_(?:BUSY|LOCKED|IOERR|CANTOPEN|READONLY|PROTOCOL|NOMEM)/;
const FULL = /^(?:SQLITE_FULL|53100|ER_DISK_FULL|ER_RECORD_FILE_FULL|ENOSPC)$/;
const WORDS = /connection terminated|connection lost|timeout exceeded when trying to connect|fetch failed|socket hang up|pool is closed/i;

/** Whether SQLite says that another connection is writing. */
export function isBusy(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED');
}

/**
 * What a driver's error means to who asked: `Failure('unavailable')` with the seconds to wait for a database that does not answer,
 * `Failure('disk_full')` for one without room; other errors as they are.
 */
export function asFailure(error: unknown, adapter: string): unknown {
  if (error instanceof Failure) return error;
  const codes = codesOf(error);
  if (codes.some((code) => FULL.test(code)))
    return new Failure('disk_full', 'the accounts database has no room left; nothing was changed, make room and try again', {
      code: 'database_full',
      retryAfterS: RETRY_AFTER_S,
      cause: error,
    });
  const isGone =
    error instanceof NoAnswer ||
    codes.some((code) => GONE.test(code) || POSTGRES.test(code) || MYSQL.test(code) || SQLITE.test(code)) ||
    messagesOf(error).some((message) => WORDS.test(message));
  if (!isGone) return error;
  return new Failure('unavailable', `the accounts database (${adapter}) does not answer; try again in ${RETRY_AFTER_S} s`, {
    code: 'database_unavailable',
    retryAfterS: RETRY_AFTER_S,
    cause: error,
  });
}

/** An error with what caused it, outermost first. */
function chainOf(error: unknown): readonly { code?: unknown; message?: unknown }[] {
  const chain: { code?: unknown; message?: unknown; cause?: unknown }[] = [];
  for (let each = error; typeof each === 'object' && each !== null && chain.length < 5; each = (each as { cause?: unknown }).cause)
    chain.push(each);
  return chain;
}

function codesOf(error: unknown): readonly string[] {
  return chainOf(error).flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
}

function messagesOf(error: unknown): readonly string[] {
  return chainOf(error).flatMap(({ message }) => (typeof message === 'string' ? [message] : []));
}
