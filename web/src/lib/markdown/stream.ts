/**
 * A Markdown text shown block by block while it grows: a block that is complete is rendered once and then left alone; only the last, open one is parsed and
 * rendered again.
 */
import type { Token, Tokens } from 'marked';
import { codeBlock, colour, decorate, markSources, writeCode } from './decorate';
import { morph } from './morph';
import { blocksOf, fragmentOf } from './parse';

/** Longer blocks are shown as they were written: nobody reads them, and parsing them would hold the page. */
const LONGEST_BLOCK = 50_000;
/** Items of a list that are parsed together; a longer list is several, which go on counting. */
const ITEMS = 20;
/** A long text is rendered in slices of so many milliseconds: between them the page answers keys. */
const SLICE_MS = 12;
const FENCE = /^ {0,3}(?:`{3,}|~{3,})/m;

export class MarkdownStream {
  readonly #box: HTMLElement;
  #text = '';
  /** Whether the text was said to be whole: its last block is closed. */
  #isWhole = false;
  #sources: ReadonlySet<string> = new Set();
  /** Where the open block begins in the text. */
  #openAt = 0;
  #open: HTMLElement | undefined;
  /** The text of an open block of code. */
  #openCode: Text | undefined;
  /** The next slice of a text under way. */
  #next: ReturnType<typeof setTimeout> | undefined;

  constructor(box: HTMLElement) {
    this.#box = box;
  }

  /** Shows a text. One that goes on from the text before it costs what is new; `isWhole` says that no more comes. */
  show(given: string, isWhole: boolean): void {
    const text = given.includes('\r') ? given.replaceAll(/\r\n?/g, '\n') : given;
    clearTimeout(this.#next);
    const isReopened = this.#isWhole && (!isWhole || text.length > this.#text.length);
    if (isReopened || !text.startsWith(this.#text)) this.#restart();
    [this.#text, this.#isWhole] = [text, isWhole];
    const rest = text.slice(this.#openAt);
    if (!isWhole && this.#growCode(rest)) return;
    const blocks = parsed(rest);
    const last = blocks.findLastIndex(({ type }) => type !== 'space');
    const closed = isWhole || last < 0 ? blocks.length : last;
    this.#work(blocks.slice(0, closed), isWhole ? undefined : blocks[closed]);
  }

  /** Names the passages whose marks are buttons; other numbers in brackets are text. */
  cite(sources: ReadonlySet<string>): void {
    this.#sources = sources;
    markSources(this.#box, sources);
  }

  /** Ends what is under way. */
  stop(): void {
    clearTimeout(this.#next);
  }

  /** Renders blocks that are complete, then the open one. */
  #work(closed: readonly Token[], open: Token | undefined): void {
    const untilMs = performance.now() + SLICE_MS;
    for (const [at, block] of closed.entries()) {
      this.#close(block);
      if (performance.now() < untilMs) continue;
      this.#next = setTimeout(() => this.#work(closed.slice(at + 1), open));
      return;
    }
    if (open) this.#render(open);
  }

  #restart(): void {
    this.#box.replaceChildren();
    [this.#text, this.#openAt, this.#open, this.#openCode] = ['', 0, undefined, undefined];
  }

  /** Adds to the code of an open block without parsing it; false where it may have ended. */
  #growCode(rest: string): boolean {
    const shown = this.#openCode;
    const head = shown && /^(?:`{3,}|~{3,})[^\n]*\n/.exec(rest)?.[0];
    if (!shown || !head) return false;
    const code = rest.slice(head.length);
    const lineAt = code.lastIndexOf('\n', shown.length - 1) + 1;
    if (!code.startsWith(shown.data) || FENCE.test(code.slice(lineAt))) return false;
    shown.appendData(code.slice(shown.length));
    return true;
  }

  #close(block: Token): void {
    this.#openAt += block.raw.length;
    if (block.type === 'space' || block.type === 'def') return;
    colour(this.#render(block));
    [this.#open, this.#openCode] = [undefined, undefined];
  }

  #render(block: Token): HTMLElement {
    const box = this.#open ?? this.#box.appendChild(document.createElement('div'));
    this.#open = box;
    if (block.type === 'code') {
      if (box.querySelector(':scope > .code') === null) box.replaceChildren(codeBlock());
      this.#openCode = writeCode(box, block as Tokens.Code);
    } else {
      this.#openCode = undefined;
      const again = (): void => morph(box, decorate(fragmentOf(block), again, this.#sources));
      again();
    }
    return box;
  }
}

/** The blocks of a text; a long list is several, and what is too long to parse is shown as it was written. */
function parsed(text: string): Token[] {
  return blocksOf(text).flatMap((block) => {
    if (block.type === 'list') return pieces(block as Tokens.List);
    return block.raw.length > LONGEST_BLOCK && block.type !== 'code'
      ? [{ type: 'code', raw: block.raw, text: block.raw } as Token]
      : [block];
  });
}

function pieces(list: Tokens.List): Token[] {
  if (list.items.length <= 2 * ITEMS) return [list];
  const groups: Tokens.List[] = [];
  let taken = 0;
  for (let at = 0; at < list.items.length; at += ITEMS) {
    const items = list.items.slice(at, at + ITEMS);
    const isLast = at + ITEMS >= list.items.length;
    const raw = isLast ? list.raw.slice(taken) : items.map((item) => item.raw).join('');
    taken += raw.length;
    groups.push({ ...list, items, raw, start: typeof list.start === 'number' ? list.start + at : list.start });
  }
  return groups;
}
