/** A list of label values, in the order of the names that the metric was made with. */
type Labels = readonly string[];

/** More series than this of one metric are counted together under the label value `other`, so that no client can fill the memory with them. */
const MOST_SERIES = 1000;
const OTHER = 'other';

interface Metric {
  readonly name: string;
  /** Its lines in Prometheus' text format, without the two that describe it. */
  lines(): string[];
  readonly kind: 'counter' | 'histogram';
  readonly help: string;
}

const metrics: Metric[] = [];

/** A text as the value of a label. */
const quoted = (text: string): string => `"${text.replaceAll(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))}"`;

/** Labels as they stand behind a name; empty without any. */
function renderLabels(names: readonly string[], values: Labels): string {
  return names.length === 0 ? '' : `{${names.map((name, index) => `${name}=${quoted(values[index] ?? '')}`).join(',')}}`;
}

/** One line of Prometheus' text format. */
export function metricLine(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  return `${name}${renderLabels(Object.keys(labels), Object.values(labels))} ${value}`;
}

/** Values by their labels, made when they are first asked for. */
class Series<Value> {
  readonly #values = new Map<string, { readonly labels: Labels; readonly value: Value }>();
  readonly #make: () => Value;

  constructor(make: () => Value) {
    this.#make = make;
  }

  of(labels: Labels): Value {
    const key = labels.join('\0');
    const found = this.#values.get(key);
    if (found) return found.value;
    const isFull = this.#values.size >= MOST_SERIES;
    if (isFull && labels.some((label) => label !== OTHER)) return this.of(labels.map(() => OTHER));
    const value = this.#make();
    this.#values.set(key, { labels, value });
    return value;
  }

  all(): IterableIterator<{ readonly labels: Labels; readonly value: Value }> {
    return this.#values.values();
  }
}

/** A number that only grows, by labels. */
export class Counter implements Metric {
  readonly kind = 'counter';
  readonly #names: readonly string[];
  readonly #series = new Series(() => ({ count: 0 }));

  /** Names end in `_total`; made once, where they are counted. */
  constructor(
    readonly name: string,
    readonly help: string,
    names: readonly string[],
  ) {
    this.#names = names;
    metrics.push(this);
  }

  add(labels: Labels, count = 1): void {
    this.#series.of(labels).count += count;
  }

  lines(): string[] {
    return [...this.#series.all()].map(({ labels, value }) => `${this.name}${renderLabels(this.#names, labels)} ${value.count}`);
  }
}

/** How often values up to each of some bounds came, by labels. */
export class Histogram implements Metric {
  readonly kind = 'histogram';
  readonly #names: readonly string[];
  readonly #bounds: readonly number[];
  readonly #series: Series<{ readonly counts: number[]; sum: number }>;

  /** Names end in the unit, such as `_seconds`; bounds rise. */
  constructor(
    readonly name: string,
    readonly help: string,
    names: readonly string[],
    bounds: readonly number[],
  ) {
    this.#names = names;
    this.#bounds = bounds;
    this.#series = new Series(() => ({ counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 }));
    metrics.push(this);
  }

  observe(labels: Labels, value: number): void {
    const series = this.#series.of(labels);
    let place = 0;
    while (place < this.#bounds.length && value > this.#bounds[place]!) place += 1;
    series.counts[place]! += 1;
    series.sum += value;
  }

  lines(): string[] {
    return [...this.#series.all()].flatMap(({ labels, value: { counts, sum } }) => {
      let below = 0;
      const buckets = counts.map((count, place) => {
        below += count;
        const bound = place === this.#bounds.length ? '+Inf' : String(this.#bounds[place]);
        return `${this.name}_bucket${renderLabels([...this.#names, 'le'], [...labels, bound])} ${below}`;
      });
      const own = renderLabels(this.#names, labels);
      return [...buckets, `${this.name}_sum${own} ${sum}`, `${this.name}_count${own} ${below}`];
    });
  }
}

/** Bounds in seconds for what takes from a millisecond to minutes. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300] as const;

/** What was counted in this process, in Prometheus' text format 0.0.4. */
export function countedMetrics(): string[] {
  return metrics.flatMap((metric) => {
    const lines = metric.lines();
    return lines.length === 0 ? [] : [`# HELP ${metric.name} ${metric.help}`, `# TYPE ${metric.name} ${metric.kind}`, ...lines];
  });
}
