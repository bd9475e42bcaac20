/** A stretch of a line without a wide gap; its place along the line is in points. */
export interface Segment {
  readonly text: string;
  readonly left: number;
  readonly right: number;
}

/** A line with the places of its stretches, from left to right. */
export interface PlacedLine {
  readonly segments: readonly Segment[];
  readonly fontSize: number;
  readonly y: number;
}

/** A gutter is passed from left to right this often, at least, before it separates columns of text. */
const ROWS = 4;
/** Columns of text are at least so many font sizes wide, and half of their lines fill this share of the width. */
const COLUMN_SIZES = 8;
const FILLED = 0.6;
/** Share of lines that go on in the middle of a sentence; cells of a table begin anew. */
const CONTINUING = 0.3;
const BEGINS_ANEW = /^[\p{Lu}\p{Lt}\p{N}\p{Sc}\p{Pd}•▪◦*+]/u;
/** Places that are tried as gutters of one stretch of lines, those of most gaps first. */
const GUTTERS = 8;
/** Segments that begin this close to each other, in points, begin at the same gutter; its place is as far left of them as the margin says. */
const GUTTER_STEP = 6;
const MARGIN = 1;
/** A line that stands this many times its type size above the one before begins another part of the page. */
const RISE_SIZES = 0.5;
/** Columns beside each other are found one gutter at a time. */
const COLUMN_LIMIT = 8;

/** Lines that go across columns of text, because the page was drawn line by line, become those of one column after the other. */
export function columnsApart(lines: readonly PlacedLine[]): PlacedLine[] {
  const parts: PlacedLine[][] = [];
  lines.forEach((line, at) => {
    const before = lines[at - 1];
    if (before && line.y <= before.y + RISE_SIZES * line.fontSize) parts.at(-1)!.push(line);
    else parts.push([line]);
  });
  return parts.flatMap((part) => splitAtGutters(part, COLUMN_LIMIT));
}

function splitAtGutters(lines: readonly PlacedLine[], limit: number): readonly PlacedLine[] {
  if (limit === 0 || lines.length < ROWS) return lines;
  const found = guttersOf(lines)
    .map((at) => longestStretch(lines, at))
    .filter(({ rows, columns }) => rows >= ROWS && columns.every(isText))
    .reduce<Stretch | undefined>((best, one) => (best && best.rows >= one.rows ? best : one), undefined);
  if (!found) return lines;
  return [
    ...splitAtGutters(lines.slice(0, found.from), limit - 1),
    ...found.columns.flatMap((column) => splitAtGutters(column, limit - 1)),
    ...splitAtGutters(lines.slice(found.to), limit - 1),
  ];
}

/** Places just left of where segments begin beside others, those that most lines share first. */
function guttersOf(lines: readonly PlacedLine[]): number[] {
  const begins = new Map<number, { count: number; least: number }>();
  let before: Segment | undefined;
  for (const segment of lines.flatMap((line) => line.segments)) {
    if (before && segment.left > before.right) {
      const place = Math.round(segment.left / GUTTER_STEP);
      const { count, least } = begins.get(place) ?? { count: 0, least: segment.left };
      begins.set(place, { count: count + 1, least: Math.min(least, segment.left) });
    }
    before = segment;
  }
  return [...begins.values()]
    .filter(({ count }) => count >= ROWS / 2)
    .sort((one, other) => other.count - one.count)
    .slice(0, GUTTERS)
    .map(({ least }) => least - MARGIN);
}

/** Lines beside each other that no segment crosses at a gutter, divided there. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** How often the drawing goes from the left of the gutter to the right. */
  readonly rows: number;
  readonly columns: readonly [left: PlacedLine[], right: PlacedLine[]];
}

function longestStretch(lines: readonly PlacedLine[], gutter: number): Stretch {
  let best: Stretch = { from: 0, to: 0, rows: 0, columns: [[], []] };
  for (let from = 0; from < lines.length; ) {
    const one = stretchFrom(lines, from, gutter);
    if (one.rows > best.rows) best = one;
    from = one.to + 1;
  }
  return best;
}

function stretchFrom(lines: readonly PlacedLine[], from: number, gutter: number): Stretch {
  const columns: [PlacedLine[], PlacedLine[]] = [[], []];
  let rows = 0;
  let wasLeft = false;
  let to = from;
  for (; to < lines.length; to += 1) {
    const line = lines[to]!;
    const left = line.segments.filter((one) => one.right <= gutter);
    const right = line.segments.filter((one) => one.left >= gutter);
    if (left.length + right.length < line.segments.length) break;
    if (left.length > 0) columns[0].push({ ...line, segments: left });
    if (right.length > 0) columns[1].push({ ...line, segments: right });
    if (right.length > 0 && (left.length > 0 || wasLeft)) rows += 1;
    wasLeft = right.length === 0;
  }
  return { from, to, rows, columns };
}

/** Whether a column is of running text, to be read down, and not of a table, to be read across. */
function isText(lines: readonly PlacedLine[]): boolean {
  const segments = lines.flatMap((line) => line.segments);
  const widths = segments.map(({ left, right }) => right - left).sort((one, other) => one - other);
  const usual = widths[Math.floor(widths.length / 2)]!;
  const { fontSize } = lines[Math.floor(lines.length / 2)]!;
  const continuing = segments.filter(({ text }) => !BEGINS_ANEW.test(text)).length;
  return usual >= COLUMN_SIZES * fontSize && usual >= FILLED * widths.at(-1)! && continuing >= CONTINUING * segments.length;
}
