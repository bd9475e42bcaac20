/** The model families that the pinned llama.cpp knows (llama-arch.cpp), those left out that hold no language model. */
export const ARCHITECTURES: ReadonlySet<string> = new Set(
  `afmoe apertus arcee arctic arwkv7 baichuan bailingmoe bailingmoe2 bailingmoe3 bitnet bloom chameleon chatglm codeshell cogvlm cohere2
  cohere2moe command-r dbrx deci deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 dflash dots1 dots3note dream eagle3 ernie4_5
  ernie4_5-moe exaone exaone-moe exaone4 falcon falcon-h1 gemma gemma2 gemma3 gemma3n gemma4 gemma4-assistant glm-dsa glm4 glm4moe gpt-oss
  gpt2 gptj gptneox granite granite_swa granitehybrid granitemoe graniteswitch grok grovemoe hunyuan-dense hunyuan-moe hunyuan_vl hy_v3
  internlm2 jais jais2 jamba kimi-k3 kimi-linear laguna lfm2 lfm2moe llada llada-moe llama llama4 maincoder mamba mamba2 mellum mimo2
  minicpm minicpm3 minimax-01 minimax-m2 minimax-m3 mistral3 mistral4 mpt muse-glimmer nanbeige nemotron nemotron_h nemotron_h_moe olmo
  olmo2 olmoe openelm orion paddleocr pangu-embedded phi2 phi3 phimoe plamo plamo2 plamo3 plm qwen qwen2 qwen2moe qwen2vl qwen3 qwen35
  qwen35moe qwen3moe qwen3next qwen3vl qwen3vlmoe qwen4exp refact rnd1 rwkv6 rwkv6qwen2 rwkv7 seed_oss smallthinker smollm3 stablelm
  starcoder starcoder2 step35 t5 talkie xverse`.split(/\s+/),
);

/** What the families hold that make embeddings and nothing else. */
export const EMBEDDING_MODEL = 'an embedding model';

/** Files that hold something else than a language model, and what they hold. */
export const OTHER_ARCHITECTURES: Readonly<Record<string, string>> = {
  clip: 'a projector for images or sound',
  bert: EMBEDDING_MODEL,
  eurobert: EMBEDDING_MODEL,
  'gemma-embedding': EMBEDDING_MODEL,
  'jina-bert-v2': EMBEDDING_MODEL,
  'jina-bert-v3': EMBEDDING_MODEL,
  'llama-embed': EMBEDDING_MODEL,
  'modern-bert': EMBEDDING_MODEL,
  'neo-bert': EMBEDDING_MODEL,
  'nomic-bert': EMBEDDING_MODEL,
  'nomic-bert-moe': EMBEDDING_MODEL,
  pockettts: 'a speech model',
  qwen3tts: 'a speech model',
  t5encoder: 'an encoder',
  'wavtokenizer-dec': 'a sound decoder',
};
