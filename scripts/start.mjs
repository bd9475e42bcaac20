// `npm start`: brings the build up to date, then runs the daemon in this process.
import { build } from './steps.mjs';

await build();
await import('../build/bundle/main.js');
