import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkedName, checkedNewName, resolveLatest, versionedName, versionOf } from '../../../../runtime/ml/model-names.js';

const AT = new Date('2026-02-03T04:05:06.789Z');
const second = (text: string): number => Date.parse(`${text}Z`);

describe('names of fitted models', () => {
  it('takes plain names, versions and -latest', () => {
    for (const name of ['a', '_x', 'A.b-c_1', 'fraud-latest', 'x'.repeat(100), `${'x'.repeat(100)}_20260203_040506`]) {
      assert.equal(checkedName(name), name);
    }
  });

  for (const name of ['', '..', 'a..b', '../a', 'a/b', 'a\\b', '.a', '-a', 'a.', 'a b', 'é', 'a\0', 'CON', 'nul.x', 'x'.repeat(101)]) {
    it(`refuses ${JSON.stringify(name)}`, () => {
      assert.throws(() => checkedName(name), { kind: 'bad_request' });
    });
  }

  it('refuses to fit -latest', () => {
    assert.throws(() => checkedNewName('a-latest'), { kind: 'bad_request', message: /newest version/ });
    assert.equal(checkedNewName('a-latest-1'), 'a-latest-1');
  });

  it('names versions by the second, in UTC, and takes the next free one', () => {
    assert.equal(versionedName('m', AT), 'm_20260203_040506');
    const taken = new Set(['m_20260203_040506', 'm_20260203_040507']);
    assert.equal(
      versionedName('m', AT, (name) => taken.has(name)),
      'm_20260203_040508',
    );
    assert.equal(
      versionedName('m', new Date('2026-12-31T23:59:59Z'), (name) => name.endsWith('235959')),
      'm_20270101_000000',
    );
  });

  it('finds the base of a version', () => {
    assert.deepEqual(versionOf('m_20260203_040506'), { base: 'm', versioned: true });
    assert.deepEqual(versionOf('m_1_20260203_040506'), { base: 'm_1', versioned: true });
    assert.deepEqual(versionOf('m_20260203'), { base: 'm_20260203', versioned: false });
    assert.deepEqual(versionOf('_20260203_040506'), { base: '_20260203_040506', versioned: false });
  });

  it('resolves -latest to the newest version, by the time in its name', () => {
    const old = { name: 'm_20260101_000000', modifiedMs: second('2026-06-01T00:00:00') };
    const young = { name: 'm_20260201_000000', modifiedMs: second('2026-05-01T00:00:00') };
    assert.equal(resolveLatest('m-latest', [old, young, { name: 'm2_20270101_000000', modifiedMs: 0 }]), young.name);
    assert.equal(resolveLatest('m', [old, young]), 'm');
  });

  it('ranks the base by when it was written, also within the second of a version', () => {
    const version = { name: 'm_20260203_040506', modifiedMs: second('2026-02-03T04:05:06') + 100 };
    const base = (ms: number): { name: string; modifiedMs: number } => ({ name: 'm', modifiedMs: second('2026-02-03T04:05:06') + ms });
    assert.equal(resolveLatest('m-latest', [version, base(-1)]), version.name);
    assert.equal(resolveLatest('m-latest', [base(900), version]), 'm');
    const moved = { name: 'm_20260203_040508', modifiedMs: second('2026-02-03T04:05:06') + 300 };
    assert.equal(resolveLatest('m-latest', [version, moved, base(900)]), 'm');
    assert.equal(resolveLatest('m-latest', [version, moved, base(200)]), moved.name);
  });

  it('stands for the base where there is nothing', () => {
    assert.equal(resolveLatest('m-latest', []), 'm');
    assert.equal(resolveLatest('m-latest', [{ name: 'other', modifiedMs: 5 }]), 'm');
  });
});
