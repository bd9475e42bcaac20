// Exports of tiny language models in every form that test/api/onnx-chat.test.ts asks, in one data directory.
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyDataDir } from '../../daemon.js';
import { puppetPath } from '../cache.js';
import { writeTinyDiffusion } from '../tiny-diffusion/tiny-diffusion.js';
import { type TinyCausalOptions, writeTinyCausal } from './tiny-causal.js';

/** Puts a token before and after each text. */
const FRAME = {
  type: 'TemplateProcessing',
  single: [
    { SpecialToken: { id: '<|im_start|>', type_id: 0 } },
    { Sequence: { id: 'A', type_id: 0 } },
    { SpecialToken: { id: '<|im_end|>', type_id: 0 } },
  ],
  pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
  special_tokens: {
    '<|im_start|>': { id: '<|im_start|>', ids: [256], tokens: ['<|im_start|>'] },
    '<|im_end|>': { id: '<|im_end|>', ids: [257], tokens: ['<|im_end|>'] },
  },
};
export const dataDir = emptyDataDir();
export const folder = (name: string): string => join(dataDir, 'models', 'tiny', name);
writeTinyCausal(folder('writer'));
writeTinyCausal(folder('forgetful'), { withoutPast: true });
writeTinyCausal(folder('undecided'), { undecided: true });
writeTinyCausal(folder('thinker'), { thinks: true });
writeTinyCausal(folder('branched'), { branches: true });
writeTinyCausal(folder('single'), { single: true });
writeTinyCausal(folder('keeping'), { keepsLogits: true });
for (const states of ['pieces', 'singles'] as const) writeTinyCausal(folder(`stated-${states}`), { states });
writeTinyCausal(folder('broken'));
writeFileSync(join(folder('broken'), 'onnx/model.onnx'), 'garbage');
writeTinyCausal(folder('mute'));
rmSync(join(folder('mute'), 'tokenizer.json'));
writeTinyCausal(folder('bare-graph'));
for (const name of ['config.json', 'tokenizer.json']) rmSync(join(folder('bare-graph'), name));
writeTinyCausal(folder('apart'));
renameSync(join(folder('apart'), 'tokenizer.json'), join(folder('apart'), 'onnx/tokenizer.json'));
writeTinyCausal(folder('part'));
renameSync(join(folder('part'), 'onnx/model.onnx'), join(folder('part'), 'onnx/encoder_model.onnx'));
writeTinyDiffusion(folder('painter'));
writeTinyCausal(folder('both'));
copyFileSync(puppetPath(), join(folder('both'), 'both.gguf'));
/** Moves a model's settings beside its graph. */
function moveSettings(name: string): void {
  const settings = readdirSync(folder(name), { withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name: file } of settings) renameSync(join(folder(name), file), join(folder(name), 'onnx', file));
}
writeTinyCausal(folder('beside'));
moveSettings('beside');
/** Writes a model whose only graph has another name. */
function writeAs(name: string, graph: string): void {
  writeTinyCausal(folder(name));
  renameSync(join(folder(name), 'onnx/model.onnx'), join(folder(name), `onnx/${graph}.onnx`));
}
writeAs('half', 'model_fp16');
writeAs('merged', 'decoder_model_merged_q4');
/** Writes a model whose config.json has further members. */
function writeConfigured(name: string, more: object, options: TinyCausalOptions = {}): void {
  writeTinyCausal(folder(name), options);
  const path = join(folder(name), 'config.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...more }));
}
export const OTHERS = [
  'BertForTokenClassification',
  'RobertaForSequenceClassification',
  'DistilBertForMaskedLM',
  'T5ForConditionalGeneration',
];
for (const architecture of OTHERS) writeConfigured(architecture, { architectures: [architecture] });
writeConfigured('ranker-beside', { architectures: ['TinyForSequenceClassification'] });
moveSettings('ranker-beside');
writeConfigured('generator', { architectures: ['TinyForCausalLM'] });
writeConfigured('bare', { architectures: ['TinyModel'] });
writeConfigured('far', { text_config: { max_position_embeddings: 10_485_760 } });
writeConfigured('seeing', { architectures: ['TinyForConditionalGeneration'], text_config: { max_position_embeddings: 512 } });
writeTinyCausal(folder('typed'), { needs: 'token_type_ids' });
writeTinyCausal(folder('attending'), { needs: 'encoder_hidden_states' });
for (const head of ['text', 'undeclared', 'labels'] as const) writeTinyCausal(folder(`head-${head}`), { head });
/** Writes a model with another file of settings beside the graph's. */
function writeWith(
  name: string,
  file: string,
  content: (now: Record<string, unknown>) => object | string,
  options: TinyCausalOptions = {},
): void {
  writeTinyCausal(folder(name), options);
  const path = join(folder(name), file);
  const made = content(existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {});
  writeFileSync(path, typeof made === 'string' ? made : JSON.stringify(made));
}
writeWith('listing', 'tokenizer_config.json', (now) => ({ ...now, added_tokens_decoder: { 9: { content: '<unused>'.repeat(200_000) } } }));
writeWith('own-template', 'chat_template.jinja', () => '{{ messages[0].content | lower }}{{ "\n" }}');
writeWith('ending', 'generation_config.json', () => ({ eos_token_id: [7, 'F'.charCodeAt(0)] }));
writeWith('recommending', 'generation_config.json', () => ({ top_k: 1, temperature: 'high', min_p: 7 }), { undecided: true });
writeWith('spaced', 'tokenizer.json', (now) => ({
  ...now,
  decoder: { type: 'Sequence', decoders: [now.decoder, { type: 'Strip', content: ' ', start: 1, stop: 0 }] },
}));
writeWith('framing', 'tokenizer.json', (now) => ({ ...now, post_processor: FRAME }));
