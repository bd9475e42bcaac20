import { Failure } from '../../schemas/errors.js';
import { isLayoutModel } from '../engines/image-text/graphs.js';
import type { ExtractRequest } from './contract.js';

/** The prompt of an image by its place in the request; null where it has none. */
export function promptFor({ prompts }: ExtractRequest, index: number): string | null {
  return prompts[index] ?? (prompts.length === 1 ? prompts[0]! : null);
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Throws `bad_request` for prompts that belong to no image, and for an image without a question where the model needs one. */
export function checkPrompts(request: ExtractRequest): void {
  const { model, task, pictures, prompts } = request;
  if (prompts.length > pictures.length)
    throw new Failure(
      'bad_request',
      `${counted(prompts.length, 'prompt')} came with ${counted(pictures.length, 'image')}; the i-th belongs to the i-th image, so the others would be lost.`,
      { code: 'TooManyPrompts' },
    );
  if (task !== 'vqa' || !isLayoutModel(model)) return;
  const without = pictures.find((_, index) => !promptFor(request, index)?.trim());
  if (without === undefined) return;
  throw new Failure('bad_request', `A question about ${without.name} is needed for task "vqa" with this model; give it in prompts.`, {
    code: 'PromptMissing',
  });
}
