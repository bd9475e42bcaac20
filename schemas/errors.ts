import { withoutAddressSecrets, withoutSecretsInUse } from './secrets.js';

/** The HTTP status of each kind of failure; the only place where a status is chosen. */
export const STATUS_OF_KIND = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  too_large: 413,
  unsupported_type: 415,
  invalid: 422,
  too_many: 429,
  model_failed: 500,
  internal: 500,
  busy: 503,
  unavailable: 503,
  timed_out: 504,
  disk_full: 507,
} as const;

/** What went wrong, in the project's own words; `STATUS_OF_KIND` turns it into an HTTP status. */
export type FailureKind = keyof typeof STATUS_OF_KIND;

/** One offending value of a request or file: `loc` is the path to it, `type` the rule it broke. */
export interface FailureItem {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input?: unknown;
}

/** A number as messages show it: JSON has no word for one that is beyond a double, and reads it as an infinity. */
export function numberForMessage(value: number): number | string {
  return Math.abs(value) === Infinity ? `${value} (a number too large for 64 bits)` : value;
}

/** What a host has answered may go on as a part of a failure, at any depth that JSON has. */
function textsWithoutSecrets<Value>(value: Value): Value {
  if (typeof value === 'string') return withoutSecretsInUse(value) as Value;
  if (Array.isArray(value)) return value.map(textsWithoutSecrets) as Value;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, textsWithoutSecrets(member)])) as Value;
}

/** What a `Failure` may carry besides its message. */
export interface FailureDetails {
  /** Stable machine-readable name, such as `ProjectNotFound`; the kind where none is given. */
  readonly code?: string;
  /** The values at fault, each with its path. */
  readonly errors?: readonly FailureItem[];
  /** Further members of the error body, such as `context_usage`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Seconds after which a retry makes sense; sent as `Retry-After`. */
  readonly retryAfterS?: number;
  /** The underlying error: logged, never sent. */
  readonly cause?: unknown;
}

/**
 * The one error class. `message` is for the caller: it names the thing and the value given, and says what to do. It never holds a
 * secret in use, nor the password or key of an address.
 * Everything thrown that is not a `Failure` reaches the caller as `internal` with a generic text.
 */
export class Failure extends Error {
  readonly kind: FailureKind;
  readonly code: string;
  readonly errors: readonly FailureItem[] | undefined;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterS: number | undefined;

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    super(withoutSecretsInUse(withoutAddressSecrets(message)), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'Failure';
    this.kind = kind;
    this.code = withoutSecretsInUse(details.code ?? kind);
    this.errors = details.errors?.map((item) => {
      const { input } = item;
      return typeof input === 'number' ? { ...item, input: numberForMessage(input) } : textsWithoutSecrets(item);
    });
    this.fields = details.fields && textsWithoutSecrets(details.fields);
    this.retryAfterS = details.retryAfterS;
  }

  /** The HTTP status that this failure is sent with. */
  get status(): number {
    return STATUS_OF_KIND[this.kind];
  }
}

/** A failure in other words: all but its message stays. */
export function withOtherMessage(failure: Failure, message: string): Failure {
  const { kind, code, errors, fields, retryAfterS } = failure;
  return new Failure(kind, message, {
    code,
    ...(errors === undefined ? {} : { errors }),
    ...(fields === undefined ? {} : { fields }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
    cause: failure,
  });
}
