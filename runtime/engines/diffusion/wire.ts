import type { ImageJob, ImageProgress } from '../contracts/images.js';
import type { ProviderFacts } from '../onnx/contract.js';

/** Asks a fresh host to open a pipeline. */
export interface OpenBody {
  /** As the caller named it, and the format of its graphs; null without a wish. */
  readonly id: string;
  readonly quantisation: string | null;
  readonly folder: string;
  readonly threads: number;
  readonly provider: string;
}

/** What an opened pipeline is. */
export interface OpenedPipeline {
  readonly scale: number;
  readonly scheduler: string;
  readonly devices: ProviderFacts;
}

/** Asks for images under an id of the caller's choice. */
export interface GenerateBody {
  readonly id: number;
  readonly job: ImageJob;
}

/** News of a job that runs. */
export interface ProgressEvent extends ImageProgress {
  readonly id: number;
}
