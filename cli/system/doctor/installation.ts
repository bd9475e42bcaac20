import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../../gateway/daemon/options.js';
import { loadCore } from '../../../native/core.js';
import { arePrebuilt, prebuiltComplaint } from '../../../native/prebuilt.js';
import type { Finding } from '../../../runtime/machine/machine.js';
import type { MachineReader } from '../../../runtime/machine/reader.js';

const NODE_MAJOR = 20;
const NATIVE = fileURLToPath(new URL('../../../../build/native', import.meta.url));
const SHOWN_HASH = 8;

/** How the native parts are; each text is one that `loadCore` and its neighbours gave. */
export interface AddonState {
  /** Why they are not to be used or do not load; null where they load. */
  readonly complaint: string | null;
  /** The best instructions of the processor that their code takes. */
  readonly instructions: string;
  /** They came with the package, and were not built here. */
  readonly isPrebuilt: boolean;
  /** Of the sources that they were built from, in hex; empty where nobody noted it. */
  readonly sources: string;
}

/** Loads the native parts into this process and says how they are. */
export function addonState(): AddonState {
  const isPrebuilt = arePrebuilt();
  const stamp = join(NATIVE, 'addon.stamp');
  const sources = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim() : '';
  try {
    const complaint = prebuiltComplaint();
    if (complaint !== undefined) return { complaint, instructions: '', isPrebuilt, sources };
    return { complaint: null, instructions: loadCore().instructionSet(), isPrebuilt, sources };
  } catch (error) {
    const { message, cause } = error as Error;
    return { complaint: String((cause as Error | undefined)?.message ?? message).split('\n')[0]!, instructions: '', isPrebuilt, sources };
  }
}

function addonFinding({ complaint, instructions, isPrebuilt, sources }: AddonState): Finding {
  const from = isPrebuilt
    ? 'as they were packed'
    : `built here${sources === '' ? '' : ` from the sources ${sources.slice(0, SHOWN_HASH)}`}`;
  if (complaint === null) return { about: 'native parts', state: 'good', found: `load (${instructions}), ${from}`, advice: '' };
  const advice = isPrebuilt
    ? 'the next start builds them from their source: install g++, cmake and git'
    : 'delete build/native and run "npm start"';
  return { about: 'native parts', state: 'bad', found: complaint, advice };
}

/** Node.js, the program, its native parts, and what builds them. */
export function installationFindings(reader: MachineReader, node: string, addon: AddonState): Finding[] {
  const isNew = Number(node.split('.')[0]) >= NODE_MAJOR;
  const compiler = ['g++', 'clang++', 'c++'].find((name) => reader.output(name, '--version') !== '');
  const isWanted = compiler === undefined && addon.complaint !== null;
  return [
    { about: 'Node.js', state: isNew ? 'good' : 'bad', found: node, advice: isNew ? '' : `install version ${NODE_MAJOR} or newer` },
    { about: 'Quern', state: 'good', found: VERSION, advice: '' },
    addonFinding(addon),
    {
      about: 'compiler',
      state: 'good',
      found: compiler ?? 'none',
      advice: isWanted ? 'install g++ and cmake, which build the native parts' : '',
    },
  ];
}
