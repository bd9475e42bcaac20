import { CHATML_TEMPLATE } from '../writers/chat-template.js';
import type { GgufFile } from '../writers/gguf-writer.js';
import { llamaMetadata } from '../writers/llama-metadata.js';
import { vocabularyMetadata } from '../writers/vocabulary.js';
import { compileProgram } from './program.js';
import type { ScriptTable, ToolAnswerTable } from './script.js';
import { puppetTensors } from './weights.js';

/** What a puppet is called and what it says. */
export interface PuppetModel {
  readonly name: string;
  readonly description: string;
  readonly scripts: ScriptTable;
  readonly toolAnswers: ToolAnswerTable;
  /** Tokens of context that the file declares. */
  readonly contextLength: number;
  /**
   * Tokens of prompt over which the order of trigger words is certain. With keys cached as F16, BF16 or F32 it may be
   * 8192; quantised types need a shorter one: 512 for Q8_0, 64 for Q4_0.
   */
  readonly reach: number;
}

/**
 * A model of hand-set weights (3 to 5 MB) that answers byte-exactly by trigger word of the latest user turn, at any
 * temperature up to 2, unless its script leaves a choice. Throws RangeError where scripts cannot be told apart.
 */
export function puppetModel(model: PuppetModel): GgufFile {
  const program = compileProgram(model.scripts, model.toolAnswers);
  const { shape, tensors } = puppetTensors(program, model.contextLength, model.reach);
  return {
    metadata: [
      ...llamaMetadata(model.name, model.description, shape, program.vocabulary.tokens.length),
      ...vocabularyMetadata(program.vocabulary, CHATML_TEMPLATE),
    ],
    tensors,
  };
}
