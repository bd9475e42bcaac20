import type { NativeModelInfo } from '../../../../native/contract.js';
import type { GgufHeader } from '../../../formats/gguf/header.js';
import type { CircuitBreaker } from '../../../hosts/circuit-breaker.js';
import type { LanguageInfo } from '../../contracts/language.js';
import { deviceNames } from '../../contracts/loaded.js';
import { LanguageClient } from '../client.js';
import { templateFacts } from '../templates/known-templates.js';
import type { RendererFacts } from '../templates/renderer.js';
import { type LoadPlan, optionsOf } from './plan.js';

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

const ENGINE = new URL('./entry.js', import.meta.url);

/** What `loadGguf` needs. */
interface GgufLoad {
  /** The model as the caller named it, for messages. */
  readonly name: string;
  readonly header: GgufHeader;
  readonly plan: LoadPlan;
  readonly circuit: CircuitBreaker;
  /** Notes from before, such as of another quantisation, listed first. */
  readonly notes: readonly string[];
  readonly onProgress?: (fraction: number) => void;
}

/** Loads a GGUF model into a host of its own. Throws as `LanguageClient.open` does. */
export function loadGguf(load: GgufLoad, stop: AbortSignal): Promise<LanguageClient> {
  const { header, plan } = load;
  const { controlTexts, bosText, eosText } = header.vocabulary;
  const { isLongRope } = header;
  const body: OpenBody = { path: header.path, plan, isLongRope, template: header.template, controlTexts, bosText, eosText };
  const describe = (opened: unknown): LanguageInfo => infoOf(load, opened as OpenedModel);
  const stateTag = (opened: unknown): string => (opened as OpenedModel).stateTag;
  return LanguageClient.open({ ...load, engine: ENGINE, body, describe, stateTag }, stop);
}

function infoOf(load: GgufLoad, opened: OpenedModel): LanguageInfo {
  const { header, plan } = load;
  const wanted = plan.gpuLayers !== 0;
  const others = opened.devices.filter((device) => device.kind !== 'cpu').map((device) => device.name);
  const used = opened.native.devices;
  const onOther = used.some((name) => others.includes(name));
  const why = !wanted
    ? 'GPU layers are set to 0'
    : others.length === 0
      ? 'no GPU or accelerator was found'
      : 'the engine placed no layer there';
  return {
    path: header.path,
    name: header.name,
    architecture: header.architecture,
    sizeBytes: header.sizeBytes,
    contextSize: Math.min(plan.contextSize, opened.contextSize),
    trainedContextSize: header.contextLength || opened.native.trainedContextSize,
    ...(header.vocabulary.longestToken === undefined ? {} : { longestToken: header.vocabulary.longestToken }),
    options: optionsOf(plan),
    template: templateFacts(header.template, opened.template),
    sampling: header.sampling,
    devices: {
      requested: wanted ? 'auto' : 'cpu',
      available: deviceNames(opened.devices.map((device) => device.name)),
      used: deviceNames(used),
      why: onOther ? null : why,
    },
    notes: [...load.notes, ...header.notes, ...plan.notes, ...opened.notes],
  };
}
