import { Outbound } from '../../runtime/net/outbound.js';
import type { Provider } from '../../runtime/providers/contract.js';
import type { ProviderId } from '../../runtime/providers/index.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { testedProviders } from '../support/providers.js';
import { arrangeAct, playActs } from '../support/scripted-acts.js';
import { json, ScriptedOpenAI } from '../support/scripted-openai.js';
import { type FaultStage, providerFaultSuite } from './provider-faults.js';
import { providerSuite } from './provider-suite.js';

const MODELS = json({ object: 'list', data: [] });

/** How each provider that speaks HTTP is brought in front of a scripted host. The in-process runtime has its own stage, with a real engine. */
interface Way {
  readonly id: ProviderId;
  readonly model: (host: ScriptedOpenAI) => Partial<ModelConfig>;
  readonly urls?: (host: ScriptedOpenAI) => string[];
}

const WAYS: Record<string, Way> = {
  compat_api: { id: 'compat_api', model: (host) => ({ base_url: host.base }) },
  local_runner: { id: 'local_runner', model: (host) => ({ base_url: `${host.base}/` }) },
  'local_accel (a runner that answers)': {
    id: 'local_accel',
    model: (host) => {
      host.route('/v1/models', MODELS);
      return { accel: { port: host.port } };
    },
  },
  'universal (runtime URLs)': { id: 'universal', model: () => ({}), urls: (host) => [host.origin] },
  'universal (base_url)': { id: 'universal', model: (host) => ({ base_url: host.base }) },
};

const absent: Provider = {
  open() {
    throw new Error('the in-process runtime was not meant');
  },
};

function stageOf(way: Way, host: ScriptedOpenAI, settings: object = {}): FaultStage {
  const outbound = new Outbound();
  const providers = testedProviders({ outbound, universal: absent, settings, runtimeUrls: way.urls?.(host) ?? [] });
  const model = { name: 'tested', provider: way.id, model: 'm', ...way.model(host) } as ModelConfig;
  return { provider: providers[way.id], model, close: () => outbound.close() };
}

for (const [name, way] of Object.entries(WAYS)) {
  providerSuite(name, async () => {
    const host = await ScriptedOpenAI.start();
    playActs(host);
    const stage = stageOf(way, host);
    const close = async (): Promise<void> => {
      await stage.close();
      await host.close();
    };
    return { ...stage, arrange: arrangeAct, active: () => host.active, close };
  });
  providerFaultSuite(name, (host, settings) => stageOf(way, host, settings));
}
