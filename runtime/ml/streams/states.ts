import { Failure } from '../../../schemas/errors.js';
import type { Chain } from '../../store/store.js';

/** What a detector is doing. */
export type DetectorState =
  /** It has no model and gathers the samples of the first one. */
  | 'collecting'
  /** A model scores samples. */
  | 'ready'
  /** A model scores samples while the next one is trained in the background. */
  | 'retraining'
  /** A write failed: the memory is ahead of the disk, and the owner reads the detector anew. */
  | 'broken'
  /** The detector was deleted. */
  | 'removed';

/** What happens to a detector. */
export type DetectorEvent =
  /** A request brings samples. */
  | 'samples'
  /** As many samples came as the next training waits for. */
  | 'training-due'
  /** A training gave a model. */
  | 'trained'
  /** A training failed. */
  | 'training-failed'
  /** A training was ended before it had a model. */
  | 'training-stopped'
  /** A client has samples and model forgotten. */
  | 'reset'
  /** A client deletes the detector. */
  | 'removal'
  /** The disk refused a write. */
  | 'write-failed';

/** What an event comes to: the next state, `ignored` where it means nothing, or the kind of failure that its sender gets. */
export type Outcome = DetectorState | 'ignored' | 'refused: unavailable' | 'refused: not_found';

/** Every state with every event. A broken detector stays broken, whatever happens. */
const TRANSITIONS: Readonly<Record<DetectorState, Readonly<Record<DetectorEvent, Outcome>>>> = {
  collecting: {
    samples: 'collecting',
    'training-due': 'ignored',
    trained: 'ready',
    'training-failed': 'collecting',
    'training-stopped': 'ignored',
    reset: 'collecting',
    removal: 'removed',
    'write-failed': 'broken',
  },
  ready: {
    samples: 'ready',
    'training-due': 'retraining',
    trained: 'ignored',
    'training-failed': 'ignored',
    'training-stopped': 'ignored',
    reset: 'collecting',
    removal: 'removed',
    'write-failed': 'broken',
  },
  retraining: {
    samples: 'retraining',
    'training-due': 'ignored',
    trained: 'ready',
    'training-failed': 'ready',
    'training-stopped': 'ready',
    reset: 'collecting',
    removal: 'removed',
    'write-failed': 'broken',
  },
  broken: {
    samples: 'refused: unavailable',
    'training-due': 'ignored',
    trained: 'ignored',
    'training-failed': 'ignored',
    'training-stopped': 'ignored',
    reset: 'broken',
    removal: 'broken',
    'write-failed': 'broken',
  },
  removed: {
    samples: 'refused: not_found',
    'training-due': 'ignored',
    trained: 'ignored',
    'training-failed': 'ignored',
    'training-stopped': 'ignored',
    reset: 'refused: not_found',
    removal: 'removed',
    'write-failed': 'broken',
  },
};

/**
 * The state machine of a detector. It is also the chain of the writes of its samples: no write is made behind one that failed, for
 * its record counts the samples of that.
 */
export class DetectorStates implements Chain {
  #state: DetectorState = 'collecting';

  get state(): DetectorState {
    return this.#state;
  }

  get broken(): boolean {
    return this.#state === 'broken';
  }

  /** The store says true here when a write of the chain failed. */
  set broken(value: boolean) {
    if (value) this.on('write-failed');
  }

  /** Goes where the event leads; false where it is ignored. Throws `unavailable` or `not_found` where the state refuses it. */
  on(event: DetectorEvent): boolean {
    const outcome = TRANSITIONS[this.#state][event];
    switch (outcome) {
      case 'ignored':
        return false;
      case 'refused: unavailable':
        throw new Failure('unavailable', 'An earlier write of this detector failed; nothing was taken. Try again.', { retryAfterS: 1 });
      case 'refused: not_found':
        throw new Failure('not_found', 'Streaming detector not found: it was deleted meanwhile.', { code: 'DetectorNotFound' });
      default:
        this.#state = outcome;
        return true;
    }
  }
}
