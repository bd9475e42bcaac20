// Runs test files in processes, some beside each other.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './steps.mjs';

/**
 * Runs jobs in their order, `beside` at a time in all and `most[suite]` at a time of one suite: those of a suite that is at its number are
 * passed over until one of it ends. Resolves when all have ended.
 */
export async function runJobs(jobs, beside, most = {}) {
  const waiting = [...jobs];
  const running = new Map();
  const isFree = ({ suite }) => [...running.values()].filter((other) => other === suite).length < (most[suite] ?? beside);
  while (waiting.length + running.size > 0) {
    const at = running.size < beside ? waiting.findIndex(isFree) : -1;
    if (at < 0) {
      await Promise.race(running.keys());
      continue;
    }
    const [{ suite, run }] = waiting.splice(at, 1);
    const done = run().then(() => running.delete(done));
    running.set(done, suite);
  }
}

/**
 * Runs test files in one process, one after the other, which is killed after `limitMs`. Resolves to a result for each file (see
 * `fileResults`) and what the process wrote.
 */
export async function runFiles(files, limitMs) {
  const folder = mkdtempSync(join(tmpdir(), 'quern-results-'));
  const [notes, results] = ['notes', 'results'].map((name) => join(folder, name));
  const args = [
    '--enable-source-maps',
    '--test-reporter=./scripts/test-results.mjs',
    `--test-reporter-destination=${results}`,
    join(root, 'scripts/test-entry.mjs'),
    notes,
    ...files,
  ];
  const { end, output } = await runNode(args, limitMs);
  const lines = [notes, results].flatMap((path) => (existsSync(path) ? jsonLines(readFileSync(path, 'utf8')) : []));
  rmSync(folder, { recursive: true });
  return { results: fileResults(files, lines, end), output };
}

/** Runs Node with these arguments; resolves to how it ended, '' where that is well, and to what it wrote. */
export function runNode(args, limitMs) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const streams = [child.stdout, child.stderr];
  let output = '';
  for (const stream of streams) stream.setEncoding('utf8').on('data', (text) => (output += text));
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
    // Processes that it started and left may hold its output open.
    for (const stream of streams) stream.destroy();
  }, limitMs);
  const end = (code, signal) =>
    isLate ? `had not ended after ${limitMs / 1000} s` : signal ? `was ended by ${signal}` : code ? `ended with status ${code}` : '';
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ end: error.message, output }));
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      resolve({ end: end(code, signal), output });
    });
  });
}

/** The last line may have been cut off by the end of the process. */
const jsonLines = (text) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** For each file whether it ran to its end, its seconds, its tests that were skipped, and a text for each thing that failed. */
function fileResults(files, lines, end) {
  const results = files.map((file) => {
    const { seconds = 0 } = lines.find(({ timed }) => timed === file) ?? {};
    const result = lines.find(({ ended }) => ended === file);
    const failures = [...(result?.failures ?? [])];
    if (!result) {
      const began = lines.some((line) => line.began === file);
      failures.push(`✖ ${file}: its process ${end || 'ended'} ${began ? 'while this file ran' : 'before this file began'}\n`);
    } else if (!result.passed && failures.length === 0) failures.push(`✖ ${file} failed\n`);
    else if (result.passed && result.tests === 0) failures.push(`✖ ${file} has no tests\n`);
    return { file, isWhole: result !== undefined, seconds, skipped: result?.skipped ?? [], failures };
  });
  // Something failed outside of all tests, perhaps after the last one.
  if (end !== '' && results.every(({ failures }) => failures.length === 0)) {
    results.at(-1).isWhole = false;
    results.at(-1).failures.push(`✖ the process of ${files.join(', ')} ${end}, and none of their tests failed\n`);
  }
  return results;
}
