import assert from 'node:assert/strict';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { PageFile } from '../../../../runtime/store/page-file.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import { Survey } from '../../../../runtime/store/survey.js';

const root = mkdtempSync(join(tmpdir(), 'quern-damage-'));
/** A closed store with all kinds of pages, which no test changes. */
const whole = join(root, 'whole');
let original: Buffer;
let pages = 0;

/** Records of several tables, large ones too, some of which were removed again. */
async function fill(store: Store): Promise<void> {
  for (let at = 0; at < 60; at += 1) {
    await store.write((batch) => {
      for (let place = at * 5; place < at * 5 + 5; place += 1) {
        batch.put('turns', [at % 7, place], { messages: [{ role: 'user', content: 'x'.repeat(20 + ((place * 37) % 300)) }], atMs: at });
        batch.put('chunkIds', [1, `chunk-${place}`], place);
      }
      batch.put('vectors', [1, at], new Uint8Array(at % 5 ? 200 : 9_000).fill(at));
      batch.put('sessions', ['ns', 'p', `s${at}`], { run: at, turns: 2, createdMs: 1, lastActiveMs: 2 });
    });
  }
  for (let at = 0; at < 60; at += 3) await store.write((batch) => batch.remove('chunkIds', [1, `chunk-${at}`]));
}

/** What can be read of a file, by table and key, and what is wrong with it. */
function read(file: string): { records: Map<string, string>; problems: string[] } {
  const records = new Map<string, string>();
  const survey = new Survey(file);
  for (const { table, key, record, stray } of survey.records()) {
    const name = `${table} ${Buffer.from(key).toString('hex')}`;
    if (!stray || !records.has(name)) records.set(name, Buffer.from(record).toString('hex'));
  }
  return { records, problems: survey.problems };
}

/** A copy of the whole store whose file `damage` has changed. */
function damaged(name: string, damage: (file: string) => void): string {
  const dir = join(root, name.replaceAll(/\W+/g, '-'));
  mkdirSync(join(dir, 'state'), { recursive: true });
  const file = join(dir, 'state', 'data.mdb');
  writeFileSync(file, original);
  damage(file);
  return dir;
}

function flip(file: string, at: number): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.from([original[at]! ^ 0x41]), 0, 1, at);
  closeSync(handle);
}

const asides = (dir: string): string[] => readdirSync(dir).filter((name) => name.startsWith('state.damaged-'));

before(async () => {
  const store = await openStore(whole);
  await fill(store);
  await store.close();
  original = readFileSync(join(whole, 'state', 'data.mdb'));
  pages = new PageFile(join(whole, 'state', 'data.mdb')).snapshots()[0]!.pages;
});
after(() => rmSync(root, { recursive: true, force: true }));

describe('a state file with one changed byte', () => {
  it('loses at most the record that has the byte, keeps all others as they were, and is never taken as sound then', () => {
    const file = join(root, 'flipped.mdb');
    writeFileSync(file, original);
    const sound = read(file);
    assert.deepEqual(sound.problems, []);
    const handle = openSync(file, 'r+');
    const places: number[] = [];
    for (let at = 24; at < 24 + 136; at += 5) places.push(at, 2048 + at, 4096 + at);
    for (let page = 2; page < pages; page += 1) {
      // The header, what follows it, and a few places that differ from page to page.
      for (let at = page % 3; at < 40; at += 3) places.push(page * 4096 + at);
      for (let at = 40 + ((page * 131) % 600); at < 4096; at += 601) places.push(page * 4096 + at);
    }
    let noticed = 0;
    for (const at of places) {
      writeSync(handle, Buffer.from([original[at]! ^ (1 << (at % 8))]), 0, 1, at);
      const { records, problems } = read(file);
      writeSync(handle, original, at, 1, at);
      const where = `byte ${at % 4096} of page ${Math.floor(at / 4096)}`;
      const missing = [...sound.records.keys()].filter((key) => !records.has(key));
      assert.ok(missing.length <= 1, `${where}: ${missing.length} records are lost`);
      assert.ok(missing.length === 0 || problems.length > 0, `${where}: a loss without a word`);
      for (const [key, record] of records) assert.equal(record, sound.records.get(key), `${where}: ${key} is another`);
      if (problems.length > 0) noticed += 1;
    }
    closeSync(handle);
    assert.ok(noticed > places.length / 4, `${noticed} of ${places.length} were noticed`);
  });

  const kinds: { name: string; place: () => number }[] = [
    { name: 'the beginning of the file', place: () => 24 },
    {
      name: 'the newest description',
      place: () => (new PageFile(join(whole, 'state', 'data.mdb')).snapshots()[0]!.txn % 2) * 4096 + 24 + 112,
    },
    { name: 'a page of a table', place: () => placeOf('chunk-101') },
    { name: 'a large value', place: () => original.indexOf(Buffer.alloc(8_500, 55)) + 4_200 },
  ];
  for (const { name, place } of kinds) {
    it(`is repaired and told of until a person acts: ${name}`, async () => {
      const dir = damaged(name, (file) => flip(file, place()));
      const store = await openStore(dir);
      const health = store.health();
      assert.equal(health.status, 'degraded');
      assert.match(health.message, /was damaged\..*records.*state\.damaged-.*remove or rename/);
      assert.ok(store.sessions.page({ limit: 100 }).length >= 59);
      assert.ok(store.chunkIds.keys({ limit: 1_000 }).length >= 279);
      await store.write((batch) => batch.put('meta', 'later', 1));
      await store.close();
      const again = await openStore(dir);
      assert.equal(again.health().status, 'degraded');
      assert.equal(again.meta.get('later'), 1);
      assert.equal(asides(dir).length, 1);
      rmSync(join(dir, asides(dir)[0]!), { recursive: true });
      assert.equal(again.health().status, 'healthy');
      await again.close();
    });
  }

  it('takes the very same record from a backup that has it', async () => {
    const dir = join(root, 'backed-up');
    const store = await openStore(dir);
    await fill(store);
    await store.backup();
    await store.write((batch) => batch.put('meta', 'later', 7));
    await store.close();
    const file = join(dir, 'state', 'data.mdb');
    const bytes = readFileSync(file);
    const at = bytes.lastIndexOf(Buffer.from('x'.repeat(250)));
    bytes[at + 5]! ^= 1;
    writeFileSync(file, bytes);
    const again = await openStore(dir);
    assert.match(again.health().message, /All its \d+ records could be saved/);
    assert.equal(again.meta.get('later'), 7);
    assert.equal(again.turns.page({ limit: 1_000 }).length, 300);
    await again.close();
  });
});

/** Where the file has these letters last. */
function placeOf(letters: string): number {
  return original.lastIndexOf(letters);
}

describe('a state file that is not there in whole', () => {
  const losses: { name: string; damage: (file: string) => void }[] = [
    { name: 'an empty file', damage: (file) => truncateSync(file, 0) },
    { name: 'a file of one byte', damage: (file) => truncateSync(file, 1) },
    { name: 'a file of half a page', damage: (file) => truncateSync(file, 2_048) },
    { name: 'zeros', damage: (file) => writeFileSync(file, Buffer.alloc(original.length)) },
  ];
  for (const { name, damage } of losses) {
    it(`never makes an empty store that calls itself healthy: ${name}`, async () => {
      const store = await openStore(damaged(name, damage));
      assert.equal(store.health().status, 'degraded');
      assert.match(store.health().message, /Nothing in it could be read and there is no backup/);
      await store.close();
    });
  }

  it('goes back to the newest backup: a file that was emptied or removed', async () => {
    const dir = join(root, 'emptied');
    const store = await openStore(dir);
    await fill(store);
    await store.backup();
    await store.close();
    const file = join(dir, 'state', 'data.mdb');
    for (const damage of [() => truncateSync(file, 0), () => rmSync(file)]) {
      damage();
      const again = await openStore(dir);
      assert.equal(again.turns.page({ limit: 1_000 }).length, 300);
      assert.match(again.health().message, /The backup \w+ is used/);
      await again.close();
    }
    assert.equal(asides(dir).length, 2);
  });

  it('keeps most of a file whose end or beginning is gone, without a backup', async () => {
    const cut = await openStore(damaged('no end', (file) => truncateSync(file, Math.floor((pages * 4096) / 2))));
    assert.ok(cut.turns.page({ limit: 1_000 }).length > 50);
    assert.equal(cut.health().status, 'degraded');
    await cut.close();
    const headless = await openStore(
      damaged('no beginning', (file) => {
        const handle = openSync(file, 'r+');
        writeSync(handle, Buffer.alloc(8_192), 0, 8_192, 0);
        closeSync(handle);
      }),
    );
    assert.equal(headless.turns.page({ limit: 1_000 }).length, 300);
    assert.equal(headless.health().status, 'degraded');
    await headless.close();
  });
});

describe('what should be a state file and is not', () => {
  for (const name of ['data.mdb', 'lock.mdb', 'closed.json']) {
    it(`is refused in a sentence: a folder called ${name}`, async () => {
      const dir = join(root, `folder-${name}`);
      mkdirSync(join(dir, 'state', name), { recursive: true });
      await assert.rejects(openStore(dir), { kind: 'unavailable', message: new RegExp(`${name} is a folder.*move it away`) });
    });
  }

  it('is refused in a sentence: a file called state', async () => {
    const dir = join(root, 'file-state');
    mkdirSync(dir);
    writeFileSync(join(dir, 'state'), '');
    await assert.rejects(openStore(dir), { kind: 'unavailable', message: /state is no folder.*move it away/ });
  });
});
