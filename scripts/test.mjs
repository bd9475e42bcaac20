// `npm test`: brings the build up to date, then runs the test suites, cheapest first. Arguments pick suites by folder name.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './steps.mjs';

const SUITES = ['tidy', 'unit', 'conformance', 'api', 'native', 'e2e'];
/** Files of one suite that run beside each other; two cores, and e2e tests start whole daemons. */
const BESIDE = { e2e: 1, native: 1, conformance: 1 };

await build();
const picked = process.argv.slice(2);
const testFiles = (folder) =>
  readdirSync(join(root, 'build/test', folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
let failed = false;
for (const suite of SUITES.filter((name) => picked.length === 0 || picked.includes(name))) {
  process.stderr.write(`quern: testing ${suite}\n`);
  const files = suite === 'tidy' ? [join(root, 'build/test/tidy.test.js')] : testFiles(suite);
  if (files.length === 0) continue;
  const { status } = spawnSync(
    process.execPath,
    [
      '--enable-source-maps',
      '--test',
      `--test-concurrency=${BESIDE[suite] ?? 2}`,
      '--test-timeout=240000',
      '--test-reporter=spec',
      ...files,
    ],
    { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  failed ||= status !== 0;
}
if ((picked.length === 0 || picked.includes('native')) && !failed) {
  const { status } = spawnSync(process.execPath, ['scripts/native-tests.mjs'], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  failed ||= status !== 0;
}
process.exit(failed ? 1 : 0);
