// Run as a child process with a state folder: reads every record. What it finds is its exit code.
import { decoded } from './codec.js';
import { openEnvironment } from './environment.js';
import { WALK_DAMAGED, WALK_SOUND } from './integrity.js';
import { TABLE_NAMES } from './tables.js';

try {
  const environment = openEnvironment(process.argv[2] ?? '');
  for (const name of TABLE_NAMES) {
    for (const { value } of environment.tables[name].getRange({})) decoded(value);
  }
  await environment.close();
  process.exitCode = WALK_SOUND;
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  const { code } = error as { code?: unknown };
  // Positive numbers are the system's (no permission, no memory): they say nothing about the file, and opening it will report them.
  process.exitCode = typeof code === 'number' && code > 0 ? WALK_SOUND : WALK_DAMAGED;
}
