import type { Settings } from './config/settings.js';
import type { Database } from './database/database.js';

/** What every part of the library stands on. */
export interface Ground {
  readonly settings: Settings;
  readonly database: Database;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Takes a line for the server's log. */
  readonly print: (line: string) => void;
}
