import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import { quote } from '../../base/names.js';
import type { ReadFilter, SeriesBucket, SeriesReads } from '../contract.js';
import { firstOf, needsRecord, passesFilter, timesOf } from '../filter.js';
import { DAY_MS, EXPIRED_AT_ONCE, type MemoryKind } from '../kind.js';
import type { Lines } from '../lines.js';

/** The series of points that name none. */
const USUAL_SERIES = 'default';
/** Members of an object whose numbers lie in the index. */
const MOST_MEMBERS = 32;
/** Names of series in one answer. */
const MOST_NAMES = 1_000;
/** Buckets in one answer. */
const MOST_BUCKETS = 10_000;

/** What happened when: all but nodes, edges and facts, by the name of their series, for `retention_days` from their time. */
export const timeSeries: MemoryKind<SeriesReads> = {
  name: 'timeseries',
  index: 'times',
  isOn: ({ timeseries: settings }) => settings !== undefined && settings.enabled !== false,
  takes: ({ type, timeMs }, config, nowMs) =>
    type !== 'node' && type !== 'edge' && type !== 'fact' && timeMs >= nowMs - config.timeseries!.retention_days! * DAY_MS,
  lines: ({ series = USUAL_SERIES, timeMs, data }) => [
    { index: 'series', key: [series, timeMs], value: numbersOf(data) },
    { index: 'times', key: [timeMs] },
  ],
  expired({ lines, config, nowMs }) {
    const oldestMs = nowMs() - config.timeseries!.retention_days! * DAY_MS;
    const first = lines.first('times', [], EXPIRED_AT_ONCE);
    return first.filter(({ key }) => (key[0] as number) < oldestMs).map(({ seq }) => seq);
  },
  open: ({ lines, config, nowMs }) => {
    /** Points past their time are not shown, whether or not they are removed yet. */
    const bounds = (filter: ReadFilter): { from: number; to: number } => {
      const { from, to } = timesOf(filter);
      return { from: Math.max(from, nowMs() - config.timeseries!.retention_days! * DAY_MS), to };
    };
    return {
      newest: (filter) => firstOf(lines.pages('times', { ...bounds(filter), newestFirst: true }), lines, filter),
      async names() {
        const names: string[] = [];
        for (let next = lines.firstBehind('series', undefined); next && names.length < MOST_NAMES; ) {
          names.push(next.key[0] as string);
          next = lines.firstBehind('series', names.at(-1));
        }
        return names;
      },
      range: (series, filter, newestFirst = false) =>
        firstOf(lines.pages('series', { prefix: [series], ...bounds(filter), newestFirst }), lines, filter),
      downsample: (series, everyMs, field, filter) => bucketsOf(lines, series, everyMs, field, filter, bounds(filter)),
    };
  },
};

/** What the index keeps of a point, so that sums need not read the record: a number, or the numbers of an object's members. */
function numbersOf(data: unknown): unknown {
  if (typeof data === 'number') return data;
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return null;
  const numbers = Object.entries(data).filter(([, value]) => typeof value === 'number');
  return numbers.length > MOST_MEMBERS ? null : Object.fromEntries(numbers);
}

/** What is summed up of one bucket of time. */
class Bucket {
  count = 0;
  #numbers = 0;
  #sum = 0;
  /** What rounding took from the sum (Neumaier). */
  #lost = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  first: unknown;
  last: unknown;

  constructor(readonly fromMs: number) {}

  add(value: unknown): void {
    if (this.count === 0) this.first = value;
    this.last = value;
    this.count += 1;
    if (typeof value !== 'number') return;
    this.#numbers += 1;
    const sum = this.#sum + value;
    this.#lost += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - sum + value : value - sum + this.#sum;
    this.#sum = sum;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }

  shown(): SeriesBucket {
    const { fromMs, count, first, last } = this;
    if (this.#numbers === 0) return { fromMs, count, mean: null, min: null, max: null, sum: null, first, last };
    const exact = this.#sum + this.#lost;
    const sum = Number.isFinite(exact) ? exact : this.#sum;
    return { fromMs, count, mean: sum / this.#numbers, min: this.#min, max: this.#max, sum, first, last };
  }
}

async function bucketsOf(
  lines: Lines,
  series: string,
  everyMs: number,
  field: string | undefined,
  filter: ReadFilter,
  bounds: { from: number; to: number },
): Promise<SeriesBucket[]> {
  const most = Math.min(MOST_BUCKETS, filter.limit ?? MOST_BUCKETS);
  const readsRecords = needsRecord(filter);
  const buckets: Bucket[] = [];
  const bucketAt = (fromMs: number): Bucket | undefined => {
    const last = buckets.at(-1);
    if (last?.fromMs === fromMs) return last;
    if (buckets.length >= most) return undefined;
    buckets.push(new Bucket(fromMs));
    return buckets.at(-1);
  };
  for await (const page of lines.pages('series', { prefix: [series], ...bounds })) {
    for (const { key, seq, value: numbers } of page) {
      let value = field === undefined ? numbers : (numbers as Record<string, unknown> | null)?.[field];
      if (readsRecords || typeof value !== 'number') {
        await breathe();
        const record = lines.record(seq);
        if (!record || !passesFilter(record, filter)) continue;
        value = memberOf(record.data, field);
      }
      if (value === undefined) continue;
      const bucket = bucketAt(Math.floor((key[1] as number) / everyMs) * everyMs);
      if (bucket) bucket.add(value);
      else if (filter.limit !== undefined) return buckets.map((one) => one.shown());
      else throw tooManyBuckets(series, everyMs);
    }
  }
  return buckets.map((bucket) => bucket.shown());
}

function tooManyBuckets(series: string, everyMs: number): Failure {
  const message = `The points of series ${quote(series)} fill more than ${MOST_BUCKETS} buckets of ${everyMs} ms: ask for larger buckets, or for less time.`;
  return new Failure('too_large', message, { code: 'TooManyBuckets' });
}

/** The value of a point; undefined where it has no such member. */
function memberOf(data: unknown, field: string | undefined): unknown {
  if (field === undefined) return data;
  return data !== null && typeof data === 'object' && Object.hasOwn(data, field) ? (data as Record<string, unknown>)[field] : undefined;
}
