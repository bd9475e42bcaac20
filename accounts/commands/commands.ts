import { checkCommands } from './check.js';
import type { Command } from './command.js';
import { initCommand } from './init.js';
import { peopleCommands } from './people.js';
import { planCommands } from './plans.js';

/** The commands behind `quern accounts`. */
export const COMMANDS: readonly Command[] = [initCommand, ...checkCommands, ...planCommands, ...peopleCommands];
