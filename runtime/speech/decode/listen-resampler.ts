import type { NativeSampleStream } from '../../../native/contract.js';
import { loadCore } from '../../../native/core.js';
import { Failure } from '../../../schemas/errors.js';
import { LISTEN_RATE } from './contract.js';

/** Rates of recordings that are read, in Hz. */
const [LEAST_RATE, MOST_RATE] = [4_000, 192_000];

/** Turns samples of a rate into those that listening takes. Throws `bad_request` for a rate that no recording has. */
export function listenResampler(rate: number): NativeSampleStream {
  if (rate >= LEAST_RATE && rate <= MOST_RATE) return loadCore().openResampler(rate, LISTEN_RATE);
  throw new Failure('bad_request', `The audio says that it has ${rate} samples a second; ${LEAST_RATE} to ${MOST_RATE} are read.`);
}
