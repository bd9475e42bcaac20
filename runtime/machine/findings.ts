import { humanSize } from '../base/files.js';
import type { Machine } from './machine.js';

/** One thing that was looked at. */
export interface Finding {
  readonly about: string;
  readonly state: 'good' | 'note' | 'bad';
  readonly found: string;
  /** What to do; empty where nothing is to be done. */
  readonly advice: string;
}

const LITTLE_MEMORY = 4 * 1024 ** 3;

/** What the machine is like: processor, memory and devices, each with what to do. */
export function machineFindings(machine: Machine): Finding[] {
  const { processor, cores, features, memoryBytes, accelerators } = machine;
  const hasVectors = features.some((name) => ['AVX2', 'NEON'].includes(name));
  const devices = accelerators.map<Finding>(({ kind, name, memoryBytes: own, isUsable, advice }) => ({
    about: kind === 'GPU' ? 'graphics' : 'neural unit',
    state: isUsable ? 'good' : 'note',
    found: `${name}${own === null ? '' : `, ${humanSize(own)}`}`,
    advice,
  }));
  return [
    {
      about: 'processor',
      state: hasVectors ? 'good' : 'note',
      found: `${processor}, ${cores} cores${features.length > 0 ? ` (${features.join(', ')})` : ''}`,
      advice: hasVectors ? '' : 'it has no AVX2 or NEON, so models and searches are several times slower',
    },
    {
      about: 'memory',
      state: memoryBytes < LITTLE_MEMORY ? 'note' : 'good',
      found: humanSize(memoryBytes),
      advice: memoryBytes < LITTLE_MEMORY ? 'choose models below 1 GB: "quern pull" lists them' : '',
    },
    ...(devices.length > 0
      ? devices
      : [{ about: 'graphics', state: 'good', found: 'none; models run on the processor', advice: '' } as const]),
  ];
}
