import { readSettings } from '../config/read.js';
import { openDatabase } from '../database/database.js';
import { migrate, TABLES_VERSION } from '../database/migrate.js';
import type { Command } from './command.js';
import { doctorCommand } from './doctor.js';

/** `validate` reads the file, `doctor` asks all that it names, and `migrate` makes the tables. */
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
  doctorCommand,
  {
    name: 'migrate',
    summary: 'make or change the tables',
    async run({ config, databaseFolder, environment }) {
      const { database } = await readSettings(config, environment, databaseFolder);
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
