import { writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { Command } from './command.js';

const TEMPLATE = (
  id: string,
): string => `# Accounts of this server. Secrets belong into the environment: AUTH_SECRET and AUTH_URL, and PAYMENT_* once plans are sold.
app:
  name: ${id}
  id: ${id}
  domain: http://localhost:3000

database:
  adapter: sqlite            # sqlite, pg, mysql, turso or d1
  # url: ./accounts.db      # an address for the others; a SQLite database lies beside this file, or in front of Quern in its data directory
  auto_migrate: true

auth:
  methods:
    email_password: true
    # google: true           # wants GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET; also github, discord, apple, microsoft, twitter

plans:
  - name: free
    display_name: Free
    price: 0
  - name: pro
    display_name: Pro
    price: 20
    trial_days: 14
    features: [Everything in Free, More calls]

# Which plans have a feature; "*" is anyone.
features:
  export: [pro]

meters:
  calls:
    label: Calls
    type: cap
    reset_period: month
    limits: { free: 100, pro: 10000 }
    warning_at: 0.8

# Without a processor nobody is limited. stripe wants PAYMENT_SECRET_KEY and PAYMENT_WEBHOOK_SECRET.
billing:
  provider: none

admin:
  path: /admin
`;

/** Writes a module file to begin with. */
export const initCommand: Command = {
  name: 'init',
  summary: 'write a module.yaml to begin with',
  async run({ config }) {
    const id =
      basename(resolve('.'))
        .toLowerCase()
        .replace(/[^a-z0-9_-]+/g, '-')
        .replace(/^[^a-z0-9]+/, '')
        .slice(0, 40) || 'app';
    try {
      await writeFile(config, TEMPLATE(id), { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST')
        throw new Failure('conflict', `${config} is there already; name another with --config`);
      throw new Failure(
        'bad_request',
        `${config} cannot be written (${(error as NodeJS.ErrnoException).code}); name another with --config`,
      );
    }
    return {
      lines: [`Wrote ${config}.`],
      result: { config },
      next: [
        'set AUTH_SECRET to the output of "openssl rand -base64 32", and AUTH_URL to the address that browsers use',
        'run "quern accounts doctor"',
      ],
    };
  },
};
