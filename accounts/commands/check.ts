import type { Environment } from '../config/environment.js';
import { readSettings } from '../config/read.js';
import { openDatabase } from '../database/database.js';
import { migrate, TABLES_VERSION, tablesVersion } from '../database/migrate.js';
import type { Command } from './command.js';

interface Finding {
  readonly what: string;
  readonly state: 'good' | 'note' | 'bad';
  readonly says: string;
}

const SIGN = { good: 'ok  ', note: 'note', bad: 'BAD ' };

/** `validate` reads the file; `doctor` also asks the database and looks at what production needs; `migrate` makes the tables. */
export const checkCommands: readonly Command[] = [
  {
    name: 'validate',
    summary: 'check the module file',
    async run({ config, environment }) {
      const { app, plans, meters, features } = await readSettings(config, environment);
      const result = { app: app.id, plans: plans.map(({ name }) => name), features: Object.keys(features), meters: Object.keys(meters) };
      return {
        lines: [
          `${config} is right: plans ${result.plans.join(', ')}; features ${result.features.join(', ') || 'none'}; meters ${result.meters.join(', ') || 'none'}.`,
        ],
        result,
      };
    },
  },
  {
    name: 'doctor',
    summary: 'check the file, the database and what production needs',
    async run({ config, environment }) {
      const findings = await examined(config, environment);
      const isBad = findings.some(({ state }) => state === 'bad');
      return { lines: findings.map(({ what, state, says }) => `${SIGN[state]} ${what}: ${says}`), result: findings, isBad };
    },
  },
  {
    name: 'migrate',
    summary: 'make or change the tables',
    async run({ config, environment }) {
      const { database } = await readSettings(config, environment);
      const opened = await openDatabase(database);
      try {
        await migrate(opened, true);
      } finally {
        await opened.close();
      }
      return { lines: [`The tables have version ${TABLES_VERSION}.`], result: { version: TABLES_VERSION } };
    },
  },
];

async function examined(config: string, environment: Environment): Promise<readonly Finding[]> {
  const settings = await readSettings(config, environment);
  const good = (what: string, says: string): Finding => ({ what, state: 'good', says });
  const note = (what: string, says: string): Finding => ({ what, state: 'note', says });
  const bad = (what: string, says: string): Finding => ({ what, state: 'bad', says });
  const { development, origin, billing, mail, seed, plans } = settings;
  const unpushed = plans.filter(({ price, payment_price_id }) => price > 0 && !payment_price_id).map(({ name }) => name);
  return [
    good('file', `${config} is right`),
    development ? note('mode', 'development: set NODE_ENV=production on the server that others use') : good('mode', 'production'),
    environment.AUTH_SECRET
      ? good('secret', 'AUTH_SECRET is set')
      : note('secret', 'AUTH_SECRET is not set: everybody is signed out at each start'),
    origin.startsWith('https:') || development
      ? good('address', origin)
      : bad('address', `${origin} is no https address, so cookies travel in clear; set AUTH_URL`),
    await databaseFinding(settings.database),
    mail.transport === 'console'
      ? note('mail', 'mails go to the console; set auth.email.transport to smtp')
      : good('mail', `${mail.smtp?.host}:${mail.smtp?.port}`),
    billing.provider === 'none'
      ? note('billing', 'nothing is sold, so nobody is limited')
      : billing.webhookSecrets.length === 0
        ? bad('billing', 'PAYMENT_WEBHOOK_SECRET is not set, so no event of the processor is believed')
        : unpushed.length > 0
          ? bad('billing', `${unpushed.join(', ')} have no price at the processor; run "quern accounts plans push"`)
          : good('billing', 'each plan has a price'),
    ...(seed.admin && !development
      ? [note('admin', 'seed.admin.password stands in the file; take it from the environment, as ${ADMIN_PASSWORD}')]
      : []),
  ];
}

async function databaseFinding(settings: Parameters<typeof openDatabase>[0]): Promise<Finding> {
  const what = 'database';
  try {
    const database = await openDatabase(settings);
    try {
      const version = await tablesVersion(database);
      if (version === TABLES_VERSION) return { what, state: 'good', says: `${settings.adapter}, tables of version ${version}` };
      if (version > TABLES_VERSION) return { what, state: 'bad', says: `its tables are of a newer program (${version}); update this one` };
      return {
        what,
        state: settings.autoMigrate ? 'note' : 'bad',
        says: `tables of version ${version}; ${settings.autoMigrate ? 'the next start brings' : '"quern accounts migrate" brings'} them to ${TABLES_VERSION}`,
      };
    } finally {
      await database.close();
    }
  } catch (error) {
    return { what, state: 'bad', says: `${settings.adapter} does not answer: ${(error as Error).message}; look at database.url` };
  }
}
