/** Numbers for data sets that golden.py repeats to the bit: mulberry32, and +, -, * and / alone. */
class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  normal(): number {
    let total = -6;
    for (let i = 0; i < 12; i += 1) total += this.uniform();
    return total;
  }
}

/** Makes one row; `odd` rows are the anomalies. */
type Maker = (draws: Draws, odd: boolean) => number[];

const list = (length: number, make: (index: number) => number): number[] => Array.from({ length }, (_, index) => make(index));

function blobs(columns: number, centres: number, spread: number, deviations = [1]): Maker {
  const places = new Draws(columns * 1000 + centres);
  const middles = Array.from({ length: centres }, () => list(columns, () => (places.uniform() * 2 - 1) * spread));
  return (draws, odd) => {
    if (odd) return list(columns, () => (draws.uniform() * 2 - 1) * spread * 1.5);
    const which = Math.trunc(draws.uniform() * centres);
    const deviation = deviations[which % deviations.length]!;
    return list(columns, (k) => middles[which]![k]! + draws.normal() * deviation);
  };
}

const correlated: Maker = (draws, odd) => {
  const common = draws.normal();
  return list(5, (k) => (odd ? draws.normal() * 2 : common * (k + 1) * 0.5 + draws.normal() * 0.2));
};

const heavy: Maker = (draws, odd) =>
  list(4, () => {
    const u = draws.uniform() * 2 - 1;
    return (u / (1 - u * u + 1e-3)) * (odd ? 8 : 1);
  });

const categorical: Maker = (draws, odd) => {
  const first = Math.trunc(draws.uniform() * 4);
  const second = Math.trunc(draws.uniform() * draws.uniform() * 3);
  const numbers = list(3, () => draws.normal() + first + (odd ? 4 : 0));
  return [...numbers, ...list(4, (k) => Number(k === first)), ...list(3, (k) => Number(k === second))];
};

const constant: Maker = (draws, odd) => [draws.normal() * (odd ? 4 : 1), 0.1, draws.normal(), 5, draws.uniform()];

const oneColumn: Maker = (draws, odd) => [odd ? 6 + draws.normal() * 3 : draws.normal()];

const wide: Maker = (draws, odd) => {
  const common = draws.normal();
  return list(300, () => draws.normal() * (odd ? 2.5 : 1) + common * 0.5);
};

const duplicates: Maker = (draws, odd) => list(2, () => Math.trunc(draws.uniform() * 4) + (odd ? 5 : 0));

const ring: Maker = (draws, odd) => {
  for (;;) {
    const [x, y] = [draws.uniform() * 2 - 1, draws.uniform() * 2 - 1];
    const square = x * x + y * y;
    if (odd ? square < 0.3 : square > 0.6 && square < 1) return [x, y];
  }
};

const line: Maker = (draws, odd) => {
  const x = draws.normal();
  return [x, 2 * x, 3 * x + (odd ? 4 : 0) + draws.normal()];
};

const cube: Maker = (draws, odd) => list(6, (k) => draws.uniform() + (odd && k < 2 ? 0.8 : 0));

const skewed: Maker = (draws, odd) =>
  list(4, () => {
    const u = draws.uniform();
    return (u / (1.01 - u)) * (odd ? 3 : 1);
  });

const scaled =
  (factor: number, offset: number): Maker =>
  (draws, odd) =>
    list(3, () => offset + factor * draws.normal() * (odd ? 5 : 1));

const counts: Maker = (draws, odd) => list(5, () => Math.trunc(draws.uniform() * draws.uniform() * (odd ? 60 : 20)));

const shell: Maker = (draws, odd) => {
  for (;;) {
    const [x, y, z] = [draws.uniform() * 2 - 1, draws.uniform() * 2 - 1, draws.uniform() * 2 - 1];
    const square = x * x + y * y + z * z;
    if (odd ? square < 0.2 : square > 0.8 && square < 1) return [x, y, z];
  }
};

const uneven: Maker = (draws, odd) => {
  if (odd) return [8 + draws.normal() * 0.3, 8 + draws.normal() * 0.3, draws.normal()];
  const which = Math.trunc(draws.uniform() * draws.uniform() * 7);
  return [which * 6 + draws.normal() * 0.5, (which % 3) * 5 + draws.normal() * 0.5, draws.normal()];
};

/** Eight clusters of unequal size so far apart that every good k-means finds them. */
function farApart(columns: number): Maker {
  const places = new Draws(columns);
  const middles = Array.from({ length: 8 }, () => list(columns, () => (places.uniform() * 2 - 1) * 1000));
  return (draws, odd) => {
    const which = Math.trunc(draws.uniform() * draws.uniform() * 8);
    return list(columns, (k) => middles[which]![k]! + draws.normal() * (odd ? 6 : 1));
  };
}

/** Name, maker, rows to fit, share of anomalies. */
const DATASETS: readonly [string, Maker, number, number][] = [
  ['blobs in 2 columns', blobs(2, 3, 10), 300, 0.05],
  ['blobs in 10 columns', blobs(10, 8, 12), 400, 0.05],
  ['unequal density', blobs(2, 2, 6, [0.1, 1.5]), 300, 0.05],
  ['correlated', correlated, 300, 0.08],
  ['heavy tails', heavy, 500, 0.05],
  ['categorical mix', categorical, 300, 0.06],
  ['constant columns', constant, 200, 0.05],
  ['one column', oneColumn, 250, 0.05],
  ['300 columns', wide, 120, 0.05],
  ['duplicates', duplicates, 200, 0.05],
  ['two rows', blobs(2, 1, 3), 2, 0],
  ['three rows', blobs(3, 1, 3), 3, 0],
  ['ring', ring, 400, 0.05],
  ['line', line, 200, 0.05],
  ['cube', cube, 300, 0.05],
  ['skewed', skewed, 300, 0.05],
  ['far from zero', scaled(1, 1e6), 200, 0.05],
  ['tiny numbers', scaled(1e-6, 0), 200, 0.05],
  ['counts', counts, 300, 0.05],
  ['blobs in 20 columns', blobs(20, 4, 8), 400, 0.05],
  ['twenty rows', blobs(3, 2, 5), 20, 0],
  ['shell', shell, 300, 0.05],
  ['uneven clusters', uneven, 400, 0.04],
  ['1200 rows', blobs(6, 1, 7), 1200, 0.08],
];

/** For cblof, whose scores can be compared where k-means agrees. */
const CLUSTERED = [2, 3, 4, 5, 6, 8, 11, 15, 21, 30, 44, 60].map((columns): (typeof DATASETS)[number] => [
  `far apart in ${columns} columns`,
  farApart(columns),
  250 + columns,
  0.05,
]);

const QUERIES = 24;

/** Rows of one kind, one after the other. */
export interface Dataset {
  name: string;
  columns: number;
  fitted: Float64Array;
  /** Which of the fitted rows are anomalies. */
  labels: boolean[];
  /** Half of them are the first fitted ones. */
  queries: Float64Array;
}

/** The data sets that golden.py knows the scores of, made again. */
export function datasets(): Dataset[] {
  return [...DATASETS, ...CLUSTERED].map(([name, make, count, share], index) => {
    const draws = new Draws(index + 1);
    const labels = Array.from({ length: count }, () => draws.uniform() < share);
    const fitted = labels.map((odd) => make(draws, odd));
    const half = QUERIES / 2;
    const queries = [...fitted.slice(0, half), ...Array.from({ length: half }, (_, i) => make(draws, i % 3 === 0))];
    const flat = (rows: number[][]): Float64Array => Float64Array.from(rows.flat());
    return { name, columns: fitted[0]!.length, fitted: flat(fitted), labels, queries: flat(queries) };
  });
}

/** The area under the ROC curve: the chance that an anomaly scores higher than another row, a tie counting half. */
export function rocArea(labels: boolean[], scores: Float64Array): number {
  let [sum, pairs] = [0, 0];
  for (const [i, odd] of labels.entries())
    for (const [j, other] of labels.entries())
      if (odd && !other) {
        sum += scores[i]! > scores[j]! ? 1 : scores[i] === scores[j] ? 0.5 : 0;
        pairs += 1;
      }
  return sum / pairs;
}
