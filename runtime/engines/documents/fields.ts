/** A value between tags, and where it stands in the text. */
export interface TaggedValue {
  /** Tags on the way to it, such as `menu[1].price`. */
  readonly key: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

const TAG = /<(\/?)s_([^<>]{1,200})>|<sep\/>/g;
const DEPTH_LIMIT = 16;

interface Open {
  readonly name: string;
  /** Of the entries that `<sep/>` divides. */
  readonly entry: number;
  /** Where the text after the last tag begins. */
  readonly textStart: number;
  hasInner: boolean;
}

/**
 * The values that a document model writes as `<s_key>value</s_key>`. Groups give their values with the path to them; what `<sep/>` divides is
 * numbered from its second entry on. A tag that is not closed ends with the group around it.
 */
export function taggedValues(text: string): TaggedValue[] {
  const found: TaggedValue[] = [];
  const stack: Open[] = [];
  const take = (end: number): void => {
    const open = stack.at(-1);
    if (!open || open.hasInner) return;
    const raw = text.slice(open.textStart, end);
    const value = raw.trim();
    if (value === '') return;
    const start = open.textStart + raw.indexOf(value);
    const key = stack.map(({ name, entry }) => (entry > 0 ? `${name}[${entry}]` : name)).join('.');
    found.push({ key, value, start, end: start + value.length });
  };
  for (const match of text.matchAll(TAG)) {
    const [tag, closing, name] = match;
    const after = match.index + tag.length;
    if (name === undefined) {
      take(match.index);
      const open = stack.pop();
      if (open) stack.push({ name: open.name, entry: open.entry + 1, textStart: after, hasInner: false });
    } else if (closing === '') {
      const outer = stack.at(-1);
      if (outer) outer.hasInner = true;
      if (stack.length < DEPTH_LIMIT) stack.push({ name, entry: 0, textStart: after, hasInner: false });
    } else {
      const at = stack.findLastIndex((open) => open.name === name);
      if (at < 0) continue;
      take(match.index);
      stack.length = at;
    }
  }
  take(text.length);
  return found;
}
