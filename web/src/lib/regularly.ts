/** Work that is done again and again while somebody looks. */
import { key } from './key.svelte';

/** Does something now and then again and again, while the page is seen and nobody is asked for a key. Returns the function that ends it, for an effect. */
export function regularly(everyMs: number, work: () => unknown): () => void {
  work();
  const timer = setInterval(() => document.visibilityState === 'visible' && !key.isWanted && work(), everyMs);
  return () => clearInterval(timer);
}
