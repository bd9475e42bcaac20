import { AsyncLocalStorage } from 'node:async_hooks';
import { Failure } from '../../schemas/errors.js';

/** What somebody may spend on models. */
export interface Budget {
  /** Throws `too_many` where nothing is left. */
  readonly admit: () => Promise<void>;
  /** Is told how many tokens were read and written; several numbers add up. */
  readonly spent: (tokens: number) => void;
}

const budgets = new AsyncLocalStorage<Budget | undefined>();

/** Does work whose models somebody pays for; undefined = nobody. */
export const withBudget = <T>(budget: Budget | undefined, work: () => T): T => budgets.run(budget, work);

/** The budget of the work that is being done; undefined where nobody pays. */
export const presentBudget = (): Budget | undefined => budgets.getStore();

/** Asks a model, and pays for it from the budget of the work that asks. Throws as `Budget.admit` before the model is asked. */
export async function payFor<Result extends { readonly tokens: number }>(work: () => Promise<Result>): Promise<Result> {
  const budget = presentBudget();
  await budget?.admit();
  const result = await work();
  budget?.spent(result.tokens);
  return result;
}

/** Who pays for the work of projects that nobody waits for, by the namespace. */
export class Payers {
  /** Nobody, unless accounts are on. */
  of: (namespace: string) => Budget | undefined = () => undefined;

  /** Does such work, whoever's request it begins in. Where nothing is left it fails for good (`forbidden`): to try again soon would not help. */
  readonly inBackground = <T>(namespace: string, work: () => T): T => {
    const budget = this.of(namespace);
    return withBudget(budget && { ...budget, admit: () => budget.admit().catch(failForGood) }, work);
  };
}

function failForGood(error: unknown): never {
  if (!(error instanceof Failure) || error.kind !== 'too_many') throw error;
  throw new Failure('forbidden', error.message, { code: 'NothingLeft', cause: error });
}
