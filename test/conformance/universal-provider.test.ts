import { Completions } from '../../runtime/completions/completions.js';
import type { CompletionRequest } from '../../runtime/completions/contract.js';
import { Models } from '../../runtime/models/residency/models.js';
import { createUniversalProvider } from '../../runtime/providers/universal.js';
import type { Tool } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { emptyDataDir } from '../support/daemon.js';
import { puppetPath } from '../support/models/cache.js';
import { PUPPET_SCRIPTS } from '../support/models/puppet-scripts.js';
import { type Act, type Expected, providerSuite } from './provider-suite.js';

const tool = (name: string): Tool => ({ type: 'function', function: { name, parameters: { type: 'object' } } });

const CUT = 'number 60;';

/** What each act is for the puppet, and what it says then. */
const ACTS: Record<Act, { say: string; rest?: Partial<CompletionRequest>; expected: Expected }> = {
  // Long enough to come in several parts also where JavaScript lags, ended by a stop string.
  text: {
    say: 'count',
    rest: { stop: [CUT] },
    expected: { text: PUPPET_SCRIPTS.long.answer.slice(0, PUPPET_SCRIPTS.long.answer.indexOf(CUT)) },
  },
  length: { say: 'count', rest: { max_tokens: 3 }, expected: {} },
  stop: { say: 'stops', rest: { stop: ['STOP'] }, expected: { text: 'alpha beta ' } },
  reasoning: {
    say: 'ponder',
    rest: { think: true },
    expected: { text: PUPPET_SCRIPTS.think.answer, reasoning: PUPPET_SCRIPTS.think.thinking.trim() },
  },
  tool_call: {
    say: 'weather',
    rest: { tools: [tool('get_weather')] },
    expected: { calls: [{ name: 'get_weather', arguments: { city: 'Paris', unit: 'celsius' } }] },
  },
  two_calls: {
    say: 'sum',
    rest: { tools: [tool('add_numbers')] },
    expected: {
      calls: [
        { name: 'add_numbers', arguments: { a: 2, b: 3 } },
        { name: 'add_numbers', arguments: { a: 40, b: 2 } },
      ],
    },
  },
  endless: { say: 'endless', rest: { max_tokens: 100_000 }, expected: {} },
};

providerSuite('universal (in process, a real engine)', async () => {
  const models = new Models({ dataDir: emptyDataDir() });
  return {
    provider: createUniversalProvider(new Completions({ models })),
    model: { name: 'tested', provider: 'universal', model: puppetPath() } as ModelConfig,
    arrange: (act) => {
      const { say, rest, expected } = ACTS[act];
      return { request: { messages: [{ role: 'user', content: say }], temperature: 0, ...rest }, expected };
    },
    active: () => models.loaded().reduce((sum, { uses }) => sum + uses, 0),
    close: () => models.close(),
  };
});
