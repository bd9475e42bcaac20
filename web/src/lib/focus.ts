/** Focus of the keyboard that outlives what had it. */

/** Where the focused element is taken out of `root`, such as the button of a deleted row, the nearest thing around it that can be focused has the focus then. */
export function keepFocus(root: HTMLElement): () => void {
  let around: HTMLElement[] = [];
  const focused = ({ target }: FocusEvent): void => {
    around = [];
    for (let one = target as HTMLElement | null; one && root.contains(one); one = one.parentElement) around.push(one);
  };
  const left = ({ target }: FocusEvent): void => {
    // Some browsers say this of what is taken out too.
    queueMicrotask(() => {
      if ((target as HTMLElement).isConnected && around[0] === target) around = [];
    });
  };
  const observer = new MutationObserver(() => {
    if (around.length === 0 || around[0]!.isConnected || document.activeElement !== document.body) return;
    around.find((one) => one.isConnected && one.tabIndex >= 0)?.focus({ preventScroll: true });
  });
  observer.observe(root, { childList: true, subtree: true });
  root.addEventListener('focusin', focused);
  root.addEventListener('focusout', left);
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', focused);
    root.removeEventListener('focusout', left);
  };
}
