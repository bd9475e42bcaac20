import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ranProgram } from '../support/command-line.js';
import { type DaemonUnderTest, emptyDataDir, MAIN, runToEnd, startDaemon } from '../support/daemon.js';
import { freePort } from '../support/ports.js';

const TABLE = [
  'text,label',
  ...['good film', 'great fun', 'very nice', 'lovely'].map((text) => `${text},pos`),
  ...['bad film', 'awful', 'very poor', 'terrible'].map((text) => `${text},neg`),
].join('\n');
const NUMBERS = ['a,b', ...Array.from({ length: 60 }, (_, at) => `${at},${at * 2}`), '30,900'].join('\n');

describe('the command line and a daemon', () => {
  const folder = emptyDataDir();
  const path = (name: string): string => join(folder, name);
  let daemon: DaemonUnderTest;
  let where: string[] = [];
  const quern = (args: string[], input = '') => ranProgram([...args, ...where], { input });
  /** Runs a command twice: what people see must fit, and what programs read is returned. */
  const both = async (args: string[], says: RegExp, input = ''): Promise<Record<string, unknown>> => {
    const seen = await quern(args, input);
    assert.deepEqual([seen.code, seen.stderr], [0, ''], `${args.join(' ')}: ${seen.stdout}${seen.stderr}`);
    assert.match(seen.stdout, says, args.join(' '));
    const read = await quern([...args, '--json'], input);
    assert.deepEqual([read.code, read.stderr], [0, ''], `${args.join(' ')} --json: ${read.stdout}${read.stderr}`);
    return JSON.parse(read.stdout) as Record<string, unknown>;
  };
  before(async () => {
    mkdirSync(path('docs/deep'), { recursive: true });
    writeFileSync(path('docs/lighthouse.txt'), 'The lighthouse of Arnholm was built in 1874 by Clara Voss.');
    writeFileSync(path('docs/deep/ferry.md'), 'The ferry leaves at nine and at noon.');
    writeFileSync(path('docs/.hidden'), 'not this');
    writeFileSync(path('films.csv'), TABLE);
    writeFileSync(path('numbers.csv'), NUMBERS);
    daemon = await startDaemon();
    const port = (url: string): string => new URL(url).port;
    where = ['--port', port(daemon.core), '--runtime-port', port(daemon.runtime), '--data-dir', daemon.dataDir];
  });
  after(() => daemon.end());

  it('asks how it is', async () => {
    const status = await both(['status'], /answers at http.*[\s\S]*^healthy +server/m);
    assert.equal((status.health as { status: string }).status, 'healthy');
    const findings = (await both(['doctor'], /^ok +daemon +\S+ answers at/m)) as unknown as { about: string }[];
    for (const about of ['Node.js', 'processor', 'memory', 'disk', 'data', 'compiler'])
      assert.ok(
        findings.some((one) => one.about === about),
        about,
      );
  });

  it('talks with models and projects', async () => {
    const answer = await both(['run', 'quern-tiny', 'Say', 'hello', '--temperature', '0'], /\w/);
    assert.ok(Number(answer.completion_tokens) > 0 && String(answer.answer).length > 0, JSON.stringify(answer));
    assert.match((await quern(['run', 'quern-tiny', '-v'], 'Say hello')).stdout, /tokens read, \d+ written/);
    await both(['chat', 'Hello'], /\w/);
    const inMemory = await both(['ps'], /^quern-tiny +language +cpu[\s\S]*^built in: quern-tiny, /m);
    assert.deepEqual([inMemory.fetching, (inMemory.built_in as { name: string }[])[0]?.name], [[], 'quern-tiny']);
    await both(['show', 'quern-tiny'], /tools +true/);
    const bench = await both(['bench', '--rounds', '1'], /quern-tiny +\d+ tokens\/s +[\d.]+ tokens\/s/);
    assert.ok(Number(bench.written_tokens_per_s) > 0);
    await both(['cp', 'quern-tiny', 'lab/second'], /^lab\/second is quern-tiny too$/m);
    assert.deepEqual([(await quern(['cp', 'no/such', 'third'])).code, (await quern(['cp', 'quern-tiny', 'quern-tiny'])).code], [3, 1]);
    const models = (await both(
      ['list'],
      /^lab\/second +gguf +0B +made of quern-tiny[\s\S]*^quern-tiny +gguf +\S+ +built in/m,
    )) as unknown as object[];
    assert.ok(models.length >= 2);
    await both(['run', 'lab/second', 'Say', 'hello', '--max-tokens', '4'], /\w/);
    assert.match((await quern(['stop', 'lab/second'])).stdout, /^lab\/second leaves the memory$/m);
    assert.match((await quern(['ps'])).stdout, /no model is in memory/);
    assert.deepEqual([(await quern(['stop', 'quern-tiny', '--json'])).code, (await quern(['status'])).code], [3, 0]);
    const unknown = await quern(['run', 'no/such', 'hi']);
    assert.deepEqual([unknown.code, unknown.stdout], [3, ''], unknown.stderr);
    assert.match(unknown.stderr, /quern pull no\/such/);
  });

  it('converses at a terminal', async () => {
    const said = [
      '/help',
      '/set temperature 0',
      '"""Say',
      'hello"""',
      '/show',
      `/save ${path('talk.md')}`,
      `/save ${path('there.md')}`,
      `/save! ${path('over.md')}`,
      '/dance',
      '/bye',
    ];
    for (const name of ['there.md', 'over.md']) writeFileSync(path(name), 'mine');
    const { code, stdout } = await ranProgram(['run', 'quern-tiny', ...where], { input: `${said.join('\n')}\n`, isTerminal: true });
    assert.equal(code, 0);
    for (const says of [/\/system TEXT/, /quern-tiny \{"temperature":0\}/, /there is no command \/dance/]) assert.match(stdout, says);
    assert.deepEqual(
      [readFileSync(path('there.md'), 'utf8'), readFileSync(path('over.md'), 'utf8')],
      ['mine', readFileSync(path('talk.md'), 'utf8')],
    );
    assert.match(readFileSync(path('talk.md'), 'utf8'), /^\*\*user\*\*\n\nSay\nhello\n\n\*\*assistant\*\*\n\n\S/);
  });

  it('keeps documents and asks them', async () => {
    await both(['projects'], /^default\/quickstart/m);
    assert.equal((await quern(['projects', 'create', 'lab/notes'])).code, 0);
    await both(['projects', 'lab'], /lab\/notes/);
    const at = ['-p', 'lab/notes'];
    assert.equal((await quern(['datasets', 'create', 'docs', ...at])).code, 0);
    const added = await quern(['datasets', 'add', 'docs', path('docs'), ...at]);
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /ferry\.md +\w+ +1 +MarkdownParser[\s\S]*2 of 2 files are new in docs/);
    assert.match((await quern(['datasets', 'add', 'docs', path('docs/lighthouse.txt'), ...at])).stdout, /known[\s\S]*0 of 1 files are new/);
    const taken = [await quern(['datasets', 'create', 'docs', ...at]), await quern(['projects', 'create', 'lab/notes'])];
    assert.deepEqual(
      taken.map(({ code }) => code),
      [1, 1],
    );
    await both(['datasets', ...at], /^docs +2 /m);
    await both(['query', 'Who built the lighthouse?', '--top', '1', ...at], /lighthouse\.txt[\s\S]*Clara Voss/);
    const events = (await both(['events', ...at, '-n', '5'], /dataset_ingestion +completed/)) as unknown as {
      events: { event_id: string }[];
    };
    await both(['events', 'show', events.events[0]!.event_id, ...at], /evt_/);
    for (const side of ['x', 'y']) {
      mkdirSync(path(`two/${side}`), { recursive: true });
      writeFileSync(path(`two/${side}/README.md`), `Text of ${side}.`);
    }
    assert.match((await quern(['datasets', 'add', 'docs', path('two'), ...at])).stdout, /2 of 2 files are new/);
    await both(['datasets', ...at], /^docs +4 /m);
    assert.equal((await quern(['datasets', 'add', 'docs', path('none'), ...at])).code, 3);
    assert.equal((await quern(['datasets', 'add', 'none', path('docs'), ...at])).code, 3);
    assert.equal((await quern(['datasets', 'rm', 'docs', ...at])).code, 0);
    assert.equal((await quern(['projects', 'rm', 'lab/notes'])).code, 0);
    assert.equal((await quern(['datasets', ...at])).code, 3);
  });

  it('compares settings with a file', async () => {
    const file = path('project.yaml');
    writeFileSync(file, readFileSync(join(daemon.dataDir, 'projects/default/quickstart/project.yaml')));
    await both(['config', 'diff', file], /both say the same/);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^version: .*/m, 'version: v2'));
    const different = await quern(['config', 'diff', file]);
    assert.deepEqual([different.code, different.stdout], [1, 'version\n- "v1"\n+ "v2"\n']);
    assert.deepEqual(JSON.parse((await quern(['config', 'diff', file, '--json'])).stdout), {
      from: 'current',
      to: file,
      differences: [{ path: 'version', from: 'v1', to: 'v2' }],
    });
    await both(['config', 'generations'], /^1 +\S+ +(?:api|file) +project\.yaml +current/m);
    writeFileSync(file, readFileSync(file, 'utf8').replace('version: v2', 'version: v1'));
    const kept = join(daemon.dataDir, 'projects/default/quickstart/project.yaml');
    writeFileSync(kept, `${readFileSync(kept, 'utf8')}events: {max_age_days: 7}\n`);
    await both(['config', 'generations'], /^2 +\S+ +file/m);
    const changed = await quern(['config', 'diff', '1']);
    assert.deepEqual(JSON.parse((await quern(['config', 'diff', '1', '--json'])).stdout), {
      from: 1,
      to: 2,
      differences: [{ path: 'events', to: { max_age_days: 7 } }],
    });
    assert.deepEqual([changed.code, changed.stdout], [1, 'events\n+ {"max_age_days":7}\n']);
    await both(['config', 'try', '1', '--last', '1'], /was {2}[\s\S]*\d of 1 change/);
    await both(['config', 'try', '1', '--question', 'Say hello'], /Say hello\n {2}now {3}\S[\s\S]*then {2}\S[\s\S]*0 of 1 change/);
    const nowhere = await quern(['config', 'try', '1', '--question', 'Say hello', '--database', 'nosuch']);
    assert.deepEqual([nowhere.code, /no database "nosuch"/.test(nowhere.stdout)], [1, true]);
    await quern(['datasets', 'create', 'left']);
    const restored = await quern(['config', 'restore', '1']);
    assert.deepEqual([restored.code, /names no dataset left: files and passages stay/.test(restored.stdout)], [0, true]);
    assert.doesNotMatch(readFileSync(kept, 'utf8'), /max_age_days/);
    assert.equal((await quern(['config', 'restore', '99'])).code, 3);
  });

  it('trains and asks classifiers and detectors', async () => {
    assert.equal((await quern(['classify', 'fit', 'film', path('films.csv')])).code, 0);
    await both(['classify', 'film', 'a lovely film', 'awful'], /^pos .*lovely[\s\S]*^neg .*awful/m);
    await both(['classify', 'film'], /^pos /m, 'lovely\n\n');
    await both(['classify', 'list'], /^film_\d+_\d+ +neg, pos/m);
    assert.match(
      (await quern(['classify', 'fit', 'film', path('numbers.csv')])).stderr,
      /needs the columns "text" and "label" and has a, b/,
    );
    assert.equal((await quern(['anomaly', 'fit', 'pairs', path('numbers.csv')])).code, 0);
    await both(['anomaly', 'score', 'pairs', path('numbers.csv')], /^61 +0\.9/m);
    await both(['anomaly'], /^pairs_/m);
  });

  it('speaks', async () => {
    await both(['voices'], /^af_heart/m);
    await both(['speak', 'Hello there.', '-o', path('hello.mp3')], /hello\.mp3 \(\d+ bytes\)/);
    assert.ok(statSync(path('hello.mp3')).size > 1000);
    const loud = await quern(['speak', '-o', '-', '--format', 'wav'], 'From a pipe.');
    assert.match(loud.stdout, /^RIFF/);
    assert.equal((await quern(['speak', 'x', '-o', path('no/such/folder.wav')])).code, 5);
    assert.match((await quern(['transcribe', path('hello.mp3'), '-m', 'whisper-none'])).stderr, /whisper-none/);
    assert.match((await quern(['transcribe', path('hello.mp3')])).stderr, /quern pull whisper-base/);
  });
});

describe('a daemon that a command starts', () => {
  it('outlives it, says what it does, and is stopped by another', async () => {
    const dataDir = emptyDataDir();
    const env = { PORT: String(await freePort()), RUNTIME_PORT: String(await freePort()), DATA_DIR: dataDir, HOME: dataDir };
    const none = await runToEnd(['projects', '--no-start'], env);
    assert.equal(none.code, 5, none.output);
    const first = await runToEnd(['projects'], env);
    assert.equal(first.code, 0, first.output);
    assert.match(first.output, /started the daemon \(process \d+\)[\s\S]*default\/quickstart/);
    const second = await runToEnd(['projects'], env);
    assert.doesNotMatch(second.output, /started the daemon/);
    assert.match((await runToEnd(['logs'], env)).output, /Quern .*ready in/);
    assert.equal(statSync(join(dataDir, 'logs', 'quern.log')).mode & 0o777, 0o600);
    const stopped = await runToEnd(['stop'], env);
    assert.match(stopped.output, /has ended/);
    assert.equal(existsSync(join(dataDir, 'quern.lock')), false);
    assert.equal((await runToEnd(['stop'], env)).code, 5);
  });

  it('says that its output cannot be written', { skip: !existsSync('/dev/full') }, async () => {
    const child = spawn('sh', ['-c', `${process.execPath} ${MAIN} help > /dev/full`], { env: { ...process.env, HOME: emptyDataDir() } });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const code = await new Promise((resolve) => child.on('close', resolve));
    assert.equal(code, 1);
    assert.match(said, /^quern: the output cannot be written: ENOSPC.*\n$/);
  });

  it('is asked once by a pipe that ends early', async () => {
    const dataDir = emptyDataDir();
    const child = spawn('sh', ['-c', `${process.execPath} ${MAIN} help | head -1`], { env: { ...process.env, HOME: dataDir } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await new Promise((resolve) => child.on('close', resolve));
    assert.equal(output, 'quern: a local AI runtime in one daemon.\n');
  });
});
