/** Matching takes the product of the lengths at worst. */
const LONGEST_UNITS = 1024;

/**
 * Whether a name or path matches a file pattern: `*` any text within a folder, `**` across folders, `?` one character, `{a,b}` either.
 * Case does not count. A pattern without a slash is matched against the last part of the path. Longer patterns and paths than 1,024 match nothing.
 */
export function matchesPattern(path: string, pattern: string): boolean {
  if (pattern.length > LONGEST_UNITS || path.length > LONGEST_UNITS) return false;
  const target = pattern.includes('/') ? path : path.slice(path.lastIndexOf('/') + 1);
  return alternatives(pattern).some((one) => matchesGlob(target.toLowerCase(), one.toLowerCase()));
}

/** The pattern once for each text in its first braces. */
function alternatives(pattern: string): string[] {
  const match = /^([^{]*)\{([^{}]*)\}([^{}]*)$/.exec(pattern);
  return match ? match[2]!.split(',').map((one) => match[1]! + one + match[3]!) : [pattern];
}

/** Where matching goes on when the pattern behind a star does not fit: one code unit further. */
interface Star {
  /** Place in the pattern behind the star. */
  readonly behind: number;
  /** Place in the text that the star reaches. */
  reach: number;
}

/** Greedy matching with two places to return to: the last `*`, which stays within a folder, and the last `**`. */
function matchesGlob(text: string, pattern: string): boolean {
  let at = 0;
  let to = 0;
  let narrow: Star | undefined;
  let wide: Star | undefined;
  while (at < text.length) {
    const sign = pattern[to];
    if (sign === '*' && pattern[to + 1] === '*') {
      // `**/` stands for no folder at all too.
      to += pattern[to + 2] === '/' ? 3 : 2;
      wide = { behind: to, reach: at };
      narrow = undefined;
    } else if (sign === '*') {
      to += 1;
      narrow = { behind: to, reach: at };
    } else if (sign !== undefined && (sign === text[at] || (sign === '?' && text[at] !== '/'))) {
      at += 1;
      to += 1;
    } else {
      if (narrow && text[narrow.reach] === '/') narrow = undefined;
      const star: Star | undefined = narrow ?? wide;
      if (!star) return false;
      star.reach += 1;
      at = star.reach;
      to = star.behind;
    }
  }
  while (pattern[to] === '*') to += 1;
  return to === pattern.length;
}
