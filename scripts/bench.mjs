// `npm run bench`: brings the build up to date, then measures; arguments pick parts (start http loop turns chat vectors text retrieval ingest quality).
import { build } from './steps.mjs';

await build();
await import('../build/bench/main.js');
