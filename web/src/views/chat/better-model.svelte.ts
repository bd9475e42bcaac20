/** Puts models into projects as the ones that answer there, also when they are still to come. */
import { inOrder } from '../../lib/overlap.svelte';
import { pulls } from '../../lib/pulls.svelte';
import { toasts } from '../../lib/toasts.svelte';

interface Config {
  runtime?: { models?: { name: string; model: string }[] | null } | null;
}

class BetterModels {
  /** Grows with each model that came into a project. */
  taken = $state(0);
  #adding = $state(0);
  readonly #inOrder = inOrder();

  get isAdding(): boolean {
    return this.#adding > 0;
  }

  /** Fetches a model for the project at this path, whichever project is open when the model is here. */
  fetch(place: string, model: string): void {
    pulls.begin(model, () => void this.take(place, model));
  }

  async take(place: string, model: string): Promise<void> {
    this.#adding += 1;
    try {
      // Each change begins with the file as the one before left it.
      await this.#inOrder(() => use(place, model));
      toasts.good(`${model} answers now in ${decodeURIComponent(place.split('/').at(-1)!)}.`);
      this.taken += 1;
    } catch (error) {
      toasts.bad(error);
    } finally {
      this.#adding -= 1;
    }
  }
}

async function use(place: string, model: string): Promise<void> {
  const [{ changeFile }, { readYaml, withValue }] = await Promise.all([import('../projects/edit.svelte'), import('../projects/yaml')]);
  await changeFile(place, (text) => {
    const { value, problem } = readYaml(text);
    if (problem) throw new Error(`The project file cannot be read: ${problem.message}`);
    const models = (value as Config | null)?.runtime?.models ?? [];
    const known = models.find((one) => one.model === model);
    const name = known?.name ?? (model.split('/').at(-1) ?? model).replace(/-GGUF.*$/i, '').toLowerCase();
    const same = models.findIndex((one) => one.name === name);
    const at = same < 0 ? models.length : same;
    const added = known ? text : withValue(text, ['runtime', 'models', at], { name, provider: 'universal', model });
    return withValue(added, ['runtime', 'default_model'], name);
  });
}

export const betterModels = new BetterModels();
