/** Files that are attached and not sent yet, by the place of their question: they stay while another conversation is looked at, and while a key is asked for. */
import { SvelteMap } from 'svelte/reactivity';
import type { Attachment } from '$schemas/core/conversations';

const files = new SvelteMap<string, readonly Attachment[]>();
const NONE: readonly Attachment[] = [];

/** The files that are attached at a place. */
export const heldFiles = (place: string): readonly Attachment[] => files.get(place) ?? NONE;

/** Attaches these files at a place, and no others. */
export function holdFiles(place: string, held: readonly Attachment[]): void {
  if (held.length === 0) files.delete(place);
  else files.set(place, held);
}

/** Takes files to another place, unless some are attached there. */
export function moveFiles(from: string, to: string): void {
  if (!files.has(from) || files.has(to)) return;
  holdFiles(to, heldFiles(from));
  files.delete(from);
}
