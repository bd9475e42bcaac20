import type { ProjectConfig } from '../../schemas/generated/config/project.js';

/** Why settings of `transformers` that other systems have act on nothing here. */
const IGNORED = {
  trust_remote_code: 'no code of a repository is ever run',
  batch_size: 'batches are as large as the time allows in which others wait',
} as const;

/** What a configuration asks for that has no effect, in sentences for the log. */
export function ignoredSettings({ runtime }: ProjectConfig): string[] {
  return runtime.models.flatMap(({ name, transformers }) =>
    Object.entries(IGNORED)
      .filter(([setting]) => transformers?.[setting as keyof typeof IGNORED])
      .map(([setting, why]) => `transformers.${setting} of model '${name}' is ignored: ${why}.`),
  );
}
