import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lockNote } from '../../../../../../runtime/engines/language/gguf/model.js';

const status = (kibibytes: number): string => `Name:\tnode\nVmPeak:\t   99999 kB\nVmLck:\t   ${kibibytes} kB\nVmPin:\t       0 kB\n`;
const limits = (bytes: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         ${bytes}              ${bytes}              bytes\n`;

describe('the note on locked memory', () => {
  it('is absent when all weights are locked', () => {
    assert.equal(lockNote({ status: status(3072), limits: limits('8388608') }, 3 * 2 ** 20), null);
  });

  it('says how much is locked, and the limit', () => {
    const note = lockNote({ status: status(0), limits: limits('8388608') }, 57 * 2 ** 20);
    assert.equal(
      note,
      'use_mlock: 0.0 of 57.0 MiB of weights are locked in memory. The system lets a process lock 8 MiB; raise that with "ulimit -l".',
    );
  });

  it('names no limit where there is none', () => {
    assert.equal(
      lockNote({ status: status(1024), limits: limits('unlimited') }, 2 ** 21),
      'use_mlock: 1.0 of 2.0 MiB of weights are locked in memory.',
    );
  });
});
