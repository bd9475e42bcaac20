import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { contentOf } from '../../../cli/chat/attachments.js';
import { Composer } from '../../../cli/chat/repl.js';
import { route } from '../../../cli/daemon/client.js';
import { readRows } from '../../../cli/ml/table-file.js';
import { wrapped } from '../../../cli/output.js';
import { differencesOf } from '../../../runtime/config/problems.js';
import { ranProgram } from '../../support/command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('a command line', () => {
  it('that is wrong says why, with status 2', async () => {
    for (const [line, says] of [
      ['dance', /^quern: unknown command "dance": use start, .*help\.$/m],
      ['mcp dance', /unknown command "mcp dance": use list, .*serve/],
      ['datsets', /unknown command "datsets": did you mean "datasets"\?/],
      ['lst', /did you mean "list"\?/],
      ['datasets crate docs', /unknown command "datasets crate": did you mean "datasets create"\?/],
      ['config', /unknown command "config": use validate, diff, generations, try, restore/],
      ['datasets dance', /unknown command "datasets dance"|"dance" is too much: use quern datasets/],
      ['run', /something is missing: use quern run MODEL \[QUESTION \.\.\.\]/],
      ['rm a b', /"b" is too much: use quern rm MODEL/],
      ['query x --no-such', /there is no flag "--no-such"\. Run "quern query --help"/],
      ['query x --jsn', /there is no flag "--jsn"; did you mean --json\? Run/],
      ['query x --top', /--top needs a value/],
      ['query x --json=1', /--json takes no value/],
      ['query x --top many', /--top must be a number, not "many"/],
      ['query x --port http', /--port must be a port/],
      ['query x -p a/b/c', /"a\/b\/c" names no project: write NAMESPACE\/NAME/],
      ['completion dash', /there is no script for "dash": use bash, zsh, fish/],
      ['run quern-tiny', /there is nothing to answer/],
    ] as const) {
      const { code, stderr, stdout } = await ranProgram(line.split(' '));
      assert.deepEqual([code, stdout], [2, ''], `${line}: ${stderr}`);
      assert.match(stderr, says, line);
    }
  });

  it('without a daemon says so with status 5, as JSON where it is asked for', async () => {
    for (const line of ['ps', 'status', 'projects --no-start', 'run quern-tiny hello --no-start']) {
      const { code, stderr } = await ranProgram([...line.split(' '), '--port', '1', '--runtime-port', '1']);
      assert.equal(code, 5, line);
      assert.match(stderr, /no daemon answers at http:\/\/127\.0\.0\.1:1: run "quern start" first/, line);
    }
    const { code, stdout, stderr } = await ranProgram(['ps', '--json', '--port', '1', '--runtime-port', '1']);
    assert.deepEqual([code, stdout, JSON.parse(stderr).error.kind], [5, '', 'unavailable']);
    assert.equal((await ranProgram(['stop', '--data-dir', folder])).code, 5);
    assert.equal((await ranProgram(['logs', '--data-dir', folder])).code, 3);
  });

  it('tells of the options that act on a command, and of no others', async () => {
    const flagsOf = async (...words: string[]): Promise<string[]> => {
      const [{ flags }] = JSON.parse((await ranProgram(['help', ...words, '--json'])).stdout) as [{ flags: { name: string }[] }];
      return flags.map(({ name }) => name);
    };
    const query = await flagsOf('query');
    for (const name of ['port', 'host', 'runtime-port', 'data-dir', 'api-key']) assert.ok(query.includes(name), name);
    assert.ok(!query.includes('pin-templates'));
    assert.deepEqual(
      (await flagsOf('logs')).filter((name) => ['port', 'data-dir'].includes(name)),
      ['data-dir'],
    );
    assert.ok(!(await flagsOf('config', 'validate')).includes('port'));
    assert.ok((await flagsOf('start')).includes('pin-templates'));
    assert.match((await ranProgram(['query', '--help'])).stdout, /--port PORT +port of the core API \(14345\); PORT/);
  });

  it('tells of a family with the flags that its commands share once', async () => {
    const { stdout } = await ranProgram(['help', 'datasets']);
    assert.equal(stdout.match(/--runtime-port/g)?.length, 1);
    assert.match(stdout, /--strategy NAME[\s\S]*Flags of all of them\n[\s\S]*--json +print JSON/);
  });

  it('sets its texts between words where a terminal is narrow, and as they are elsewhere', async () => {
    const narrow = (await ranProgram(['help'], { columns: 60 })).stdout.split('\n');
    // What is longer has no blank to break at, but the form of a command and its column.
    for (const text of narrow) assert.ok(text.length <= 80, text);
    assert.ok((await ranProgram(['help'])).stdout.split('\n').some((text) => text.length > 120));
    assert.equal(wrapped('one two three', 8, 2), 'one two\n  three');
    assert.equal(wrapped('/a/long/path/of/a/file is there', 8), '/a/long/path/of/a/file\nis there');
  });

  it('fetches no model that comes with the program', async () => {
    const { code, stdout } = await ranProgram(['pull', 'quern-tiny']);
    assert.deepEqual([code, stdout], [0, 'quern-tiny comes with Quern\n']);
  });

  it('completes in bash', async () => {
    const { stdout } = await ranProgram(['completion', 'bash']);
    const completed = (...words: string[]): string[] => {
      const script = `${stdout}\nCOMP_WORDS=(quern ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _quern; echo "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ');
    };
    assert.deepEqual(completed('tran'), ['transcribe']);
    assert.deepEqual(completed('datasets', 'a'), ['add']);
    assert.deepEqual(completed('datasets', 'add', '--no-p'), ['--no-process']);
    assert.deepEqual(completed('query', '--st'), ['--strategy']);
    assert.deepEqual(completed('ls', '--j'), ['--json']);
    for (const words of [['start', '--pin'], ['--pin']]) assert.deepEqual(completed(...words), ['--pin-templates']);
    assert.deepEqual(completed('completion', 'f'), ['fish']);
    // Where a file may stand, the shell completes files.
    for (const words of [
      ['transcribe', ''],
      ['datasets', 'add', ''],
    ])
      assert.deepEqual(completed(...words), ['']);
  });

  it('completes in zsh without its completion system, and tells fish what flags mean', async () => {
    assert.match((await ranProgram(['completion', 'zsh'])).stdout, /\|\| compinit\nbashcompinit\n/);
    assert.match(
      (await ranProgram(['completion', 'fish'])).stdout,
      /^complete -c quern -n '__quern_in chat' -l project -s p -r -d 'the project/m,
    );
  });
});

describe('what a person types', () => {
  it('is forgotten where it is dropped', () => {
    const composer = new Composer();
    composer.add('"""one');
    composer.drop();
    assert.deepEqual([composer.isOpen, composer.add('two')], [false, 'two']);
  });

  it('becomes a message over several lines', () => {
    for (const [lines, messages] of [
      [
        ['one', 'two'],
        ['one', 'two'],
      ],
      [
        ['"""one', 'two', 'three"""', 'four'],
        ['one\ntwo\nthree', 'four'],
      ],
      [['"""one"""'], ['one']],
      [['one\\', 'two\\', 'three'], ['one\ntwo\nthree']],
      [['"""', 'a\\', '"""'], ['\na\\\n']],
    ] as const) {
      const composer = new Composer();
      assert.deepEqual(
        lines.map((line) => composer.add(line)).filter((message) => message !== null),
        messages,
      );
      assert.equal(composer.isOpen, false);
    }
  });

  it('brings the files whose paths stand in it', async () => {
    const picture = join(folder, 'a picture.png');
    const text = join(folder, 'notes.txt');
    writeFileSync(picture, Buffer.from('89504e47', 'hex'));
    writeFileSync(text, 'The key is under the mat.');
    for (const typed of [`what is '${picture}'`, `what is "${picture}"`, `what is ${picture.replaceAll(' ', '\\ ')}`]) {
      const [part, rest] = (await contentOf(typed)) as { type: string; text?: string }[];
      assert.deepEqual([part?.type, rest?.text], ['image_url', 'what is a picture.png']);
    }
    assert.deepEqual(await contentOf(`file://${text}`), [
      { type: 'text', text: 'File notes.txt:\nThe key is under the mat.' },
      { type: 'text', text: 'notes.txt' },
    ]);
    for (const plain of ['and/or', 'see /no/such/file', '/etc is a folder', 'a "quoted" word']) assert.equal(await contentOf(plain), plain);
    writeFileSync(join(folder, 'x.bin'), Buffer.from([0xff, 0, 1]));
    await assert.rejects(contentOf('', [join(folder, 'x.bin')]), { kind: 'unsupported_type', message: /quern datasets add/ });
    await assert.rejects(contentOf('', [join(folder, 'none')]), { kind: 'not_found' });
  });

  it('cannot leave the path that a request is for', () => {
    assert.equal(route`/v1/projects/${'a b'}/${'x/y'}`, '/v1/projects/a%20b/x%2Fy');
    for (const name of ['', '.', '..']) assert.throws(() => route`/v1/projects/${name}`, { kind: 'bad_request' });
  });
});

describe('files on the command line', () => {
  it('are tables in four forms', async () => {
    const rows = [
      { text: 'a, b', n: 1.5 },
      { text: 'c', n: -2 },
    ];
    for (const [name, text] of [
      ['t.csv', 'text,n\n"a, b",1.5\nc,-2\n'],
      ['t.tsv', 'text\tn\na, b\t1.5\nc\t-2\n'],
      ['t.json', JSON.stringify(rows)],
      ['t.jsonl', rows.map((row) => JSON.stringify(row)).join('\n')],
    ] as const) {
      writeFileSync(join(folder, name), text);
      assert.deepEqual(await readRows(join(folder, name)), rows, name);
    }
    for (const [name, text, kind] of [
      ['bad.json', '{', 'invalid'],
      ['list.json', '[1]', 'invalid'],
      ['bad.jsonl', '{}\n{', 'invalid'],
    ] as const) {
      writeFileSync(join(folder, name), text);
      await assert.rejects(readRows(join(folder, name)), { kind }, name);
    }
    await assert.rejects(readRows(join(folder, 'none.csv')), { kind: 'not_found' });
  });

  it('are project files that are checked', async () => {
    mkdirSync(join(folder, 'p'));
    const good = join(folder, 'p', 'project.yaml');
    writeFileSync(
      good,
      'version: v1\nname: p\nnamespace: default\nruntime:\n  models:\n    - {name: m, provider: universal, model: quern-tiny}\n',
    );
    const checked = await ranProgram(['config', 'validate', good]);
    assert.deepEqual([checked.code, checked.stderr], [0, ''], checked.stdout);
    assert.match(checked.stdout, /can be used/);
    writeFileSync(good, 'version: v1\nname: p\nnamespace: default\nruntime:\n  models:\n    - {name: m, model: quern-tiny}\n');
    const bad = await ranProgram(['config', 'validate', good, '--json']);
    assert.equal(bad.code, 1);
    assert.match(JSON.parse(bad.stdout).errors[0].path, /^runtime\.models\[0\]/);
    assert.equal((await ranProgram(['config', 'validate', join(folder, 'none.yaml')])).code, 3);
  });

  it('are compared setting by setting', () => {
    assert.deepEqual(differencesOf({ a: 1, b: { c: [1, 2] }, d: 0 }, { a: 1, b: { c: [1, 3, 4] }, e: null }), [
      { path: 'b.c[1]', before: 2, after: 3 },
      { path: 'b.c[2]', after: 4 },
      { path: 'd', before: 0 },
      { path: 'e', after: null },
    ]);
  });
});
