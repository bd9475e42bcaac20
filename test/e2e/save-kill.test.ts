import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyDataDir } from '../support/daemon.js';
import { opened } from '../support/saved-models.js';

/** Committed number of kills of each kind; `KILLS=300` runs the long loop. */
const KILLS = Number(process.env.KILLS ?? 8);
const MOST_KILLS = 10 * KILLS;
const CHILD = join(import.meta.dirname, '..', 'unit', 'runtime', 'ml', 'save-child.js');
const FILES = { anomaly: ['m_ecod.pkl'], classifier: ['head.bin', 'labels.txt', 'metadata.json'] };

/** Resolves when a save begins in a folder: names that begin with a dot are those of saves under way. */
function saveIn(folder: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, (_event, name) => {
      if (!name?.startsWith('.')) return;
      watcher.close();
      resolve();
    });
  });
}

for (const kind of ['anomaly', 'classifier'] as const)
  it(`after ${KILLS} kills during saves of a model (${kind}) the old or the new one is there, whole`, {
    timeout: 600_000,
  }, async (test) => {
    const root = emptyDataDir();
    test.after(() => rmSync(root, { recursive: true, force: true }));
    const folder = join(root, 'models');
    const known: string[] = [];
    mkdirSync(folder);
    let saveMs = 0;
    for (const which of [1, 0]) {
      const models = opened(folder, kind);
      const begun = saveIn(folder).then(() => performance.now());
      await models.save(which);
      saveMs = performance.now() - (await begun);
      known[which] = await models.answers();
    }
    assert.notEqual(known[0], known[1]);

    const begin = (): ChildProcess => {
      const child = spawn(process.execPath, [CHILD, folder, kind], { stdio: ['pipe', 'pipe', 'inherit'] });
      test.after(() => child.kill('SIGKILL'));
      return child;
    };
    let child = begin();
    let [kept, cut] = [0, 0];
    // More of them where none fell into a save, as on a machine whose processors others have.
    for (let kill = 0; kill < KILLS || (cut === 0 && kill < MOST_KILLS); kill += 1) {
      await once(child.stdout!, 'data');
      const begun = saveIn(folder);
      child.stdin!.write('go\n');
      await begun;
      // Spread over all of a save, and beyond its end.
      await sleep((2 * saveMs * (kill % KILLS)) / KILLS);
      child.kill('SIGKILL');
      await once(child, 'close');
      cut += Number(readdirSync(folder).some((name) => name.startsWith('.')));
      const answers = await opened(folder, kind).answers();
      assert.ok(known.includes(answers), `after kill ${kill}: ${answers}`);
      kept += Number(answers === known[0]);
      const files = readdirSync(folder, { recursive: true })
        .map(String)
        .map((name) => name.slice(name.lastIndexOf('/') + 1));
      assert.deepEqual(files.filter((name) => name !== 'm').sort(), FILES[kind], `after kill ${kill}`);
      child = begin();
    }
    test.diagnostic(`a save takes ${saveMs.toFixed(0)} ms; ${cut} kills left something of one behind, ${kept} left the first model`);
    assert.ok(cut > 0, 'no kill fell into a save');
  });
