// `npm test`: brings the build up to date, then runs the test suites, cheapest first, and ends with a line per suite and the
// tests that failed. Arguments pick suites by folder name.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './steps.mjs';

const SUITES = ['tidy', 'unit', 'conformance', 'api', 'accounts', 'native', 'e2e'];
/** Files of one suite that run beside each other; two cores, and e2e tests start whole daemons. */
const BESIDE = { e2e: 1, native: 1, conformance: 1, accounts: 1 };

await build();
const picked = process.argv.slice(2);
const testFiles = (folder) =>
  readdirSync(join(root, 'build/test', folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
const failedTests = join(root, 'build/failed-tests.txt');
const summary = [];
/** Runs a program of one suite to its end, and keeps a line on how it ended. */
const run = (suite, args) => {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  summary.push({ suite, passed: status === 0, seconds: Math.round((performance.now() - start) / 1000) });
  return status === 0;
};
let failures = '';
for (const suite of SUITES.filter((name) => picked.length === 0 || picked.includes(name))) {
  process.stderr.write(`quern: testing ${suite}\n`);
  const files = suite === 'tidy' ? [join(root, 'build/test/tidy.test.js')] : testFiles(suite);
  if (files.length === 0) continue;
  const passed = run(suite, [
    '--enable-source-maps',
    '--test',
    `--test-concurrency=${BESIDE[suite] ?? 2}`,
    '--test-timeout=240000',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/failed-tests.mjs',
    `--test-reporter-destination=${failedTests}`,
    ...files,
  ]);
  if (!passed) failures += readFileSync(failedTests, 'utf8');
}
if ((picked.length === 0 || picked.includes('native')) && summary.every(({ passed }) => passed)) run('C++', ['scripts/native-tests.mjs']);
process.stderr.write(
  `\n${summary.map(({ suite, passed, seconds }) => `quern: ${suite} ${passed ? 'passed' : 'FAILED'} in ${seconds} s\n`).join('')}${failures}`,
);
process.exitCode = summary.every(({ passed }) => passed) ? 0 : 1;
