import { Failure } from '../../schemas/errors.js';

const MIB = 1024 * 1024;
/** Bodies up to this size do not count: chats, and all that comes often. */
const LARGE_BYTES = 16 * MIB;
/** What all large bodies may take together; as texts and what they stand for it is three times that. */
const ROOM_BYTES = 256 * MIB;

/** What one body takes of the room. */
export interface BodyShare {
  /** The body has, or is to have, so many bytes. Throws `busy` where others have taken what there is; one body alone always has room. */
  readonly take: (bytes: number) => void;
  /** Gives it back. */
  leave(): void;
}

/** Bounds what the largest JSON bodies of a port take of the memory, until their handlers return. */
export class BodyRoom {
  #taken = 0;

  share(): BodyShare {
    let own = 0;
    const set = (bytes: number): void => {
      this.#taken += bytes - own;
      own = bytes;
    };
    return {
      take: (bytes) => {
        if (bytes <= LARGE_BYTES) return;
        const others = this.#taken - own;
        if (others > 0 && others + bytes > ROOM_BYTES) {
          const taken = Math.round(others / MIB);
          throw new Failure('busy', `The bodies of other requests take ${taken} MiB already. Try again later.`, { retryAfterS: 1 });
        }
        set(bytes);
      },
      leave: () => set(0),
    };
  }
}
