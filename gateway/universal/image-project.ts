import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import type { DiffusionConfig } from '../../schemas/generated/config/project.js';

/** The model of a request, with what a project says about it. */
export interface ProjectImageModel {
  readonly model: string | undefined;
  readonly defaults?: DiffusionConfig | undefined;
  readonly device?: string | undefined;
}

/**
 * The image model that a project means: the one of that name, the one with that model id, or, where the request names none, its first model
 * with `diffusion` settings or of type `image`. Throws `not_found` where the project is not there.
 */
export function projectImageModel(runtime: Runtime, project: string | undefined, model: string | undefined): ProjectImageModel {
  if (project === undefined) return { model };
  const [namespace, name] = project.split('/') as [string, string];
  const { models } = runtime.projects.load(namespace, name).config.runtime;
  const isImage = (one: (typeof models)[number]): boolean => one.diffusion !== undefined || one.transformers?.model_type === 'image';
  const found = model === undefined ? models.find(isImage) : models.find((one) => one.name === model || one.model === model);
  if (!found && model === undefined)
    throw new Failure(
      'bad_request',
      `The project ${project} has no image model; give one of its models "diffusion" settings, or name a model.`,
    );
  return { model: found?.model ?? model, defaults: found?.diffusion, device: found?.transformers?.device };
}
