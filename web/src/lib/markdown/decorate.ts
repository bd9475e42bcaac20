/** What rendered blocks get beside their text: formulas, frames around what is wide, buttons of passages, and code with its language, colours and a copy button. */

import type { Token, Tokens } from 'marked';
import type Temml from 'temml';

/** Longer code stays without colours: finding them would hold the page. */
const LONGEST_COLOURED = 20_000;
/** Formulas that are kept as elements, since an open block shows the same ones again and again. */
const KEPT_FORMULAS = 500;

let temml: typeof Temml | undefined;
let temmlLoads: Promise<unknown> | undefined;
const formulas = new Map<string, Element>();

/** Makes the marks of these passages buttons, and those of others text. */
export function markSources(root: DocumentFragment | HTMLElement, sources: ReadonlySet<string>): void {
  for (const mark of root.querySelectorAll<HTMLElement>('[data-cite]')) {
    const n = mark.dataset.cite!;
    const isSource = sources.has(n);
    if (isSource === (mark.tagName === 'BUTTON')) continue;
    const shown = document.createElement(isSource ? 'button' : 'span');
    shown.dataset.cite = n;
    shown.textContent = isSource ? n : `[${n}]`;
    if (isSource) {
      Object.assign(shown, { type: 'button', className: 'cite' });
      shown.setAttribute('aria-label', `Source ${n}`);
    }
    mark.replaceWith(shown);
  }
}

/**
 * Puts formulas, frames and buttons into a rendered block; `sources` are the numbers of the passages that the text may name. `later` is called when something
 * that was loaded late makes it worth doing again.
 */
export function decorate(root: DocumentFragment, later: () => void, sources: ReadonlySet<string>): DocumentFragment {
  for (const table of root.querySelectorAll('table')) {
    const frame = group('wide', 'Table');
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const pre of root.querySelectorAll('pre')) frameOf(pre);
  for (const box of root.querySelectorAll<HTMLInputElement>('input')) {
    box.disabled = true;
    box.setAttribute('aria-label', 'Task');
  }
  markSources(root, sources);
  for (const block of root.children) block.setAttribute('dir', 'auto');
  const maths = root.querySelectorAll<HTMLElement>('[data-math]');
  if (maths.length > 0 && temml === undefined) {
    temmlLoads ??= import('temml').then(({ default: loaded }) => (temml = loaded));
    void temmlLoads.then(later, () => undefined);
  } else for (const box of maths) box.replaceChildren(formula(box.textContent ?? '', box.dataset.math === 'block').cloneNode(true));
  return root;
}

function formula(tex: string, displayMode: boolean): Element {
  const name = `${displayMode}${tex}`;
  let element = formulas.get(name);
  if (element === undefined) {
    element = document.createElement('span');
    temml!.render(tex, element as HTMLElement, { displayMode, throwOnError: false, trust: false, maxSize: [20, 20], maxExpand: 200 });
    if (formulas.size >= KEPT_FORMULAS) formulas.delete(formulas.keys().next().value!);
    formulas.set(name, element);
  }
  return element;
}

/** A frame that scrolls sideways in itself, also by keyboard. */
function group(name: string, label: string): HTMLElement {
  const frame = document.createElement('div');
  frame.className = name;
  frame.tabIndex = 0;
  frame.setAttribute('role', 'group');
  frame.setAttribute('aria-label', label);
  return frame;
}

function frameOf(pre: HTMLPreElement): void {
  pre.tabIndex = 0;
  pre.setAttribute('role', 'group');
  pre.setAttribute('aria-label', 'Code');
}

/** An empty block of code: its language and a copy button above the code. */
export function codeBlock(): HTMLElement {
  const box = document.createElement('div');
  box.className = 'code';
  const head = document.createElement('div');
  head.className = 'head';
  const language = document.createElement('span');
  language.className = 'language';
  const copy = document.createElement('button');
  Object.assign(copy, { type: 'button', className: 'copy', textContent: 'Copy' });
  const pre = document.createElement('pre');
  frameOf(pre);
  pre.append(document.createElement('code'));
  head.append(language, copy);
  box.append(head, pre);
  return box;
}

/** Writes the code of a block into its box; gives the text node that shows it. */
export function writeCode(box: HTMLElement, { text, lang }: Tokens.Code | (Token & { text: string; lang?: string })): Text {
  const language = /^[\w+#.-]{1,30}/.exec(lang ?? '')?.[0] ?? '';
  box.querySelector('.language')!.textContent = language;
  box.querySelector('pre')!.setAttribute('aria-label', language ? `Code, ${language}` : 'Code');
  const code = box.querySelector('code')!;
  code.dataset.language = language.toLowerCase();
  if (!(code.firstChild instanceof Text && code.childNodes.length === 1)) code.replaceChildren(document.createTextNode(''));
  const shown = code.firstChild as Text;
  if (text.startsWith(shown.data)) shown.appendData(text.slice(shown.length));
  else shown.data = text;
  return shown;
}

/** Colours code whose block is complete, when the page has a moment. */
export function colour(box: HTMLElement): void {
  const code = box.querySelector<HTMLElement>('.code code[data-language]');
  const language = code?.dataset.language;
  if (!code || !language || code.textContent!.length > LONGEST_COLOURED) return;
  void import('./languages').then(
    ({ coloured }) =>
      idle(() => {
        const html = coloured(code.textContent!, language);
        if (html !== undefined) code.innerHTML = html;
      }),
    () => undefined,
  );
}

const idle = (work: () => void): void => {
  if ('requestIdleCallback' in window) requestIdleCallback(work, { timeout: 1_000 });
  else setTimeout(work, 50);
};
