import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';

interface Item {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly parsed?: string;
  readonly interpretation?: string;
  readonly type: string;
}
type Found = Record<'dates' | 'times' | 'relative_dates' | 'combined_datetime', readonly Item[]>;
const find = (text: string, options = {}): Found => extractorOf('DateTimeExtractor').extract(text, options).output.datetime as Found;
const parsed = (items: readonly Item[]): (string | undefined)[] => items.map((one) => one.parsed ?? one.interpretation);

describe('dates', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['on 2024-03-05.', ['2024-03-05']],
    ['2024/3/5', ['2024-03-05']],
    ['March 5th, 2024 and Mar. 6 2024', ['2024-03-05', '2024-03-06']],
    ['5 March 2024, the 6th of April, 2023', ['2024-03-05', '2023-04-06']],
    ['07-Jan-99', ['1999-01-07']],
    ['3/4/2024 13/4/2024 3.4.2024 31-12-23', ['2024-03-04', '2024-04-13', '2024-04-03', '2023-12-31']],
    ['2023-02-29, 2024-02-29, 31 April 2024, 0/1/2024', ['2024-02-29', '2024-04']],
    ['May 2024, Q3 2024, in 1999', ['2024-05', '2024-07/2024-09', '1999']],
    ['1.2.3.4 and 10-20-30-40 and 12345-01-01', []],
  ];
  for (const [text, expected] of cases) it(text, () => assert.deepEqual(parsed(find(text).dates), expected));

  it('writes and reads days as the format says', () => {
    assert.deepEqual(parsed(find('3/4/2024', { date_format: 'EU' }).dates), ['03/04/2024']);
    assert.deepEqual(parsed(find('3/4/2024', { date_format: 'US' }).dates), ['03/04/2024']);
    assert.deepEqual(parsed(find('3 April 2024', { date_format: 'US' }).dates), ['04/03/2024']);
  });

  it('gives a date without a year the year asked for', () => {
    mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 5, 15) });
    try {
      const years = (text: string) =>
        ['current', 'past', 'future'].map((prefer_dates_from) => find(text, { prefer_dates_from }).dates[0]!.parsed);
      assert.deepEqual(years('May 6'), ['2026-05-06', '2026-05-06', '2027-05-06']);
      assert.deepEqual(years('6 July'), ['2026-07-06', '2025-07-06', '2026-07-06']);
      assert.deepEqual(years('Feb 29'), ['2024-02-29', '2024-02-29', '2028-02-29']);
    } finally {
      mock.timers.reset();
    }
  });
});

describe('times', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['14:30 and 2:05:09', ['14:30:00', '02:05:09']],
    ['2 pm, 2:30 p.m. 12 am 12 PM', ['14:00:00', '14:30:00', '00:00:00', '12:00:00']],
    ['noon, midnight', ['12:00:00', '00:00:00']],
    ['9:15 EST 10:00 +0530 11:00Z', ['09:15:00-05:00', '10:00:00+05:30', '11:00:00+00:00']],
    ['25:00 14:60 1:2:3 ratio 4:15:16:17 13 pm', []],
  ];
  for (const [text, expected] of cases) it(text, () => assert.deepEqual(parsed(find(text).times), expected));

  it('joins a day with its time, in the zone given or configured', () => {
    const cases: readonly (readonly [string, string])[] = [
      ['2024-03-05T14:30:00Z', '2024-03-05T14:30:00+00:00'],
      ['2024-03-05 14:30', '2024-03-05T14:30:00-05:00'],
      ['July 5, 2024 at 2 pm', '2024-07-05T14:00:00-04:00'],
      ['9:15 CET on 2 January 2020', '2020-01-02T09:15:00+01:00'],
      // One hour after the clocks went forward, and one before.
      ['2024-03-10 03:30', '2024-03-10T03:30:00-04:00'],
      ['2024-03-10 01:30', '2024-03-10T01:30:00-05:00'],
    ];
    for (const [text, expected] of cases) {
      const found = find(text, { default_timezone: 'America/New_York' }).combined_datetime;
      assert.deepEqual([found[0]?.parsed, found[0]?.text], [expected, text]);
    }
    assert.equal(find('2024-03-05 was long before 14:30').combined_datetime.length, 0);
    assert.equal(find('May 1, 2024 at 2 pm, May 2, 2024').combined_datetime.length, 1);
  });

  it('refuses a zone that does not exist', () => {
    assert.throws(() => find('x', { default_timezone: 'Mars/Base' }), /Mars\/Base/);
  });
});

describe('relative dates and durations', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['yesterday, Tomorrow, the day before yesterday', ['-P1D', '+P1D', '-P2D']],
    ['3 days ago, two hours ago, a year ago', ['-P3D', '-PT2H', '-P1Y']],
    ['in two weeks, 5 minutes later, 2 quarters from now', ['+P2W', '+PT5M', '+P6M']],
    ['last week, this month, next Friday', ['-P1W', 'P0M', '+friday']],
    ['for 3 hours, a 90-day trial, P3DT4H, two decades', ['PT3H', 'P90D', 'P3DT4H', 'P20Y']],
  ];
  for (const [text, expected] of cases) it(text, () => assert.deepEqual(parsed(find(text).relative_dates), expected));

  it('tells one from the other', () => {
    const text = '3 days ago for 2 days';
    assert.deepEqual(
      find(text).relative_dates.map((one) => one.type),
      ['relative', 'duration'],
    );
    assert.deepEqual(parsed(find(text, { extract_durations: false }).relative_dates), ['-P3D']);
    assert.deepEqual(parsed(find(text, { extract_relative: false }).relative_dates), ['P2D']);
  });
});
