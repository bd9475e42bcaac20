/** Long lists in pages, numbered from 0. */

/** The last page of a list; the first where it is empty. */
export const lastPage = (total: number, size: number): number => Math.max(0, Math.ceil(total / size) - 1);

/** What stands on a page, and which page that is: the last one where the list has become shorter. */
export function pageOf<One>(list: readonly One[], size: number, page: number): { readonly at: number; readonly shown: readonly One[] } {
  const at = Math.min(page, lastPage(list.length, size));
  return { at, shown: list.slice(at * size, (at + 1) * size) };
}
