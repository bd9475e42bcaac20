/** Markdown as a model writes it, to HTML that holds nothing but text, links and the elements below: what it takes for markup beyond that is shown as it was written. */
import DOMPurify from 'dompurify';
import { Marked, type Token, type TokenizerExtension } from 'marked';

/** Elements that a text may hold as HTML; every other tag is text, such as the `<T>` of a generic type. */
const TAGS = new Set(
  'a abbr b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td th thead tr u ul var'.split(
    ' ',
  ),
);
/** Attributes that hold no address. */
const ATTRIBUTES = 'title start align class data-math data-cite open checked disabled type colspan rowspan alt'.split(' ');
/** What a link may lead to. */
const ADDRESSES = /^(?:https?:|mailto:)/i;
/** Pictures that the text itself holds; those of other hosts would tell them that somebody reads it. */
const OWN_PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,/i;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

interface Found {
  readonly raw: string;
  readonly text: string;
  readonly isBlock?: boolean;
}

/** An extension that takes what `found` finds at the start of the source, behind the text `before`, for a token, whose HTML `html` writes. */
function extension(
  name: string,
  level: 'block' | 'inline',
  start: (source: string) => number | undefined,
  found: (source: string, before: string) => Found | undefined,
  html: (token: Found) => string,
): TokenizerExtension & { renderer(token: unknown): string } {
  return {
    name,
    level,
    start,
    tokenizer: (source, tokens) => {
      const token = found(source, tokens.at(-1)?.raw ?? '');
      return token && { type: name, ...token };
    },
    renderer: (token) => html(token as Found),
  };
}

const place = (source: string, pattern: RegExp): number | undefined => {
  const at = source.search(pattern);
  return at < 0 ? undefined : at;
};
const mathOf = (text: string, isBlock: boolean): string =>
  isBlock ? `<div class="math" data-math="block">${escaped(text)}</div>` : `<span class="math" data-math="inline">${escaped(text)}</span>`;

/** `$$...$$` and `\[...\]` on lines of their own. */
const mathBlock = extension(
  'mathBlock',
  'block',
  (source) => place(source, /(?:^|\n) {0,3}(?:\$\$|\\\[)/),
  (source) => {
    const match = /^ {0,3}(?:\$\$([^$]{1,10000}?)\$\$|\\\[([\s\S]{1,10000}?)\\\]) *(?:\n+|$)/.exec(source);
    return match ? { raw: match[0], text: (match[1] ?? match[2]!).trim() } : undefined;
  },
  ({ text }) => mathOf(text, true),
);
/** `$...$` that cannot be a price, `$$...$$`, `\(...\)` and `\[...\]` within a line. */
const mathInline = extension(
  'mathInline',
  'inline',
  (source) => place(source, /\$|\\[([]/),
  (source) => {
    const match =
      /^(?:\$\$([^$]{1,2000}?)\$\$|\$(?!\s)((?:[^$\n\\]|\\[^\n]){1,1000}?)(?<!\s)\$(?!\d)|\\\(([\s\S]{1,2000}?)\\\)|\\\[([\s\S]{1,2000}?)\\\])/.exec(
        source,
      );
    if (!match) return undefined;
    const isBlock = match[1] !== undefined || match[4] !== undefined;
    return { raw: match[0], text: (match[1] ?? match[2] ?? match[3] ?? match[4])!.trim(), isBlock };
  },
  // Within a paragraph a formula of its own line is still a span: a paragraph holds no blocks.
  ({ text, isBlock }) => (isBlock ? `<span class="math" data-math="block">${escaped(text)}</span>` : mathOf(text, false)),
);
/** `[1]` or `[Source 1]`: a passage that the answer may name; `a[1]` is a part of a list. */
const cite = extension(
  'cite',
  'inline',
  (source) => place(source, /\[(?:source )?\d/i),
  (source, before) => {
    const match = /^\[(?:source )?(\d{1,3})\](?![([:])/i.exec(source);
    return match && !/[\p{L}\p{N}_)\]]$/u.test(before) ? { raw: match[0], text: match[1]! } : undefined;
  },
  ({ text }) => `<span data-cite="${text}">[${text}]</span>`,
);

const marked = new Marked({ gfm: true, breaks: false, extensions: [mathBlock, mathInline, cite] as never });
marked.use({
  renderer: {
    html({ text }) {
      return text
        .replaceAll(/<!--[\s\S]*?-->/g, '')
        .replaceAll(/<\/?([A-Za-z][\w-]*)?(?:\s[^<>]*)?>?/g, (tag, name: string | undefined) =>
          name && TAGS.has(name.toLowerCase()) && tag.endsWith('>') ? tag : escaped(tag),
        );
    },
    image({ href, text }) {
      const name = escaped(text || 'picture');
      return OWN_PICTURE.test(href) ? `<img src="${escaped(href)}" alt="${name}">` : `<a href="${escaped(href)}">Picture: ${name}</a>`;
    },
  },
});

const purify = DOMPurify(window);
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  if (!ADDRESSES.test(node.getAttribute('href') ?? '')) node.removeAttribute('href');
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});

/** The tokens of the blocks of a text; their `raw` texts make up the text. */
export function blocksOf(text: string): Token[] {
  return marked.lexer(text);
}

/** A block as elements that are safe to show. */
export function fragmentOf(block: Token): DocumentFragment {
  return purify.sanitize(marked.parser([block]), {
    ALLOWED_TAGS: [...TAGS, 'img', 'input'],
    ALLOWED_ATTR: [...ATTRIBUTES, 'href', 'src'],
    ADD_URI_SAFE_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/(?:png|jpeg|gif|webp);base64,)/i,
    RETURN_DOM_FRAGMENT: true,
  });
}

/** The beginning of a text without its marks, as it is read aloud; at most so many letters. */
export function plainOf(text: string, most: number): string {
  const plain = blocksOf(text.slice(0, 2 * most))
    .map((block) => fragmentOf(block).textContent)
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return plain.length > most || text.length > 2 * most ? `${plain.slice(0, most)} ...` : plain;
}
