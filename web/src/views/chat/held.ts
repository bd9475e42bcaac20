/**
 * Files that are attached and not sent yet, and documents that the daemon is reading for that, by the place of their question: they stay while another conversation
 * is looked at, and while a key is asked for.
 */
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

/** A document that the daemon reads for a question. */
export interface ReadDocument {
  readonly name: string;
  /** What part of the file the daemon has, 0 to 1. */
  readonly part: number;
  readonly ending: AbortController;
}

const documents = new SvelteMap<string, readonly ReadDocument[]>();
const NO_DOCUMENTS: readonly ReadDocument[] = [];

/** The documents that are being read for a place. */
export const documentsBeingRead = (place: string): readonly ReadDocument[] => documents.get(place) ?? NO_DOCUMENTS;

/** Shows a document among those that are being read, as far as it is; undefined when that is over. */
export function noteReading(place: string, ending: AbortController, document?: ReadDocument): void {
  const before = documentsBeingRead(place);
  const isNew = !before.some((one) => one.ending === ending);
  const after = before.flatMap((one) => (one.ending !== ending ? [one] : document ? [document] : []));
  documents.set(place, isNew && document ? [...after, document] : after);
}
