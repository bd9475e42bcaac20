import type { App, Meter, Nudge, Plan, SocialProvider } from '../../schemas/generated/accounts/module.js';

/** The five kinds of database. */
export type Adapter = 'sqlite' | 'pg' | 'mysql' | 'turso' | 'd1';

/** Where the accounts are kept. */
export interface DatabaseSettings {
  readonly adapter: Adapter;
  /** A path for `sqlite`, an address for the others; empty for a D1 binding. */
  readonly url: string;
  readonly token?: string;
  readonly autoMigrate: boolean;
}

/** The social providers that the module file may name. */
export const SOCIAL_PROVIDERS = ['google', 'github', 'discord', 'apple', 'microsoft', 'twitter', 'facebook', 'gitlab', 'linkedin'] as const;
/** One of them. */
export type SocialName = (typeof SOCIAL_PROVIDERS)[number];

/** What one provider is asked with. */
export interface SocialSettings extends Omit<SocialProvider, 'enabled'> {
  readonly name: SocialName;
  readonly client_id: string;
}

/** How mails leave. */
export interface MailSettings {
  readonly transport: 'console' | 'smtp' | 'resend' | 'postmark';
  readonly from: string;
  readonly smtp?: {
    readonly host: string;
    readonly port: number;
    readonly secure?: boolean;
    readonly user?: string;
    readonly password?: string;
  };
  /** What proves this server to `resend` or `postmark`. */
  readonly apiKey?: string;
}

/** A plan with its defaults. */
export type PlanSettings = Plan & {
  readonly display_name: string;
  readonly price: number;
  readonly interval: 'month' | 'year';
  readonly trial_days: number;
};

/** A meter with its defaults. */
export type MeterSettings = Meter & { readonly label: string; readonly type: 'cap' | 'metered'; readonly reset_period: 'day' | 'month' };

/** A nudge with its defaults. */
export type NudgeSettings = Nudge & {
  readonly cta: string;
  readonly style: 'banner' | 'modal' | 'toast';
  readonly position: 'top' | 'bottom' | 'center';
  readonly dismissible: boolean;
  readonly show_once_per: 'session' | 'day' | 'ever';
};

/** The module file as the library works by it: checked, whole, with what the environment adds. */
export interface Settings {
  readonly app: App & { readonly domain: string };
  readonly database: DatabaseSettings;
  /** The origin under which browsers reach the server, without a path. */
  readonly origin: string;
  /** The secret first, then the one before it where there is one. */
  readonly secrets: readonly string[];
  readonly session: { readonly maxAgeS: number; readonly updateAgeS: number };
  readonly emailPassword: boolean;
  /** Seconds that a link in a mail signs in; undefined where none does. */
  readonly magicLinkS: number | undefined;
  /** Digits in a mail that sign in; undefined where none do. */
  readonly emailCode: { readonly length: number; readonly expiresS: number } | undefined;
  readonly social: readonly SocialSettings[];
  readonly mail: MailSettings;
  readonly verifyOnSignUp: boolean;
  readonly revealExistingAccounts: boolean;
  /** Origins whose pages may call with a cookie; ours first. */
  readonly trustedOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly deviceAuth: { readonly enabled: boolean; readonly clientIds: readonly string[] | undefined };
  readonly apiKeys: { readonly enabled: boolean; readonly prefix: string };
  /** The cheapest first; never empty. */
  readonly plans: readonly PlanSettings[];
  /** The name of the plan of those who pay for none. */
  readonly defaultPlan: string;
  readonly features: Readonly<Record<string, readonly string[]>>;
  readonly billing: {
    readonly provider: 'stripe' | 'none';
    readonly currency: string;
    readonly cancelBehavior: 'end_of_period' | 'immediate';
    readonly graceDays: number;
    readonly successUrl: string;
    readonly cancelUrl: string;
    readonly secretKey?: string;
    readonly publishableKey?: string;
    readonly webhookSecrets: readonly string[];
    /** Where events are taken besides the path that the library has for them. */
    readonly webhookPaths: readonly string[];
    /** Whether a trial begins with a card. */
    readonly needsCard: boolean;
  };
  readonly meters: Readonly<Record<string, MeterSettings>>;
  /** By name; those of meters as `meter:<name>`. */
  readonly nudges: Readonly<Record<string, NudgeSettings>>;
  readonly seed: {
    readonly admin?: { readonly email: string; readonly password: string; readonly name: string };
    readonly testUsers: readonly {
      readonly email: string;
      readonly password: string;
      readonly name: string;
      readonly plan?: string;
      readonly usage?: Readonly<Record<string, number>>;
    }[];
  };
  readonly admin: {
    readonly path: string;
    readonly requireRole: string;
    readonly sections: { readonly users: boolean; readonly billing: boolean; readonly usage: boolean };
  };
  /** Where the accounts stand in front of Quern: namespaces that several people share, with the roles that may see and that may change them. */
  readonly sharedNamespaces: Readonly<Record<string, { readonly roles: readonly string[]; readonly write: readonly string[] }>>;
  /** Whether Quern fetches models that projects name for the owners of namespaces too, and not only for who runs the machine and the writers of shared ones. */
  readonly ownersFetch: boolean;
  /** Hosts of the machine and its private networks that project files of Quern may name, as `name:port`. */
  readonly privateHosts: readonly string[];
  /** Whether weak secrets and test users are taken. */
  readonly development: boolean;
}
