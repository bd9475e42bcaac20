import type { NativeModelInfo } from '../../../../native/contract.js';
import type { RendererFacts } from '../templates/renderer.js';
import type { LoadPlan } from './plan.js';

/** Asks a fresh host to load a model. */
export interface OpenBody extends Omit<RendererFacts, 'vocabularySize'> {
  readonly path: string;
  readonly plan: LoadPlan;
  readonly isLongRope: boolean;
}

/** What a loaded model is. */
export interface OpenedModel {
  native: NativeModelInfo;
  /** As the engine has it after rounding. */
  contextSize: number;
  /** Every device that the engine found, the CPU included. */
  devices: { name: string; kind: 'cpu' | 'gpu' | 'accel' }[];
  notes: string[];
  /** Jinja text that conversations are written by: the file's, or one in its place. */
  template: string;
  /** `stateTag` of the model. */
  stateTag: string;
}
