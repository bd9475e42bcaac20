import type { EncoderService } from '../../runtime/encoders/contract.js';
import { AnomalyDetectors } from '../../runtime/ml/anomaly/detectors.js';
import { Classifiers } from '../../runtime/ml/classifiers/classifiers.js';

/** What is saved. */
export type Kind = 'anomaly' | 'classifier';

/** Two models that take one name in turn. */
export interface SavedModels {
  /** Fits the first (0) or the second (1) and saves it as `m`, over what is there. */
  save(which: number): Promise<void>;
  /** Reads `m` from the disk; answers that tell the first from the second, and either from a damaged one. */
  answers(): Promise<string>;
}

const { signal } = new AbortController();
const COLUMNS = 10;
/** Enough for a file of 5 MB, whose save takes some ten milliseconds. */
const ROWS = 60_000;

function anomaly(folder: string): SavedModels {
  const service = new AnomalyDetectors(folder);
  const asked = { model: 'm', backend: 'ecod', normalization: 'raw' } as const;
  const rows = (count: number, from: number) =>
    Array.from({ length: count }, (_row, row) => Array.from({ length: COLUMNS }, (_one, at) => Math.sin(from + row * COLUMNS + at)));
  return {
    save: async (which) => {
      const fit = { ...asked, data: rows(ROWS, which * 0.5), contamination: 0.1, epochs: 1, batchSize: 1, overwrite: true };
      await service.fit(fit, signal);
    },
    answers: async () => {
      await service.load(asked);
      const { raw, threshold } = await service.score({ ...asked, data: rows(5, 0.2), explain: false }, signal);
      return JSON.stringify([threshold, ...raw]);
    },
  };
}

/** Embeds by the first letter. */
const encoders = {
  embed: async (_ask: unknown, texts: readonly string[]) => ({
    vectors: texts.map((text) => Float32Array.of(1, text < 'm' ? 1 : -1)),
    tokens: 0,
  }),
} as unknown as EncoderService;

function classifier(folder: string): SavedModels {
  const service = new Classifiers(folder, encoders);
  return {
    save: async (which) => {
      const labels = which === 0 ? ['low', 'high'] : ['early', 'late'];
      const examples = ['a', 'b', 'x', 'y'].map((text) => ({ text, label: text < 'm' ? labels[0]! : labels[1]! }));
      await service.fit({ model: 'm', baseModel: 'any', examples, iterations: 1, batchSize: 1, seed: 1, overwrite: true }, signal);
    },
    answers: async () => {
      await service.load('m');
      const { labels, probabilities } = await service.predict('m', ['c', 'z'], signal);
      return JSON.stringify([labels, ...probabilities]);
    },
  };
}

/** Opens a folder of models as a process does that has just started. */
export function opened(folder: string, kind: Kind): SavedModels {
  return { anomaly, classifier }[kind](folder);
}
