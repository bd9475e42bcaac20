import { join } from 'node:path';
import type { EncoderService } from '../encoders/contract.js';
import type { Classifiers } from '../ml/classifiers/classifiers.js';
import type { ClassifierService } from '../ml/classifiers/contract.js';
import type { Outbound } from '../net/outbound.js';

/** Text classifiers as the gateway uses them. */
export interface OpenClassifiers {
  /** The classifiers of this machine. */
  readonly classifiers: ClassifierService;
  /** Those that the core uses: the same, or the ones of the remote runtimes. */
  readonly coreClassifiers: ClassifierService;
  /** Ends fits; what is being written is finished. */
  readonly close: () => Promise<void>;
}

/** What classifiers are opened with. */
export interface ClassifierParts {
  readonly dataDir: string;
  /** Those of this machine. */
  readonly encoders: EncoderService;
  readonly outbound: Outbound;
  readonly runtimeUrls: readonly string[];
}

/** Makes classifiers whose code is loaded at the first request, so that a start does not wait for it. */
export function openClassifiers({ dataDir, encoders, outbound, runtimeUrls }: ClassifierParts): OpenClassifiers {
  let opened: Classifiers | undefined;
  const classifiers = lazily(async () => {
    const { Classifiers } = await import('../ml/classifiers/classifiers.js');
    opened = new Classifiers(join(dataDir, 'models', 'classifier'), encoders);
    return opened;
  });
  const remote = async (): Promise<ClassifierService> => {
    const { RemoteClassifiers } = await import('../remote/classifiers.js');
    return new RemoteClassifiers(outbound, runtimeUrls);
  };
  return {
    classifiers,
    coreClassifiers: runtimeUrls.length > 0 ? lazily(remote) : classifiers,
    close: async () => opened?.close(),
  };
}

function lazily(load: () => Promise<ClassifierService>): ClassifierService {
  let loading: Promise<ClassifierService> | undefined;
  const service = (): Promise<ClassifierService> => {
    loading ??= load();
    return loading;
  };
  return {
    fit: async (...given) => (await service()).fit(...given),
    predict: async (...given) => (await service()).predict(...given),
    save: async (...given) => (await service()).save(...given),
    load: async (...given) => (await service()).load(...given),
    list: async (...given) => (await service()).list(...given),
    remove: async (...given) => (await service()).remove(...given),
  };
}
