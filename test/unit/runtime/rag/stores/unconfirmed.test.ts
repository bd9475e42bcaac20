import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { Failure } from '../../../../../schemas/errors.js';
import { chunk, chunks, find, NEVER, type Opened, open } from './fixture.js';

const root = mkdtempSync(join(tmpdir(), 'quern-unconfirmed-'));
setLogLevel('error');
after(() => rmSync(root, { recursive: true, force: true }));

const idOf = (document: string, number: number): string => chunk(document, number).id;

describe('native store whose disk does not confirm', () => {
  let dir: string;
  let opened: Opened;
  beforeEach(async () => {
    dir = mkdtempSync(join(root, 'data-'));
    opened = await open(dir);
  });
  afterEach(() => opened.close());

  /** The next write fails; `stored`: though all of it is stored. */
  const failOnce = (stored: boolean): void => {
    const { state } = opened;
    const write = state.write.bind(state);
    state.write = async (fill) => {
      state.write = write;
      if (stored) await write(fill);
      throw new Failure('unavailable', 'not confirmed');
    };
  };
  const there = async (document: string, number: number): Promise<boolean> => {
    const { dense, lexical } = await find(opened.store, number);
    const isThere = lexical[0] === idOf(document, number);
    assert.equal(dense[0] === idOf(document, number), isThere);
    return isThere;
  };
  const reopened = async (): Promise<void> => {
    await opened.close();
    opened = await open(dir);
  };

  for (const stored of [true, false]) {
    it(`gives no row out twice after an addition that was ${stored ? '' : 'not '}stored`, async () => {
      failOnce(stored);
      await assert.rejects(opened.store.add(chunks('a', 0, 3), NEVER), /not confirmed/);
      await opened.store.add(chunks('b', 10, 13), NEVER);
      for (const again of [false, true]) {
        if (again) await reopened();
        assert.deepEqual([await there('a', 1), await there('b', 11)], [stored, true]);
        assert.equal((await opened.store.stats()).chunks, stored ? 6 : 3);
      }
    });

    it(`knows what became of a removal that was ${stored ? '' : 'not '}stored`, async () => {
      await opened.store.add([...chunks('a', 0, 3), ...chunks('b', 10, 13)], NEVER);
      assert.equal(await there('a', 1), true);
      failOnce(stored);
      await assert.rejects(opened.store.removeDocument('a'), /not confirmed/);
      await opened.store.add(chunks('c', 20, 21), NEVER);
      assert.deepEqual([await there('a', 1), await there('b', 11), await there('c', 20)], [!stored, true, true]);
      assert.equal((await opened.store.stats()).documents, stored ? 2 : 3);
    });
  }

  it('says the same of every addition that went to the disk together', async () => {
    const first = opened.store.add(chunks('x', 90, 91), NEVER);
    failOnce(false);
    const outcomes = await Promise.allSettled([
      first,
      opened.store.add(chunks('a', 0, 3), NEVER),
      opened.store.add(chunks('b', 10, 13), NEVER),
    ]);
    assert.ok(outcomes.some(({ status }) => status === 'rejected'));
    const held = [
      ['x', 90],
      ['a', 1],
      ['b', 11],
    ] as const;
    for (const [at, [document, number]] of held.entries())
      assert.equal(await there(document, number), outcomes[at]!.status === 'fulfilled');
  });
});
