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
