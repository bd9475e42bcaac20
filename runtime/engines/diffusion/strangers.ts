import { type Json, type PipelineFolder, unsupported } from './repository.js';

/** Parts of pipelines of other kinds, as `model_index.json` names them. */
const STRANGE = ['transformer', 'transformer_2', 'prior', 'text_encoder_3', 'controlnet', 'motion_adapter', 'low_res_scheduler'];
const NEEDED = ['text_encoder', 'unet'];

const isThere = (entry: unknown): boolean => Array.isArray(entry) && entry.some((part) => typeof part === 'string');

/** Throws `bad_request` naming a pipeline that cannot be one of the kinds that run here, before a missing file is complained about. */
export function refuseStrangers(folder: PipelineFolder, index: Json): void {
  const name = typeof index._class_name === 'string' ? index._class_name.slice(0, 80) : 'pipeline of no known kind';
  const strange = STRANGE.find((part) => isThere(index[part]));
  if (strange !== undefined) throw unsupported(`it is a ${name} with a ${strange}`);
  if (!Object.values(index).some(isThere)) return;
  const missing = NEEDED.find((part) => !isThere(index[part]) && !folder.hasGraph(part));
  if (missing !== undefined) throw unsupported(`it is a ${name} without a ${missing}`);
}
