// How an answer is compared with what was expected.

const ARTICLES = new Set(['a', 'an', 'the']);
/** Words that only lead to a place or a time: "in 1987" answers "when" as "1987" does. */
const LEADS = new Set(['in', 'on', 'at', 'by', 'to', 'from', 'of']);

/** Words of a text, without case, marks and articles. */
export function words(text) {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s.,:/-]/gu, ' ')
    .split(/\s+/)
    .map((word) => word.replaceAll(/^[.,:/-]+|[.,:/-]+$/g, ''))
    .filter((word) => word !== '' && !ARTICLES.has(word));
}

/** Overlap of the words of two texts, 0 to 1: the harmonic mean of precision and recall, as SQuAD counts it. */
export function f1(answer, expected) {
  const [given, wanted] = [words(answer), words(expected)];
  if (given.length === 0 || wanted.length === 0) return given.length === wanted.length ? 1 : 0;
  const left = new Map();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of given) {
    const rest = left.get(word) ?? 0;
    if (rest > 0) common += 1;
    left.set(word, rest - 1);
  }
  if (common === 0) return 0;
  const [precision, recall] = [common / given.length, common / wanted.length];
  return (2 * precision * recall) / (precision + recall);
}

/** The same words, whatever little word leads. */
export function exact(answer, expected) {
  const bare = (text) => {
    const all = words(text);
    return (LEADS.has(all[0]) ? all.slice(1) : all).join(' ');
  };
  return bare(answer) === bare(expected);
}

/** The best of several accepted answers. */
export function best(score, answer, accepted) {
  return Math.max(...accepted.map((one) => Number(score(answer, one))));
}

/** JSON of an answer; undefined where it is none, a code fence around it aside. */
export function jsonOf(answer) {
  try {
    return JSON.parse(answer.trim().replace(/^```(?:json)?\s*|\s*```$/g, ''));
  } catch {
    return undefined;
  }
}

const plain = (value) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase().trim() : JSON.stringify(value);

/** Equal as values; numbers and their text count as the same, and so do capitals. */
export function sameValue(a, b) {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, index) => sameValue(one, b[index]));
  if (typeof a === 'object' && typeof b === 'object' && a && b) {
    const keys = Object.keys(b);
    return Object.keys(a).length === keys.length && keys.every((key) => key in a && sameValue(a[key], b[key]));
  }
  return plain(a) === plain(b);
}

/** Share of the expected members of an object, or of a list, that an answer has. */
export function valueShare(given, wanted) {
  const members = (value) =>
    Array.isArray(value) ? value.map((one) => ['', plain(one)]) : Object.entries(value ?? {}).map(([k, v]) => [k, plain(v)]);
  const have = new Set(members(given ?? {}).map((pair) => pair.join('\0')));
  const all = members(wanted);
  return all.filter((pair) => have.has(pair.join('\0'))).length / all.length;
}

/** The longest run of words that comes three times or more in a row, as a share of the text: 0 for healthy text. */
export function loopShare(text) {
  const all = text.split(/\s+/).filter((word) => word !== '');
  let worst = 0;
  for (let size = 1; size <= Math.min(12, Math.floor(all.length / 3)); size += 1) {
    for (let at = 0; at + 3 * size <= all.length; at += 1) {
      const unit = all.slice(at, at + size).join(' ');
      let times = 1;
      while (all.slice(at + times * size, at + (times + 1) * size).join(' ') === unit) times += 1;
      if (times >= 3) worst = Math.max(worst, times * size);
    }
  }
  return all.length === 0 ? 0 : worst / all.length;
}
