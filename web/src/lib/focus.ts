/** Focus of the keyboard that outlives what had it. */

const REACHABLE = 'a[href], button:enabled, input:enabled:not([hidden]), select:enabled, textarea:enabled, summary, [tabindex="0"]';

/** What the keyboard reaches of an element, itself and what is in it, in the order of the page. */
const reachableIn = (element: HTMLElement): HTMLElement[] =>
  [element, ...element.querySelectorAll<HTMLElement>(REACHABLE)].filter((one) => one.matches(REACHABLE) && one.tabIndex >= 0);
/** Elements that are alike by their name; others are where they look the same. */
const ALIKE = ['LI', 'TR', 'ARTICLE', 'BUTTON'];
/** What a control is called, by which rows that have different ones have the same ones too. */
const nameOf = (element: HTMLElement): string | null => element.ariaLabel ?? element.textContent;
/** Whether an element can have the focus now. */
const canFocus = (element: HTMLElement): boolean => element.tabIndex >= 0 && element.checkVisibility();

/** An element that has or had the focus, and all around it up to the root. */
type Chain = readonly HTMLElement[];

/**
 * Where the focused element is taken out of `root`, such as the button of a deleted row, its heir has the focus then: what took its place, such as the same control of the
 * next row, else that of the one before, else the nearest thing around it or beside it. So too when a dialog closes and what opened it is gone.
 */
export function keepFocus(root: HTMLElement): () => void {
  const chainOf = (target: Element | null): HTMLElement[] => {
    const chain: HTMLElement[] = [];
    for (let one = target as HTMLElement | null; one && root.contains(one); one = one.parentElement) chain.push(one);
    return chain;
  };
  /** What has the focus, and what had it when the dialog opened that has it. */
  let [inside, below]: [Chain, Chain] = [[], []];

  const focused = ({ target }: FocusEvent): void => {
    const isInDialog = (target as Element).closest('dialog') !== null;
    if (isInDialog && inside[0]?.closest('dialog') === null) below = inside;
    else if (!isInDialog) below = [];
    inside = chainOf(target as Element);
  };
  const left = ({ target }: FocusEvent): void => {
    // Some browsers say this of what is taken out too.
    queueMicrotask(() => {
      if ((target as HTMLElement).isConnected && inside[0] === target) inside = [];
    });
  };
  const observer = new MutationObserver((changes) => {
    [inside, below] = [inherited(inside, changes), inherited(below, changes)];
    const isInDialog = inside.some((one) => one instanceof HTMLDialogElement && one.open);
    if (document.activeElement !== document.body) {
      if (!isInDialog) below = [];
      return;
    }
    for (const one of isInDialog || below.length === 0 ? inside : below) {
      const heir = canFocus(one) ? one : reachableIn(one).find(canFocus);
      if (heir) return heir.focus({ preventScroll: true });
    }
  });
  /** The chain of the heir of what was taken out; the same chain where it is still there. */
  function inherited(chain: Chain, changes: readonly MutationRecord[]): Chain {
    if (chain.length === 0 || chain[0]!.isConnected) return chain;
    const at = chain.findIndex((one) => one.isConnected);
    if (at < 0) return [];
    const gone = chain[at - 1]!;
    const record = changes.find(({ target, removedNodes }) => target === chain[at] && [...removedNodes].includes(gone));
    const place = reachableIn(gone).indexOf(chain[0]!);
    const before = record?.previousSibling;
    const after = before?.isConnected ? before.nextSibling : (record?.nextSibling ?? null);
    const row = record && (alikeFrom(after, 'nextSibling', gone) ?? alikeFrom(before ?? null, 'previousSibling', gone));
    const reachable = row ? reachableIn(row) : [];
    const beside = reachable[Math.min(Math.max(0, place), reachable.length - 1)];
    const name = nameOf(chain[0]!);
    const heir = beside && nameOf(beside) !== name ? (reachable.find((one) => nameOf(one) === name) ?? beside) : beside;
    return heir ? chainOf(heir) : chain.slice(at);
  }
  observer.observe(root, { childList: true, subtree: true });
  root.addEventListener('focusin', focused);
  root.addEventListener('focusout', left);
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', focused);
    root.removeEventListener('focusout', left);
  };
}

/** The first element from a node on, in one direction, that is of the kind of `gone` and holds something to reach. */
function alikeFrom(node: Node | null, step: 'nextSibling' | 'previousSibling', gone: HTMLElement): HTMLElement | undefined {
  const isAlike = (one: HTMLElement): boolean =>
    one.tagName === gone.tagName && (ALIKE.includes(one.tagName) || one.className === gone.className);
  for (let one = node; one; one = one[step])
    if (one instanceof HTMLElement && one.isConnected && isAlike(one) && reachableIn(one).length > 0) return one;
  return undefined;
}
