/** Puts models into projects as the ones that answer there, also when they are still to come. */
import { get, send } from '../../lib/api';
import { inOrder } from '../../lib/overlap.svelte';
import { pulls } from '../../lib/pulls.svelte';
import { toasts } from '../../lib/toasts.svelte';

interface Config {
  runtime?: { default_model?: string; models?: { name: string; provider: string; model: string }[] };
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
  const { project } = await get<{ project: { config: Config } }>(place);
  const { runtime = {} } = project.config;
  const models = runtime.models ?? [];
  const known = models.find((one) => one.model === model);
  const name = known?.name ?? (model.split('/').at(-1) ?? model).replace(/-GGUF.*$/i, '').toLowerCase();
  const added = known ? models : [...models.filter((one) => one.name !== name), { name, provider: 'universal', model }];
  await send(place, { config: { ...project.config, runtime: { ...runtime, default_model: name, models: added } } }, { method: 'PUT' });
}

export const betterModels = new BetterModels();
