import type { Json } from '../../formats/model-files.js';

/** The classes whose tokenizers transformers makes anew with a `BertNormalizer`, by their own settings. */
const BERT_CLASS = /^(?:Bert|DistilBert|Electra|MPNet|MobileBert|SqueezeBert|ConvBert|Funnel|LayoutLM|Lxmert|Splinter)Tokenizer(?:Fast)?$/;

/** The contents of `tokenizer.json` as far as they are read here. */
interface Definition {
  readonly normalizer?: Json | null;
}

/**
 * A tokenizer of BERT's kind with what its `tokenizer_config.json` says of case, accents and Chinese characters, which goes before the same settings in
 * `tokenizer.json`, as in Python's `AutoTokenizer`; all others as they are.
 */
export function configuredNormalizer(definition: object, config: object): object {
  const { normalizer } = definition as Definition;
  const { tokenizer_class: kind, do_lower_case, strip_accents, tokenize_chinese_chars } = config as Json;
  if (normalizer?.type !== 'BertNormalizer' || (typeof kind === 'string' && !BERT_CLASS.test(kind))) return definition;
  const settings: Record<string, unknown> = { ...normalizer };
  if (typeof do_lower_case === 'boolean') settings.lowercase = do_lower_case;
  // Null means that accents go with the case.
  if (typeof strip_accents === 'boolean' || strip_accents === null) settings.strip_accents = strip_accents;
  if (typeof tokenize_chinese_chars === 'boolean') settings.handle_chinese_chars = tokenize_chinese_chars;
  return { ...definition, normalizer: settings };
}

/** A tokenizer that brings texts to lower case before it does anything else with them. */
export function lowerCasing(definition: object): object {
  const { normalizer } = definition as Definition;
  const normalizers = [{ type: 'Lowercase' }, ...(normalizer ? [normalizer] : [])];
  return { ...definition, normalizer: { type: 'Sequence', normalizers } };
}
