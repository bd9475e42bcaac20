import { createHash } from 'node:crypto';
import type { WireFailure } from '../../hosts/protocol.js';
import type { AdapterUse, GenerateEvent, GenerateRequest } from '../contracts/language.js';

/** Starts a generation under an id of the caller's choice, unique while it runs. */
export interface GenerateBody extends GenerateRequest {
  id: number;
}

/** Asks for a copy of what a remembered generation left behind. */
export interface SaveBody {
  name: string;
  file: string;
  keep: boolean;
}

/** Asks for a copy to be put back. */
export interface RestoreBody {
  file: string;
  keep: boolean;
  adapters: readonly AdapterUse[];
}

/** The news of one generation beside its text. */
export type StepExtra = Pick<GenerateEvent, 'progress' | 'logprobs' | 'finish' | 'stopText' | 'counts'> & { failure?: WireFailure };

/**
 * One message per decode step for all generations: parallel arrays, and for the few that have more to say, the index and what.
 * A model that loads sends `progress` (0 to 1) instead.
 */
export type HostEvent = { progress: number } | { ids: number[]; texts: string[]; tokens: number[]; extras: [number, StepExtra][] };

/** The tag of KV states of texts that are made with these adapters: 16 hex digits, the model's own without any. */
export function adaptedTag(tag: string, adapters: readonly AdapterUse[]): string {
  if (adapters.length === 0) return tag;
  const facts = adapters.map(({ file, stamp, scale }) => [file, stamp, scale].join('\0')).sort();
  return createHash('sha256')
    .update(JSON.stringify([tag, facts]))
    .digest('hex')
    .slice(0, 16);
}
