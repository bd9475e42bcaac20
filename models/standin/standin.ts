import { puppetModel } from '../puppet/puppet.js';
import type { GgufFile } from '../writers/gguf-writer.js';
import { STANDIN_CARD } from './card.js';
import { STANDIN_SCRIPTS, STANDIN_TOOL_ANSWERS } from './standin-scripts.js';

const CONTEXT = 8192;

/** The built-in model that answers until a trained one takes its place. */
export function standinModel(): GgufFile {
  return puppetModel({
    name: STANDIN_CARD.name,
    description: STANDIN_CARD.description,
    scripts: STANDIN_SCRIPTS,
    toolAnswers: STANDIN_TOOL_ANSWERS,
    contextLength: CONTEXT,
    reach: CONTEXT,
  });
}
