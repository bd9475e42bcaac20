// `npm test`: brings the build up to date, then runs the test suites, cheapest first, and ends with a line per suite and the
// tests that failed. Arguments pick suites by folder name.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './steps.mjs';

const SUITES = ['tidy', 'unit', 'conformance', 'api', 'accounts', 'native', 'e2e'];
/** Suites whose files run one at a time; of the others two run beside each other. */
const ONE_AT_A_TIME = new Set(['native']);
/** Files that do so too: they measure how long others are held up, or keep all cores busy by themselves. */
const ALONE = /e2e[\\/](?:huge-prompts|loop|openapi)\.test\.js$/;

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
  const isAlone = (file) => ONE_AT_A_TIME.has(suite) || ALONE.test(file);
  for (const [name, some, beside] of [
    [suite, files.filter((file) => !isAlone(file)), 2],
    [files.every(isAlone) ? suite : `${suite}, one at a time`, files.filter(isAlone), 1],
  ]) {
    if (some.length === 0) continue;
    const passed = run(name, [
      '--enable-source-maps',
      '--test',
      `--test-concurrency=${beside}`,
      '--test-timeout=240000',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./scripts/failed-tests.mjs',
      `--test-reporter-destination=${failedTests}`,
      ...some,
    ]);
    if (!passed) failures += readFileSync(failedTests, 'utf8');
  }
  if (suite === 'tidy')
    run('types of the web interface', ['web/node_modules/svelte-check/bin/svelte-check', '--workspace', 'web', '--fail-on-warnings']);
}
if ((picked.length === 0 || picked.includes('native')) && summary.every(({ passed }) => passed)) run('C++', ['scripts/native-tests.mjs']);
process.stderr.write(
  `\n${summary.map(({ suite, passed, seconds }) => `quern: ${suite} ${passed ? 'passed' : 'FAILED'} in ${seconds} s\n`).join('')}${failures}`,
);
process.exitCode = summary.every(({ passed }) => passed) ? 0 : 1;
