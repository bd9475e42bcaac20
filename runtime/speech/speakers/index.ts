import { modelMissing } from '../../formats/model-missing.js';
import type { Speaker } from './contract.js';
import { espeak } from './espeak.js';
import { flite } from './flite.js';
import { kokoro } from './kokoro.js';

/** Everything that speaks, the default first. */
export const SPEAKERS: readonly Speaker[] = [kokoro, flite, espeak];

/** Who answers to a model's name. Throws `not_found` that names those who are there and the pull. */
export function speakerOf(model: string): Speaker {
  const speaker = SPEAKERS.find((one) => one.answers(model));
  if (speaker) return speaker;
  throw modelMissing(model, {
    why: `no model of that name speaks here; there are ${SPEAKERS.map((one) => one.model).join(', ')}`,
    remedies: ['name one of them', 'run "quern pull kokoro" for the best voices'],
  });
}
