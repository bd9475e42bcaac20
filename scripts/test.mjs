// `npm test`: brings the build up to date, then runs the test suites beside each other, and ends with a line per suite, the files that took
// longest and the tests that failed. A file that failed beside others and passes when it runs again alone is reported as unsteady. Arguments pick
// suites by folder name.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { build, root } from './steps.mjs';
import { runFiles, runJobs, runNode } from './test-run.mjs';

/** How many processes of tests run beside each other: two cores are busy then, though some wait for children, timers and disks. */
const BESIDE = 4;
/** The suites in their order, and how many processes of each may run beside each other: fewer where each has children that compute. */
const SUITES = { tidy: 1, types: 1, e2e: 2, accounts: 4, conformance: 3, api: 4, native: 2, unit: 4 };
/** Files that run when all others have ended, two at a time: they wait for trainings in the background, which get only a core that is idle. */
const WHILE_IDLE = [
  'api/stream-cases',
  'e2e/tables',
  'unit/runtime/ml/streams/clock',
  'unit/runtime/ml/streams/failed-trainings',
  'unit/runtime/ml/streams/keeping',
  'unit/runtime/ml/streams/states',
];
/** Files that run last, one at a time: one measures how long others wait, the other asks as much as it can in a given time. */
const ALONE = ['e2e/huge-prompts', 'e2e/openapi'];
/** What begins first: what is cheap and says much, then the files of more than 20 s on an idle machine, so that none is left when all others have ended. */
const FIRST = [
  'tidy',
  'types',
  'e2e/loop',
  'accounts/databases',
  'e2e/voice',
  'conformance/extra-body',
  'conformance/onnx-encoders',
  'unit/runtime/documents/parsing/parsing',
  'e2e/canaries',
  'conformance/engines',
  'e2e/retrieval',
  'conformance/audio-formats',
  'unit/runtime/engines/language/templates/template',
  'e2e/web/chat',
  'e2e/leftovers',
  'e2e/daemon',
  'e2e/speech',
  'e2e/pull',
  'conformance/examples',
];
/** No process of tests may run for longer; the longest file takes less than four minutes on an idle machine. */
const LIMIT_MS = 600_000;
/** Nor may the build of the C++ tests. */
const PROGRAM_LIMIT_MS = 1_200_000;
/** Where more files than this failed, none runs again: something is broken. */
const MOST_AGAIN = 3;
/** The number of the slowest files that are named at the end. */
const SLOWEST = 10;

/** How many short files of a suite run in one process, one after the other: each process costs a tenth of a second, and loads the same modules again. */
const TOGETHER = { unit: 12 };
/** What a test file changes or measures for its whole process: it gets one of its own. */
const OWN_PROCESS =
  /process\.(env|on|once|chdir|exit|memoryUsage|cpuUsage|resourceUsage)|mock\.(method|timers)|setFlagsFromString|globalThis|\/proc\/|support\/(idle-threads|longest-turn|loop-holds|processor-time)/;

await build();
for (const name of [...FIRST, ...WHILE_IDLE, ...ALONE])
  if (name !== 'types' && !existsSync(join(root, 'test', `${name}.test.ts`)))
    throw new Error(
      `scripts/test.mjs says when ${name} runs, but there is no test/${name}.test.ts: give its new name there, or take it out.`,
    );
const picked = process.argv.slice(2);
const isPicked = (suite) => picked.length === 0 || picked.includes(suite === 'types' ? 'tidy' : suite);
const folder = join(root, 'build/test');
/** The name of a test file: its path below test/, without what it ends with. */
const nameOf = (file) => relative(folder, file).replace('.test.js', '').split(sep).join('/');

/** The test files of each process of a suite. */
function processesOf(suite) {
  if (suite === 'tidy') return [[join(folder, 'tidy.test.js')]];
  const processes = [];
  let together = [];
  // By the sources: what is compiled may be left from a test that is gone.
  for (const path of readdirSync(join(root, 'test', suite), { recursive: true }).sort()) {
    if (!path.endsWith('.test.ts')) continue;
    const file = join(folder, suite, path.replace(/ts$/, 'js'));
    if (!TOGETHER[suite] || [...FIRST, ...WHILE_IDLE].includes(nameOf(file)) || OWN_PROCESS.test(readFileSync(file, 'utf8'))) {
      processes.push([file]);
      continue;
    }
    if (together.push(file) === 1) processes.push(together);
    if (together.length === TOGETHER[suite]) together = [];
  }
  return processes;
}

const results = [];
/** Runs the test files of a process, and writes how each ended, and what they wrote where one failed. */
async function runTests(suite, files) {
  const { results: some, output } = await runFiles(files, LIMIT_MS);
  for (const { file, isWhole, seconds, skipped, failures } of some) {
    const name = nameOf(file);
    results.push({ suite, name, file, isWhole, seconds, failures });
    process.stdout.write(`${failures.length === 0 ? '✔' : '✖'} ${name} ${seconds.toFixed(1)} s\n`);
    for (const test of skipped) process.stdout.write(`  skipped: ${test}\n`);
  }
  const failures = some.flatMap((result) => result.failures);
  if (failures.length > 0) process.stdout.write([...failures, output, '\n'].join(''));
}
/** Runs a program that tests. */
async function runProgram(suite, args) {
  const start = performance.now();
  const { end, output } = await runNode(args, PROGRAM_LIMIT_MS);
  process.stdout.write(output);
  const failures = end === '' ? [] : [`✖ ${suite}: ${args[0]} ${end}\n`];
  results.push({ suite, name: suite, seconds: (performance.now() - start) / 1000, failures });
}
const failed = () => results.filter(({ failures }) => failures.length > 0);
/** Runs the files whose tests failed once more, each alone; returns the first results of those that pass now. A process that died is no such file. */
async function runAgain() {
  const first = failed();
  if (first.length > MOST_AGAIN || !first.every(({ isWhole }) => isWhole)) return [];
  const unsteady = [];
  for (const result of first) {
    results.splice(results.indexOf(result), 1);
    process.stdout.write(`quern: running ${result.name} again, alone\n`);
    await runTests(result.suite, [result.file]);
    if (results.at(-1).failures.length === 0) unsteady.push(result);
  }
  return unsteady;
}

const start = performance.now();
/** The processes that are to run, and the place of each in the order. */
const jobs = Object.keys(SUITES)
  .filter(isPicked)
  .flatMap((suite) => {
    if (suite === 'types')
      return {
        suite,
        name: suite,
        run: () => runProgram(suite, ['web/node_modules/svelte-check/bin/svelte-check', '--workspace', 'web', '--fail-on-warnings']),
      };
    return processesOf(suite).map((files) => ({ suite, name: nameOf(files[0]), run: () => runTests(suite, files) }));
  });
const place = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
const among = (names) => jobs.filter(({ name }) => names.includes(name));
const others = jobs.filter(({ name }) => !WHILE_IDLE.includes(name) && !ALONE.includes(name));
await runJobs(
  others.sort((one, other) => place(one) - place(other)),
  BESIDE,
  SUITES,
);
await runJobs(among(WHILE_IDLE), 2);
await runJobs(among(ALONE), 1);
const unsteady = await runAgain();
if (isPicked('native') && failed().length === 0) await runProgram('C++', ['scripts/native-tests.mjs']);

for (const suite of new Set(results.map((result) => result.suite))) {
  const some = results.filter((result) => result.suite === suite);
  const isFailed = failed().some((result) => result.suite === suite);
  const seconds = some.reduce((sum, result) => sum + result.seconds, 0);
  process.stderr.write(`quern: ${suite} ${isFailed ? 'FAILED' : 'passed'}: ${some.length} files in ${Math.round(seconds)} s\n`);
}
process.stderr.write(
  `quern: all of it in ${Math.round((performance.now() - start) / 1000)} s, ${BESIDE} processes beside each other; the slowest files are\n`,
);
for (const { name, seconds } of results.sort((one, other) => other.seconds - one.seconds).slice(0, SLOWEST))
  process.stderr.write(`quern: ${seconds.toFixed(1).padStart(6)} s ${name}\n`);
for (const { name, failures } of unsteady)
  process.stderr.write(
    `quern: UNSTEADY: ${name} failed beside others and passed alone. Find out why, as of every failure:\n${failures.join('')}`,
  );
process.stderr.write(results.flatMap(({ failures }) => failures).join(''));
process.exitCode = failed().length === 0 ? 0 : 1;
