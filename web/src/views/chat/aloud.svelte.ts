/** Answers read aloud, one at a time: the first piece is heard while the next is spoken. */
import { ask } from '../../lib/api';
import { Latest } from '../../lib/overlap.svelte';
import { project } from '../../lib/project.svelte';
import { toasts } from '../../lib/toasts.svelte';
import { chosenVoice } from '../../lib/voice';
import { piecesOf } from './pieces';

class Aloud {
  /** Id of the message that is read; empty for none. */
  id = $state('');
  readonly #reading = new Latest();

  /** Reads the text of a message, written as Markdown, in the place of what is read. */
  read(id: string, text: string): void {
    const { namespace, name } = project.current;
    const path = `/v1/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/audio/speech`;
    this.id = id;
    void this.#reading.run(
      (signal) => readPieces(path, piecesOf(text), signal),
      () => (this.id = ''),
      (error) => {
        this.id = '';
        toasts.bad(error);
      },
    );
  }

  stop(): void {
    this.#reading.end();
    this.id = '';
  }
}

export const aloud = new Aloud();

async function readPieces(path: string, pieces: readonly string[], signal: AbortSignal): Promise<void> {
  const speak = async (input: string): Promise<Blob> => (await ask(path, { json: { input, ...chosenVoice() }, signal })).blob();
  let next = pieces[0] === undefined ? undefined : speak(pieces[0]);
  for (let at = 1; next; at += 1) {
    const sound = await next;
    next = pieces[at] === undefined ? undefined : speak(pieces[at]!);
    // What is wrong with it is told when its turn comes.
    next?.catch(() => undefined);
    await heard(sound, signal);
  }
}

/** Plays a sound to its end, or until the signal aborts. */
async function heard(sound: Blob, signal: AbortSignal): Promise<void> {
  const address = URL.createObjectURL(sound);
  const player = new Audio(address);
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      player.onended = () => resolve();
      player.onerror = () => reject(new Error('The browser cannot play what was spoken.'));
      player.play().catch(reject);
    });
  } finally {
    player.pause();
    URL.revokeObjectURL(address);
  }
  signal.throwIfAborted();
}
