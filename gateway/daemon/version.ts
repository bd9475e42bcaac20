import { readFileSync } from 'node:fs';

/** The version in package.json: the one place where it is kept. The compiled file lies in `build/gateway/daemon`, three folders below it. */
export const VERSION: string = (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string })
  .version;
