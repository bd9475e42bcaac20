import { Failure } from '../../schemas/errors.js';

const MIB = 1024 * 1024;
/** Bodies up to this size do not count: chats, and all that comes often. */
const LARGE_BYTES = 16 * MIB;
/** What all large bodies may take together; as texts and what they stand for it is three times that. */
const ROOM_BYTES = 256 * MIB;

/** Bounds what the largest JSON bodies of a port take of the memory, until their handlers return. */
export class BodyRoom {
  #taken = 0;

  /**
   * Room for a body of a `Content-Length` until the function that is returned is called; a body that does not tell its length, or is too long for
   * its endpoint, needs none. Throws `busy` where others have taken what there is; one body alone always has room.
   */
  take(declared: string, limitBytes: number): () => void {
    const bytes = Number(declared);
    if (!(bytes > LARGE_BYTES && bytes <= limitBytes)) return () => undefined;
    if (this.#taken > 0 && this.#taken + bytes > ROOM_BYTES) {
      const taken = Math.round(this.#taken / MIB);
      throw new Failure('busy', `The bodies of other requests take ${taken} MiB already. Try again later.`, { retryAfterS: 1 });
    }
    this.#taken += bytes;
    return () => {
      this.#taken -= bytes;
    };
  }
}
