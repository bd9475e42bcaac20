import type { Document, Node, Scalar, YAMLMap } from 'yaml';
import { withoutTextSecrets } from '../../schemas/secrets.js';
import { isObject, type JsonObject, sameJson } from '../base/json.js';
import { freshYaml } from './edit.js';
import { type FileFormat, parseProjectText, Unparsable, yaml } from './parse.js';
import type { Path } from './problems.js';
import { withoutSecrets, withSecretsOf } from './secrets.js';

/** The text of a project file and how it is written. */
export interface FileText {
  readonly text: string;
  readonly format: FileFormat;
}

/** A text for a project file, and what it says. */
export interface ParsedText extends FileText {
  readonly value: JsonObject;
}

/** What stands between two characters of a text, and what shall stand there. */
interface Replacement {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** That a value has no place of its own in a text, so that it cannot be replaced there. */
class Misplaced extends Error {}

/**
 * A project file's text for readers: YAML, each secret as `***`, and all else as it was written, comments and layout too. A file in another format is written as
 * YAML; one that cannot be parsed comes line by line, without what looks like a secret.
 */
export function maskedText({ text, format }: FileText): string {
  try {
    const { value, document } = parseProjectText(text, format);
    const shown = withoutSecrets(value);
    return document ? withValues(text, document, value, shown, maskComment) : freshYaml(shown);
  } catch (cause) {
    if (!(cause instanceof Unparsable)) throw cause;
    return text
      .split('\n')
      .map((line) => withoutTextSecrets(line))
      .join('\n');
  }
}

/**
 * The text that a reader of `maskedText` sends, with the secrets of the present file where it has their masks. Throws `Unparsable`, and `invalid` (SecretMissing) as
 * `withSecretsOf` does; `where` goes before the path of an error.
 */
export function unmaskedText(sent: string, present: FileText | null, where: Path): ParsedText {
  const { value, document } = parseProjectText(sent, 'yaml');
  const current = present && readable(present);
  const whole = withSecretsOf(value, current?.value ?? null, where);
  const comments = commentsBehind(current?.document ? present!.text : '');
  const text = withValues(sent, document!, value, whole, (shown) => comments.get(shown)?.shift() ?? shown);
  return { text, format: 'yaml', value: whole };
}

function readable({ text, format }: FileText): ReturnType<typeof parseProjectText> | null {
  try {
    return parseProjectText(text, format);
  } catch (cause) {
    if (cause instanceof Unparsable) return null;
    throw cause;
  }
}

/** Comments of a text that are shown otherwise, by how they are shown. */
function commentsBehind(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { text: comment } of commentsOf(text) ?? []) {
    const shown = maskComment(comment);
    if (shown !== comment) found.set(shown, [...(found.get(shown) ?? []), comment]);
  }
  return found;
}

function maskComment(comment: string): string {
  return withoutTextSecrets(comment);
}

/** A YAML text that says `after` where it says `before`, with its comments as `commented` gives them. A text that cannot be changed in place is written anew. */
function withValues(
  text: string,
  document: Document,
  before: JsonObject,
  after: JsonObject,
  commented: (comment: string) => string,
): string {
  try {
    const places = new Map<number, Replacement>();
    const comments = commentsOf(text);
    if (!comments) throw new Misplaced();
    for (const { from, to, text: comment } of comments) places.set(from, { from, to, text: commented(comment) });
    collect(text, document, document.contents, before, after, places);
    let [out, end] = ['', 0];
    for (const place of [...places.values()].sort((a, b) => a.from - b.from)) {
      out += text.slice(end, place.from) + place.text;
      end = place.to;
    }
    out += text.slice(end);
    if (sameJson(parseProjectText(out, 'yaml').value, after)) return out;
  } catch (cause) {
    if (!(cause instanceof Misplaced || cause instanceof Unparsable)) throw cause;
  }
  return freshYaml(after);
}

/** Finds where the values stand in which two configurations differ. */
function collect(
  text: string,
  document: Document,
  found: unknown,
  before: unknown,
  after: unknown,
  places: Map<number, Replacement>,
): void {
  if (before === after || sameJson(before, after)) return;
  const node = yaml().isAlias(found) ? found.resolve(document) : found;
  if (yaml().isMap(node) && isObject(before) && isObject(after)) {
    for (const key of Object.keys(after)) collect(text, document, memberOf(document, node, key), before[key], after[key], places);
  } else if (yaml().isSeq(node) && Array.isArray(before) && Array.isArray(after)) {
    for (const [at, one] of after.entries()) collect(text, document, node.items[at], before[at], one, places);
  } else if (yaml().isScalar(node) && node.range) {
    const place = replacement(text, node, after);
    // An anchor that stands for two values would need two texts.
    if ((places.get(place.from)?.text ?? place.text) !== place.text) throw new Misplaced();
    places.set(place.from, place);
  } else throw new Misplaced();
}

function replacement(text: string, { range }: Scalar, value: unknown): Replacement {
  const [from, to] = range!;
  // A block of lines ends with the line's end.
  return { from, to, text: JSON.stringify(value) + (text[to - 1] === '\n' ? '\n' : '') };
}

/** The value at a key of a map, also one that a merge key brings. */
function memberOf(document: Document, map: YAMLMap, key: string): Node | undefined {
  const own = map.items.find((pair) => yaml().isScalar(pair.key) && String(pair.key.value) === key);
  if (own) return own.value as Node;
  for (const { key: name, value } of map.items) {
    if (!yaml().isScalar(name) || name.source !== '<<') continue;
    for (const one of yaml().isSeq(value) ? value.items : [value]) {
      const merged = yaml().isAlias(one) ? one.resolve(document) : one;
      const member = yaml().isMap(merged) ? memberOf(document, merged, key) : undefined;
      if (member) return member;
    }
  }
  return undefined;
}

/** Signs between the words of the YAML library's lexer that are no part of the text; the last says that a scalar follows. */
const SIGNS: readonly string[] = ['\x02', '\x18', '\x1f'];
const SCALAR = '\x1f';

/** The comments of a YAML text, from their `#` on; undefined where their places are not sure: in a text that holds the lexer's signs itself. */
function commentsOf(text: string): Replacement[] | undefined {
  const found: Replacement[] = [];
  let [at, before] = [0, ''];
  for (const word of new (yaml().Lexer)().lex(text)) {
    if (word.startsWith('#') && before !== SCALAR) found.push({ from: at, to: at + word.length, text: word });
    if (!SIGNS.includes(word)) at += word.length;
    before = word;
  }
  return at === text.length ? found : undefined;
}
