import { join } from 'node:path';
import type { AnomalyService } from '../ml/anomaly/contract.js';
import type { AnomalyDetectors } from '../ml/anomaly/detectors.js';
import type { Outbound } from '../net/outbound.js';

/** Batch anomaly detection as the gateway uses it. */
export interface OpenAnomaly {
  /** The detectors of this machine. */
  readonly anomaly: AnomalyService;
  /** Those that the core uses: the same, or the ones of the remote runtimes. */
  readonly coreAnomaly: AnomalyService;
  /** Ends fits; what is being written is finished. */
  readonly close: () => Promise<void>;
}

/** Makes anomaly detection whose code is loaded at the first request, so that a start does not wait for it. */
export function openAnomaly(parts: { dataDir: string; outbound: Outbound; runtimeUrls: readonly string[] }): OpenAnomaly {
  const { dataDir, outbound, runtimeUrls } = parts;
  let opened: AnomalyDetectors | undefined;
  const anomaly = lazily(
    async () => {
      const { AnomalyDetectors } = await import('../ml/anomaly/detectors.js');
      opened = new AnomalyDetectors(join(dataDir, 'models', 'anomaly'));
      return opened;
    },
    () => opened?.loaded() ?? [],
  );
  const remote = async (): Promise<AnomalyService> => {
    const { RemoteAnomaly } = await import('../remote/anomaly.js');
    return new RemoteAnomaly(outbound, runtimeUrls);
  };
  return {
    anomaly,
    coreAnomaly: runtimeUrls.length > 0 ? lazily(remote, () => []) : anomaly,
    close: async () => opened?.close(),
  };
}

function lazily(load: () => Promise<AnomalyService>, loaded: AnomalyService['loaded']): AnomalyService {
  let loading: Promise<AnomalyService> | undefined;
  const service = (): Promise<AnomalyService> => {
    loading ??= load();
    return loading;
  };
  return {
    fit: async (...given) => (await service()).fit(...given),
    score: async (...given) => (await service()).score(...given),
    save: async (...given) => (await service()).save(...given),
    load: async (...given) => (await service()).load(...given),
    list: async (...given) => (await service()).list(...given),
    remove: async (...given) => (await service()).remove(...given),
    loaded,
  };
}
