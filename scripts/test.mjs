// `npm test`: brings the build up to date, then runs the test suites, cheapest first, and ends with a line per suite, the files
// that took longest and the tests that failed. Arguments pick suites by folder name.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, root } from './steps.mjs';

/** The suites, and how many files of each run beside each other: more where they wait for children, timers and disks, than where they compute. */
const SUITES = { tidy: 1, unit: 3, conformance: 3, api: 4, accounts: 4, native: 2, e2e: 3 };
/** Files that run one at a time: one measures how long others wait, the other asks as much as it can in a given time. */
const ALONE = /e2e[\\/](?:huge-prompts|openapi)\.test\.js$/;
/** The longest files take a minute and a half on an idle machine. */
const LIMIT_MS = 400_000;
/** The number of the slowest files that are named at the end. */
const SLOWEST = 10;

await build();
const picked = process.argv.slice(2);
const testFiles = (folder) =>
  readdirSync(join(root, 'build/test', folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.js'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
const failedTests = join(root, 'build/failed-tests.txt');
const fileTimes = join(root, 'build/file-times.txt');
const summary = [];
const times = [];
/** Runs a program of one suite to its end, and keeps a line on how it ended. */
const run = (suite, args) => {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  summary.push({ suite, passed: status === 0, seconds: Math.round((performance.now() - start) / 1000) });
  return status === 0;
};
let failures = '';
for (const [suite, beside] of Object.entries(SUITES).filter(([name]) => picked.length === 0 || picked.includes(name))) {
  process.stderr.write(`quern: testing ${suite}\n`);
  const files = suite === 'tidy' ? [join(root, 'build/test/tidy.test.js')] : testFiles(suite);
  for (const [name, some, count] of [
    [suite, files.filter((file) => !ALONE.test(file)), beside],
    [`${suite}, one at a time`, files.filter((file) => ALONE.test(file)), 1],
  ]) {
    if (some.length === 0) continue;
    const passed = run(name, [
      '--enable-source-maps',
      '--test',
      `--test-concurrency=${count}`,
      `--test-timeout=${LIMIT_MS}`,
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./scripts/failed-tests.mjs',
      `--test-reporter-destination=${failedTests}`,
      '--test-reporter=./scripts/file-times.mjs',
      `--test-reporter-destination=${fileTimes}`,
      ...some,
    ]);
    if (!passed) failures += readFileSync(failedTests, 'utf8');
    times.push(
      ...readFileSync(fileTimes, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')),
    );
  }
  if (suite === 'tidy')
    run('types of the web interface', ['web/node_modules/svelte-check/bin/svelte-check', '--workspace', 'web', '--fail-on-warnings']);
}
if ((picked.length === 0 || picked.includes('native')) && summary.every(({ passed }) => passed)) run('C++', ['scripts/native-tests.mjs']);
const slowest = times.sort(([one], [other]) => other - one).slice(0, SLOWEST);
process.stderr.write(
  [
    '\n',
    ...summary.map(({ suite, passed, seconds }) => `quern: ${suite} ${passed ? 'passed' : 'FAILED'} in ${seconds} s\n`),
    'quern: the slowest files are\n',
    ...slowest.map(([seconds, file]) => `quern: ${seconds.padStart(6)} s ${relative(join(root, 'build/test'), file)}\n`),
    failures,
  ].join(''),
);
process.exitCode = summary.every(({ passed }) => passed) ? 0 : 1;
