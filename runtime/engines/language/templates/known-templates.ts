import { createHash } from 'node:crypto';
import type { LanguageInfo } from '../../contracts/language.js';

/** How conversations are written for a family of models. */
export interface KnownTemplate {
  /** Jinja text. */
  readonly template: string;
  /** Texts that end an answer where the model's own end is another token. */
  readonly stops: readonly string[];
}

const opening = (text: string): string => `{% if add_generation_prompt %}{{ '${text}' }}{% endif %}`;
const each = (turn: string): string => `{% for m in messages %}${turn}{% endfor %}`;
const ONLY_TURNS = "{% else %}{{ raise_exception('Only user and assistant turns are known') }}{% endif %}";

/** ChatML, for models whose vocabulary has its tokens. */
const CHATML = 'chatml';
/** The tokens of ChatML. */
const CHATML_TOKENS: readonly string[] = ['<|im_start|>', '<|im_end|>'];
/** A line per message, for models of which nothing is known. */
export const PLAIN = 'plain';

/** The known template in place of one that is missing, by the texts of a vocabulary's control tokens. */
export const fallbackFor = (controlTexts: readonly string[]): typeof CHATML | typeof PLAIN =>
  CHATML_TOKENS.every((token) => controlTexts.includes(token)) ? CHATML : PLAIN;

/** A note on such a template; `why` begins a sentence. */
export function fallbackNote(why: string, name: ReturnType<typeof fallbackFor>): string {
  const instead = name === CHATML ? 'ChatML, whose tokens its vocabulary has' : 'plain lines of text';
  return `${why}; conversations are written as ${instead}. Where answers are poor, give the template it was trained with as chat_template in extra_body.`;
}

/** The templates that `chat_template` may name. Models of 2023 and before often come without one; what their authors print in model cards is written here. */
export const KNOWN_TEMPLATES: Readonly<Record<string, KnownTemplate>> = {
  [CHATML]: {
    template: each("{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}") + opening('<|im_start|>assistant\\n'),
    stops: [...CHATML_TOKENS],
  },
  [PLAIN]: {
    template: each("{{ ('\\n' if not loop.first else '') + m.role | capitalize + ': ' + m.content }}") + opening('\\nAssistant:'),
    // The model goes on writing the user's part.
    stops: ['\nUser:', '\nSystem:', '\nTool:'],
  },
  'llama-2': {
    template: `{% set n = namespace(told='') %}${each(
      "{% if m.role == 'system' and loop.first %}{% set n.told = '<<SYS>>\\n' + m.content + '\\n<</SYS>>\\n\\n' %}" +
        "{% elif m.role == 'user' %}{{ bos_token + '[INST] ' + n.told + m.content + ' [/INST]' }}{% set n.told = '' %}" +
        `{% elif m.role == 'assistant' %}{{ ' ' + m.content + ' ' + eos_token }}${ONLY_TURNS}`,
    )}{% if n.told %}{{ bos_token + '[INST] ' + n.told + '[/INST]' }}{% endif %}`,
    stops: [],
  },
  'llama-3': {
    template: `{{ bos_token }}${each("{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content + '<|eot_id|>' }}")}${opening(
      '<|start_header_id|>assistant<|end_header_id|>\\n\\n',
    )}`,
    stops: ['<|eot_id|>'],
  },
  gemma: {
    template: `{{ bos_token }}${each(
      "{% if m.role in ['user', 'assistant'] %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else 'user') + '\\n' + m.content + '<end_of_turn>\\n' }}" +
        ONLY_TURNS,
    )}${opening('<start_of_turn>model\\n')}`,
    stops: ['<end_of_turn>'],
  },
  mistral: {
    template: `{{ bos_token }}${each(
      "{% if m.role == 'user' %}{{ '[INST] ' + m.content + ' [/INST]' }}{% elif m.role == 'assistant' %}{{ ' ' + m.content + eos_token }}" +
        ONLY_TURNS,
    )}`,
    stops: [],
  },
  'phi-3': { template: each("{{ '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}") + opening('<|assistant|>\\n'), stops: ['<|end|>'] },
  zephyr: {
    template: each("{{ '<|' + m.role + '|>\\n' + m.content + eos_token + '\\n' }}") + opening('<|assistant|>\\n'),
    stops: ['<|user|>'],
  },
  vicuna: {
    template:
      each(
        "{% if m.role == 'user' %}{{ 'USER: ' + m.content + ' ' }}{% elif m.role == 'assistant' %}{{ 'ASSISTANT: ' + m.content + eos_token }}" +
          "{% else %}{{ m.content + ' ' }}{% endif %}",
      ) + opening('ASSISTANT:'),
    stops: ['USER:'],
  },
  alpaca: {
    template:
      each(
        "{% if m.role == 'user' %}{{ '### Instruction:\\n' + m.content + '\\n\\n' }}{% elif m.role == 'assistant' %}{{ '### Response:\\n' + m.content + '\\n\\n' }}" +
          "{% else %}{{ m.content + '\\n\\n' }}{% endif %}",
      ) + opening('### Response:\\n'),
    stops: ['### Instruction:'],
  },
};

/** 16 hex digits that tell chat templates apart; empty for none. */
export function templateHash(template: string): string {
  return template === '' ? '' : createHash('sha256').update(template).digest('hex').slice(0, 16);
}

/** What is told of a chat template: `own` = that of the model's files, empty for none; `used` = text or known name of that by which conversations are written. */
export function templateFacts(own: string, used: string): LanguageInfo['template'] {
  const text = Object.hasOwn(KNOWN_TEMPLATES, used) ? KNOWN_TEMPLATES[used]!.template : used;
  return {
    present: own !== '',
    text,
    hash: templateHash(own),
    tools: /\btools\b/.test(text),
    thinking: text.includes('enable_thinking'),
  };
}
