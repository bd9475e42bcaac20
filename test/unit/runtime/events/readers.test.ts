import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { filterOf } from '../../../../runtime/events/readers.js';
import { Failure } from '../../../../schemas/errors.js';

describe('times of event queries', () => {
  const ms = (text: string): number => filterOf({ start_time: text }).fromMs!;

  it('reads the forms of ISO 8601, UTC where no zone is named', () => {
    const noon = Date.UTC(2026, 0, 31, 12);
    for (const text of [
      '2026-01-31T12:00:00Z',
      '2026-01-31T12:00',
      '2026-01-31 12:00:00',
      '2026-01-31T12:00:00.000000',
      '2026-01-31t12:00:00z',
    ])
      assert.equal(ms(text), noon, text);
    for (const text of ['2026-01-31T14:00:00+02:00', '2026-01-31T14:00:00 02:00', '2026-01-31T14:00+0200', '2026-01-31T10:00-02'])
      assert.equal(ms(text), noon, text);
    assert.equal(ms('2026-01-31'), Date.UTC(2026, 0, 31));
    assert.equal(ms('1969-07-20'), Date.UTC(1969, 6, 20));
    assert.equal(ms('2026-01-31T12:00:00,250Z'), noon + 250);
  });

  it('refuses everything else by its name and value', () => {
    for (const text of [
      '',
      'yesterday',
      '2026-02-30',
      '2026-13-01',
      '2026-01-31T25:00',
      '2026-01-31T12:00:00+99:99',
      '1767225600',
      '2026-01-31T12:00Z; x',
    ]) {
      assert.throws(
        () => ms(text),
        (failure) =>
          failure instanceof Failure &&
          failure.kind === 'invalid' &&
          failure.message.includes('start_time') &&
          failure.message.includes(text),
        text,
      );
    }
    assert.throws(() => filterOf({ end_time: 'never' }), /end_time.*never/);
  });
});
