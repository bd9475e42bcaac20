import { Failure } from '../../schemas/errors.js';
import type { ImageOptions } from '../../schemas/generated/universal/images.js';

type Refusal = readonly [option: keyof ImageOptions, taken: readonly unknown[], why: string];

/** Options of the official API that nothing here can follow, what each may say all the same, and what to do instead. */
const REFUSALS: readonly Refusal[] = [
  ['background', ['auto', 'opaque'], 'images are opaque'],
  ['moderation', ['auto'], 'nothing is moderated here'],
  ['input_fidelity', ['low'], 'strength says how much of an image stays'],
  ['partial_images', [0], 'streams tell their steps and send finished images only'],
];

/** Throws `bad_request` for an option that would have no effect, so that nobody counts on it. */
export function refuseOptions(body: ImageOptions): void {
  for (const [option, taken, why] of REFUSALS) {
    const value = body[option] ?? taken[0];
    if (taken.includes(value)) continue;
    const allowed = taken.map((one) => JSON.stringify(one)).join(' or ');
    throw new Failure('bad_request', `${option} ${JSON.stringify(value)} is not supported: ${why}. Leave it out, or send ${allowed}.`, {
      code: 'UnsupportedOption',
      errors: [{ type: 'unsupported', loc: ['body', option], msg: why, input: value }],
    });
  }
}
