import { cpus } from 'node:os';
import { benchChat } from './chat.js';
import { benchHttp } from './http.js';
import { benchLoop } from './loop.js';
import { benchStart } from './start.js';
import { benchTurns } from './turns.js';

const PARTS: Record<string, () => Promise<void>> = {
  start: benchStart,
  http: benchHttp,
  loop: benchLoop,
  turns: benchTurns,
  chat: benchChat,
};

// Every program under measurement is killed with this process.
process.setMaxListeners(100);

const picked = process.argv.slice(2);
process.stdout.write(`${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}\n`);
for (const [name, run] of Object.entries(PARTS)) if (picked.length === 0 || picked.includes(name)) await run();
process.exit(0);
