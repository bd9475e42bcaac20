/** The tables by name. Times are milliseconds since 1970, but in the four tables of people, where the library that reads them keeps dates. */
export interface Tables {
  /** People, sessions, ways to sign in, and proofs under way: the tables of better-auth. */
  user: UserRow;
  session: SessionRow;
  account: AccountRow;
  verification: VerificationRow;
  /** Named counters of attempts; `count` holds from `started` on for the window that the reader knows. */
  accounts_attempt: { key: string; count: number; started: number };
  /** Small facts about the whole database, such as the version of its tables. */
  accounts_fact: { name: string; value: string };
  /** A plan that a user has without paying, until a moment or for good. */
  accounts_grant: { userId: string; plan: string; until: number | null; reason: string | null };
  /** What a user has used of a meter in the period that began at `started`; `warned` is 1 once the warning was given. */
  accounts_usage: { userId: string; meter: string; started: number; used: number; warned: number };
  /** Uses that were counted under a name, so that a repetition counts once. */
  accounts_tracked: { name: string; meter: string; count: number; at: number };
  /** Sign-ins of devices that wait for their user; codes are hashes, `state` is pending, approved, denied or done. */
  accounts_device_request: {
    deviceCode: string;
    userCode: string;
    clientId: string | null;
    state: 'pending' | 'approved' | 'denied' | 'done';
    userId: string | null;
    expires: number;
    intervalS: number;
    polled: number;
  };
  accounts_device: { id: string; userId: string; clientId: string | null; created: number; lastUsed: number };
  /** Pairs of tokens of a device, as hashes; `replaced` is when the next pair was given for this one. */
  accounts_device_token: {
    refresh: string;
    access: string;
    deviceId: string;
    accessExpires: number;
    refreshExpires: number;
    replaced: number | null;
  };
  accounts_key: {
    id: string;
    userId: string;
    hash: string;
    prefix: string;
    name: string;
    /** Separated by spaces; null where the key may do all that a key may. */
    scopes: string | null;
    perMinute: number | null;
    created: number;
    expires: number | null;
    lastUsed: number | null;
  };
  /** A user as a customer of the processor; `checkouts` counts the ones that were begun, the last of which may still be open. */
  accounts_customer: {
    userId: string;
    customerId: string;
    trialUsed: number;
    checkouts: number;
    checkoutPlan: string | null;
    checkoutUrl: string | null;
    checkoutId: string | null;
    checkoutExpires: number;
  };
  accounts_subscription: SubscriptionRow;
  /** Events of the processor; `lease` is until when one process works on it. */
  accounts_event: { id: string; type: string; state: 'working' | 'done'; lease: number; received: number; note: string | null };
  /** Nudges that users have put away: `session` is the credential by which, `at` the moment. */
  accounts_nudge: { userId: string; nudge: string; session: string; at: number };
  accounts_lock: { name: string; holder: string; until: number };
}

type Moment = Date | string;

/** A person. `role` holds one role or several with commas. */
export interface UserRow {
  id: string;
  name: string;
  email: string;
  emailVerified: boolean | number;
  image: string | null;
  createdAt: Moment;
  updatedAt: Moment;
  role: string | null;
  banned: boolean | number | null;
  banReason: string | null;
  banExpires: Moment | null;
}

/** A sign-in that has not ended. */
export interface SessionRow {
  id: string;
  expiresAt: Moment;
  /** The keyed hash of the token, never the token. */
  token: string;
  createdAt: Moment;
  updatedAt: Moment;
  ipAddress: string | null;
  userAgent: string | null;
  userId: string;
  impersonatedBy: string | null;
}

/** A way to sign in: `providerId` is `credential` for a password, else the name of a provider. */
export interface AccountRow {
  id: string;
  accountId: string;
  providerId: string;
  userId: string;
  accessToken: string | null;
  refreshToken: string | null;
  idToken: string | null;
  accessTokenExpiresAt: Moment | null;
  refreshTokenExpiresAt: Moment | null;
  scope: string | null;
  password: string | null;
  createdAt: Moment;
  updatedAt: Moment;
}

/** A proof under way, such as of an address; `identifier` is stored as a hash. */
export interface VerificationRow {
  id: string;
  identifier: string;
  value: string;
  expiresAt: Moment;
  createdAt: Moment;
  updatedAt: Moment;
}

/** What the processor last said of a subscription. `ticket` is the number of the last question, `applied` of the last answer that was taken. */
export interface SubscriptionRow {
  id: string;
  customerId: string;
  plan: string;
  status: string;
  periodStart: number | null;
  periodEnd: number | null;
  cancelAt: number | null;
  trialEnd: number | null;
  pastDueSince: number | null;
  cardBrand: string | null;
  cardLast4: string | null;
  created: number;
  ticket: number;
  applied: number;
}
