/** Work that is done again and again while somebody looks. */
import { key } from './key.svelte';

/** Does something now and then again and again, while the page is seen and nobody is asked for a key; what takes long is not begun a second time meanwhile. Returns the function that ends it, for an effect. */
export function regularly(everyMs: number, work: () => Promise<unknown>): () => void {
  let isBusy = false;
  const begin = async (): Promise<void> => {
    isBusy = true;
    try {
      await work();
    } finally {
      isBusy = false;
    }
  };
  void begin();
  const timer = setInterval(() => !isBusy && document.visibilityState === 'visible' && !key.isWanted && void begin(), everyMs);
  return () => clearInterval(timer);
}
