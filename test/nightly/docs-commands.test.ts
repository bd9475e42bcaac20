import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freePort } from '../support/ports.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** Pages that begin at the beginning. */
const FIRST_PAGES = ['docs/tour.md', ...readdirSync(join(ROOT, 'docs/jobs')).map((name) => `docs/jobs/${name}`)];
/** Pages whose reader has a daemon and the command `quern` already. */
const LATER_PAGES = ['docs/events.md', 'docs/examples.md', 'docs/help.md', 'docs/memory.md', 'docs/troubleshooting.md'];
const READERS_SHELL = 'quern() { node build/bundle/main.js "$@"; }\nquern projects';
const KIT = join(ROOT, 'build/speech-kit');
const HAS_EARS = existsSync(join(KIT, 'models--Systran--faster-whisper-tiny.en'));
const LIMIT_MS = 180_000;

/** A fenced `sh` block of a page, and the lines of the `text` block behind it: what its output holds. */
interface Block {
  readonly words: readonly string[];
  readonly commands: string;
  readonly says: readonly string[];
}

/** Blocks of other languages (`bash` among them: commands that need the network) are left out. */
function blocksOf(page: string): Block[] {
  const fences = [...page.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map(([, language, words, text]) => ({
    language,
    words: words!.trim().split(/\s+/),
    text: text!,
  }));
  return fences.flatMap(({ language, words, text }, index) => {
    const next = fences[index + 1];
    const says = next?.language === 'text' ? next.text.split('\n').filter((line) => line.trim() !== '') : [];
    return language === 'sh' ? [{ words, commands: text, says }] : [];
  });
}

/** `...` stands for anything, and a run of blanks for another. */
const patternOf = (line: string): RegExp =>
  new RegExp(
    line
      .trim()
      .split('...')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ +/g, '\\s+'))
      .join('.*'),
  );

/** The page as one script: as it is written, but for the ports. A `background` block runs until the end, and what follows waits for it. */
function scriptOf(before: string, blocks: readonly Block[], ports: { core: number; runtime: number }): string {
  const steps = blocks.map(({ words, commands }, index) => {
    const ready = `until command curl -s -o /dev/null http://127.0.0.1:${ports.core}/health/liveness && command curl -s -o /dev/null http://127.0.0.1:${ports.runtime}/health; do sleep 0.1; done`;
    const step = words.includes('background') ? `{ ${commands}} & quern_background=$!\n${ready}\n` : commands;
    return `echo "=== ${index}"\n${step}`;
  });
  return [
    'set -euo pipefail',
    // An answer that is an error ends the page; one that is asked for its status does not.
    'curl() { case " $* " in *" -w "*) command curl "$@" ;; *) command curl --fail-with-body "$@"; echo ;; esac; }',
    before,
    ...steps,
  ]
    .join('\n')
    .replaceAll('14345', String(ports.core))
    .replaceAll('11540', String(ports.runtime));
}

/** Runs the script with a home of its own; resolves to its exit code and all that it wrote. */
function run(script: string, ports: { core: number; runtime: number }): Promise<{ code: number | null; output: string }> {
  const home = mkdtempSync(join(tmpdir(), 'quern-docs-'));
  writeFileSync(join(home, 'page.sh'), script);
  const env = {
    ...process.env,
    ...{ HOME: home, PORT: String(ports.core), RUNTIME_PORT: String(ports.runtime), NO_COLOR: '1' },
    ...{ HF_HUB_CACHE: HAS_EARS ? KIT : join(home, 'hub'), HF_HUB_OFFLINE: '1' },
  };
  const child = spawn('bash', [join(home, 'page.sh')], { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const end = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid!, signal);
    } catch {
      // The group has ended.
    }
  };
  const timer = setTimeout(end, LIMIT_MS, 'SIGKILL');
  child.on('exit', () => end('SIGTERM'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) =>
    child.on('close', (code) => {
      clearTimeout(timer);
      // A daemon that a command started outlives the page.
      spawnSync(process.execPath, ['build/bundle/main.js', 'stop'], { cwd: ROOT, env });
      rmSync(home, { recursive: true, force: true });
      resolve({ code, output });
    }),
  );
}

describe('the commands of the manual', { concurrency: 2 }, () => {
  for (const page of [...FIRST_PAGES, ...LATER_PAGES])
    it(`${page}: run as they are written, and say what the page shows`, async () => {
      const all = blocksOf(readFileSync(join(ROOT, page), 'utf8'));
      const blocks = all.filter(({ words }) => HAS_EARS || !words.includes('needs=whisper'));
      assert.ok(blocks.length > 0, 'there is a block of commands');
      const ports = { core: await freePort(), runtime: await freePort() };
      const { code, output } = await run(scriptOf(LATER_PAGES.includes(page) ? READERS_SHELL : '', blocks, ports), ports);
      assert.equal(code, 0, output);
      const parts = output.split(/^=== \d+$/m).slice(1);
      for (const [index, { says }] of blocks.entries())
        for (const line of says) assert.match(parts[index]!, patternOf(line), `block ${index + 1} of ${page}`);
    });
});
