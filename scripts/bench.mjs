// `npm run bench`: brings the build up to date, then measures; arguments pick parts (`bench/main.ts` lists them).
import { build } from './steps.mjs';

await build();
await import('../build/bench/main.js');
