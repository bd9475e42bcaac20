import { basename } from 'node:path';
import { log } from '../../base/log.js';
import type { LanguageOptions } from '../../engines/contracts/language.js';
import { forcesCpu } from '../../engines/contracts/loaded.js';
import type { LanguageClient } from '../../engines/language/client.js';
import type { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import { defaultThreads } from '../../hosts/memory.js';
import type { FoundModel } from '../find/contract.js';
import type { TemplateMemory } from './chat-templates.js';
import type { Room } from './residency.js';

const NOT = /^(0|false|no)$/i;

/** What the loading of a language model needs. */
interface LanguageLoad {
  /** As the caller named it. */
  readonly name: string;
  readonly found: FoundModel;
  readonly options: LanguageOptions;
  /** Where an ONNX export runs: `auto`, `cpu`, or an execution provider's name. */
  readonly device: string;
  readonly room: Room;
  readonly templates: TemplateMemory;
  readonly circuit: CircuitBreaker;
}

/** Makes room for a language model and loads it with the engine of its format into a host of its own. */
export const loadLanguage = (load: LanguageLoad, stop: AbortSignal): Promise<LanguageClient> =>
  load.found.format === 'gguf' ? loadGgufModel(load, stop) : loadOnnxModel(load, stop);

/** What a load tells of the model before the engine does, the change of its chat template first. */
async function notesOf({ found, templates }: LanguageLoad, model: string, templateHash: string): Promise<string[]> {
  const changed = await templates.note(model, templateHash);
  return [...(changed === null ? [] : [changed]), ...found.notes];
}

/** Reads the header, makes room, and plans by what is free then. */
async function loadGgufModel(load: LanguageLoad, stop: AbortSignal): Promise<LanguageClient> {
  const { name, found, options, room, circuit } = load;
  const [{ loadGguf }, { planLoad }, { ggufHeader }, { templateHash }] = await Promise.all([
    import('../../engines/language/gguf/load.js'),
    import('../../engines/language/gguf/plan.js'),
    import('../../formats/gguf/header.js'),
    import('../../engines/language/templates/known-templates.js'),
  ]);
  const [path] = found.weights;
  const header = await ggufHeader(path);
  const notes = await notesOf(
    load,
    found.quantisation === null ? found.id : `${found.id}:${found.quantisation}`,
    templateHash(header.template),
  );
  await room.make(header.sizeBytes);
  const warmUp = !NOT.test(process.env.QUERN_WARM_UP ?? '');
  const machine = { availableBytes: room.freeBytes, threads: defaultThreads(), forceCpu: forcesCpu(), warmUp };
  const plan = planLoad(header, options, machine);
  const client = await room.promise(plan.memoryBytes, () => loadGguf({ name, header, plan, circuit, notes }, stop));
  const { contextSize, options: used, template } = client.info;
  log('info', `${name} is the file ${basename(path)}`, { contextSize, slots: used.n_slots, template: template.hash });
  if (found.source === 'built-in') {
    log(
      'info',
      `${name} is built in and small. Better models are one command away: quern pull org/repo:Q4_K_M, then name it in project.yaml`,
    );
  }
  return client;
}

async function loadOnnxModel(load: LanguageLoad, stop: AbortSignal): Promise<LanguageClient> {
  const { name, found, options, device, room, circuit } = load;
  const { folder, sizeBytes } = found;
  const [{ loadExport }, { chatTemplate }, { templateHash }] = await Promise.all([
    import('../../engines/language/onnx/load.js'),
    import('../../engines/language/onnx/export-files.js'),
    import('../../engines/language/templates/known-templates.js'),
  ]);
  const notes = await notesOf(load, `onnx:${found.id}`, templateHash(chatTemplate(folder)));
  const [graph] = found.weights;
  return room.promise(sizeBytes, () => loadExport({ name, folder, graph, sizeBytes, options, device, circuit, notes }, stop));
}
