/** Ways on that are taken when something is done which the reader may not have waited for. */
import { project } from './project.svelte';
import { route } from './route.svelte';

/** A function that goes on from here, and does nothing where the reader has gone to another place or project meanwhile; it says whether it went. */
export function onward(): (to: string, options?: { replace?: boolean }) => boolean {
  const [hash, path] = [route.hash, project.path];
  return (to, options) => {
    const isHere = route.hash === hash && project.path === path;
    if (isHere) route.go(to, options);
    return isHere;
  };
}
