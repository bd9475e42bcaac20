// Run as a child process with a state folder: reads every record, and exits with 0 only when all of them decode.
import { unpack } from 'msgpackr';
import { openEnvironment } from './environment.js';
import { TABLE_NAMES } from './tables.js';

const environment = openEnvironment(process.argv[2] ?? '');
for (const name of TABLE_NAMES) {
  for (const { value } of environment.tables[name].getRange({})) unpack(value);
}
await environment.close();
