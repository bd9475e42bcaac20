import { basename } from 'node:path';
import { log } from '../../base/log.js';
import type { GgufOptions } from '../../engines/contracts/language.js';
import type { GgufClient } from '../../engines/language/client.js';
import type { Circuit } from '../../hosts/circuit.js';
import { defaultThreads } from '../../hosts/memory.js';
import type { FoundModel } from '../find/gguf.js';
import type { Room } from '../residency/room.js';
import type { TemplateMemory } from './template-memory.js';

const SURE = /^(1|true|yes)$/i;
const NOT = /^(0|false|no)$/i;

/** What the loading of a language model needs. */
export interface LanguageLoad {
  /** As the caller named it. */
  readonly name: string;
  readonly found: FoundModel;
  readonly options: GgufOptions;
  readonly room: Room;
  readonly templates: TemplateMemory;
  readonly circuit: Circuit;
}

/** Reads the header of a language model, makes room, plans by what is free then, and loads it into a host of its own. */
export async function loadLanguage(load: LanguageLoad, stop: AbortSignal): Promise<GgufClient> {
  const { name, found, options, room, templates, circuit } = load;
  const gguf = await import('../../engines/language/gguf/index.js');
  const header = await gguf.ggufHeader(found.path);
  const model = found.quantisation === null ? found.id : `${found.id}:${found.quantisation}`;
  const changed = await templates.note(model, gguf.templateHash(header.template));
  await room.make(header.sizeBytes);
  const forceCpu = SURE.test(process.env.GGUF_FORCE_CPU ?? '');
  const warmUp = !NOT.test(process.env.QUERN_WARM_UP ?? '');
  const machine = { availableBytes: room.freeBytes, threads: defaultThreads(), forceCpu, warmUp };
  const plan = gguf.planLoad(header, options, machine);
  const notes = [...(changed === null ? [] : [changed]), ...found.notes];
  const client = await room.promise(plan.memoryBytes, () => gguf.GgufClient.load({ name, header, plan, circuit, notes }, stop));
  const { contextSize, options: used, template } = client.info;
  log('info', `${name} is the file ${basename(found.path)}`, { contextSize, slots: used.n_slots, template: template.hash });
  if (found.source === 'built-in') {
    log(
      'info',
      `${name} is built in and small. Better models are one command away: quern pull org/repo:Q4_K_M, then name it in project.yaml`,
    );
  }
  return client;
}
