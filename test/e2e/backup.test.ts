import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { libsqlSource } from '../../accounts/database/dialects/libsql.js';
import { MANIFEST, type Manifest } from '../../gateway/daemon/backup/manifest.js';
import { ranProgram } from '../support/command-line.js';
import { type DaemonUnderTest, emptyDataDir, MAIN, startDaemon } from '../support/daemon.js';
import { run } from '../support/run.js';

/** Restores that are killed, and more where each had come too far. */
const LEAST_KILLS = 12;
const MOST_KILLS = 120;
const CHAT = '/v1/projects/default/quickstart/chat/completions';

describe('a backup', () => {
  const folder = emptyDataDir();
  const backups = join(folder, 'backups');
  const documents = join(folder, 'documents');
  let daemon: DaemonUnderTest;
  let newest = '';
  const quern = (...args: string[]) => ranProgram([...args, '--data-dir', daemon.dataDir]);
  const say = async (at: DaemonUnderTest, session: string, content: string): Promise<void> => {
    const headers = { 'content-type': 'application/json', 'x-session-id': session };
    const answer = await fetch(`${at.core}${CHAT}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ messages: [{ role: 'user', content }], max_tokens: 4 }),
    });
    assert.equal(answer.status, 200, await answer.text());
  };
  const where = (at: DaemonUnderTest): string[] => ['--port', new URL(at.core).port, '--runtime-port', new URL(at.runtime).port];
  const historyOf = async (at: DaemonUnderTest, session: string): Promise<string> =>
    (await fetch(`${at.core}/v1/projects/default/quickstart/chat/sessions/${session}/history`)).text();
  const manifestOf = (backup: string): Manifest => JSON.parse(readFileSync(join(backup, MANIFEST), 'utf8')) as Manifest;

  before(async () => {
    daemon = await startDaemon();
    await say(daemon, 'kept', 'The word is lighthouse.');
    mkdirSync(documents);
    writeFileSync(join(documents, 'ferry.md'), 'The ferry leaves at nine and at noon.');
    await ranProgram(['datasets', 'create', 'docs', ...where(daemon)]);
    await ranProgram(['datasets', 'add', 'docs', documents, ...where(daemon)]);
    mkdirSync(join(daemon.dataDir, 'accounts'));
    const users = libsqlSource(`file:${join(daemon.dataDir, 'accounts', 'users.db')}`);
    await users.run('create table users (name text)', []);
    await users.run("insert into users values ('ada')", []);
    await users.close();
  });
  after(() => daemon.end('SIGKILL'));

  it('is whole although the daemon works meanwhile, and the next one shares what has not changed', async () => {
    let isDone = false;
    const talking = (async () => {
      for (let turn = 0; !isDone; turn += 1) await say(daemon, 'busy', `turn ${turn}`);
    })();
    const made = await quern('backup', backups, '--json');
    isDone = true;
    await talking;
    assert.equal(made.code, 0, made.stderr);
    const { path, files } = JSON.parse(made.stdout) as { path: string; files: number };
    assert.ok(files > 5 && existsSync(join(path, 'state', 'data.mdb')) && existsSync(join(path, 'accounts', 'users.db')));
    assert.deepEqual(
      readdirSync(path).filter((name) => /lock|logs|cache|uploads/.test(name)),
      [],
    );
    const next = JSON.parse((await quern('backup', backups, '--json')).stdout) as { path: string; shared: number };
    const raw = manifestOf(path).files.find((file) => file.path.includes('/raw/'))!.path;
    assert.ok(next.shared >= 3);
    assert.equal(statSync(join(path, raw)).ino, statSync(join(next.path, raw)).ino);
    assert.equal(statSync(path).mode & 0o077, 0);
    newest = next.path;
  });

  it('leaves what is not its own alone: other parts, other databases, unreadable neighbours', async () => {
    const own = join(folder, 'own');
    mkdirSync(join(own, '.photos.part'), { recursive: true });
    const running = join(own, `.20260101T000000.${process.pid}.0123abcd.part`);
    const dead = join(own, '.20260101T000000.4194304.0123abcd.part');
    for (const place of [running, dead, join(own, 'zzz')]) mkdirSync(place);
    writeFileSync(join(own, '.movie.part'), 'mine');
    writeFileSync(join(own, 'zzz', MANIFEST), 'not json');
    const raw = join(daemon.dataDir, 'projects/default/quickstart/lf_data/datasets/docs/raw');
    const fake = `SQLite format 3\0 and nothing of it`;
    writeFileSync(join(raw, 'f'.repeat(64)), fake);
    const made = await quern('backup', own, '--json');
    assert.equal(made.code, 0, made.stderr);
    const { path } = JSON.parse(made.stdout) as { path: string };
    assert.equal(readFileSync(join(path, 'projects/default/quickstart/lf_data/datasets/docs/raw', 'f'.repeat(64)), 'utf8'), fake);
    rmSync(join(raw, 'f'.repeat(64)));
    assert.deepEqual([running, dead, join(own, '.movie.part'), join(own, '.photos.part')].map(existsSync), [true, false, true, true]);
    writeFileSync(join(daemon.dataDir, 'restore.json'), '{}');
    const cut = await quern('backup', own);
    rmSync(join(daemon.dataDir, 'restore.json'));
    assert.match(cut.stderr, /a restore of .* was cut short: start the daemon once/);
  });

  it('comes back in another place with everything that was said and stored', async () => {
    const dataDir = join(folder, 'elsewhere');
    const restored = await ranProgram(['restore', backups, '--data-dir', dataDir]);
    assert.equal(restored.code, 0, restored.stderr);
    const other = await startDaemon({ dataDir });
    assert.match(await historyOf(other, 'kept'), /The word is lighthouse/);
    assert.match((await ranProgram(['query', 'ferry', ...where(other)])).stdout, /leaves at nine/);
    const again = await ranProgram(['datasets', 'add', 'docs', documents, ...where(other)]);
    assert.match(again.stdout, /0 of 1 files are new/);
    const users = libsqlSource(`file:${join(dataDir, 'accounts', 'users.db')}`);
    assert.deepEqual((await users.run('select name from users', [])).rows, [{ name: 'ada' }]);
    await users.close();
    // A data directory that is in use is left alone.
    const busy = await ranProgram(['restore', backups, '--data-dir', dataDir]);
    assert.equal(busy.code, 5);
    assert.match(busy.stderr, new RegExp(`another quern \\(pid ${other.child.pid}\\)`));
    await say(other, 'later', 'After the restore.');
    mkdirSync(join(dataDir, 'models'), { recursive: true });
    writeFileSync(join(dataDir, 'models', 'own.gguf'), 'weights');
    await other.end();
    const back = await ranProgram(['restore', newest, '--data-dir', dataDir, '--json']);
    const { aside } = JSON.parse(back.stdout) as { aside: string };
    assert.equal(readFileSync(join(dataDir, 'models', 'own.gguf'), 'utf8'), 'weights');
    assert.ok(existsSync(join(aside, 'state', 'data.mdb')));
    const third = await startDaemon({ dataDir });
    assert.doesNotMatch(await historyOf(third, 'later'), /After the restore/);
    assert.match(await historyOf(third, 'kept'), /lighthouse/);
    await third.end();
  });

  it('that cannot be used changes nothing, and says what is wrong with it', async () => {
    const dataDir = join(folder, 'untouched');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'mine'), 'mine');
    const change = (name: string, work: (copy: string, manifest: Manifest) => Manifest | undefined): string => {
      const copy = join(folder, name);
      cpSync(newest, copy, { recursive: true, verbatimSymlinks: true });
      const manifest = work(copy, manifestOf(copy));
      if (manifest) writeFileSync(join(copy, MANIFEST), JSON.stringify(manifest));
      return copy;
    };
    const first = (copy: string): string => join(copy, manifestOf(copy).files[0]!.path);
    const cases: [string, number, RegExp][] = [
      [join(folder, 'none'), 2, /no whole backup/],
      [change('cut', (copy) => void rmSync(join(copy, MANIFEST))), 2, /no whole backup/],
      [
        change('newer', (_copy, manifest) => ({ ...manifest, format: 99, version: '7.0.0' })),
        1,
        /made by Quern 7\.0\.0, in format 99.*install that version/,
      ],
      [change('bad-byte', (copy) => void writeFileSync(first(copy), 'x')), 2, /is not what was backed up/],
      [change('lacking', (copy) => void rmSync(first(copy))), 2, /lacks its file/],
      [
        change('climbing', (_copy, manifest) => ({ ...manifest, files: [{ ...manifest.files[0]!, path: '../evil' }] })),
        2,
        /"\.\.\/evil", which is no path inside/,
      ],
      [change('listing', () => ({ format: 1 }) as Manifest), 2, /does not list files and links/],
      [change('nothing', () => JSON.parse('"null"') as Manifest), 2, /does not list files and links/],
      [
        change('through-a-link', (_copy, manifest) => ({
          ...manifest,
          links: [
            { path: 'a', target: '/tmp' },
            { path: 'a/b', target: '/etc' },
          ],
        })),
        2,
        /"a\/b", which is no path inside/,
      ],
      [change('linking', (_copy, manifest) => ({ ...manifest, links: [{ path: 'a/../../b', target: '/etc' }] })), 2, /no path inside/],
    ];
    for (const [backup, code, says] of cases) {
      const ran = await ranProgram(['restore', backup, '--data-dir', dataDir]);
      assert.equal(ran.code, code, `${backup}: ${ran.stderr}`);
      assert.match(ran.stderr, says);
      assert.deepEqual(readdirSync(dataDir), ['mine']);
    }
    symlinkSync(daemon.dataDir, join(folder, 'way-in'));
    assert.equal((await quern('backup', join(folder, 'way-in', 'copies'))).code, 2);
    assert.equal((await quern('backup', '/proc/nope')).code, 5);
    const inside = await quern('backup', join(daemon.dataDir, 'copies'));
    assert.deepEqual([inside.code, existsSync(join(daemon.dataDir, 'copies'))], [2, false], inside.stderr);
    assert.equal((await ranProgram(['backup', backups, '--data-dir', join(folder, 'none')])).code, 3);
  });

  it('leaves the old data or the new when a restore is killed', async () => {
    const dataDir = join(folder, 'killed');
    const marker = (): string => (existsSync(join(dataDir, 'mine')) ? 'old' : existsSync(join(dataDir, 'projects')) ? 'new' : 'none');
    const seen = new Set<string>();
    for (let round = 0; round < LEAST_KILLS || (!seen.has('old') && round < MOST_KILLS); round += 1) {
      rmSync(dataDir, { recursive: true, force: true });
      mkdirSync(join(dataDir, 'state'), { recursive: true });
      writeFileSync(join(dataDir, 'mine'), 'mine');
      const child = spawn(process.execPath, [MAIN, 'restore', newest, '--data-dir', dataDir], { stdio: 'ignore' });
      const ended = new Promise((resolve) => child.on('close', resolve));
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      while (!isOver && !readdirSync(dataDir).some((name) => /^restore/.test(name))) await sleep(1);
      await sleep((round % LEAST_KILLS) * 4);
      child.kill('SIGKILL');
      await ended;
      // The next restore of nothing, or a start, finishes or forgets it.
      const { finishRestore } = await import('../../gateway/daemon/backup/restore.js');
      finishRestore(dataDir);
      assert.deepEqual(
        readdirSync(dataDir).filter((name) => /^restore/.test(name)),
        [],
      );
      seen.add(marker());
      if (marker() === 'new') for (const file of manifestOf(newest).files) assert.ok(existsSync(join(dataDir, file.path)), file.path);
    }
    assert.ok(!seen.has('none') && seen.has('old'), [...seen].join());
  });

  it('onto a full disk, or from one that is too large for the disk, leaves nothing', async (t) => {
    const place = join(folder, 'small');
    mkdirSync(place);
    // Full at a database, at a document, and at the copy of the state.
    for (const size of ['40k', '200k', '1200k']) {
      if (!run('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', place)) return t.skip('tmpfs cannot be mounted here');
      try {
        const made = await quern('backup', join(place, 'b'));
        assert.equal(made.code, 5, made.stderr);
        assert.match(made.stderr, /the disk is full .*Free some space/);
        assert.deepEqual(readdirSync(join(place, 'b')), []);
        const restored = await ranProgram(['restore', newest, '--data-dir', join(place, 'd')]);
        assert.match(restored.stderr, /free some space; nothing was changed/);
        assert.deepEqual(readdirSync(join(place, 'd')), []);
      } finally {
        run('umount', place);
      }
    }
  });
});
