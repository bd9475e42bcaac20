import type { Tokenizer } from '@huggingface/tokenizers';
import { Failure } from '../../../schemas/errors.js';
import { openTokenizer } from '../tokenizers/long-words.js';
import { readMembers } from './settings.js';

/** Texts to tokens and back, for models that write. */
export class TokenText {
  readonly #tokenizer: Tokenizer;
  readonly unknownId: number | undefined;

  private constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
    const unknown = tokenizer.model?.unk_token;
    this.unknownId = unknown === undefined ? undefined : tokenizer.token_to_id(unknown);
  }

  /** Reads `tokenizer.json` of a folder. Throws `invalid` where it is absent or none. */
  static async open(folder: string): Promise<TokenText> {
    const [definition, config = {}] = await Promise.all([
      readMembers(folder, 'tokenizer.json'),
      readMembers(folder, 'tokenizer_config.json'),
    ]);
    if (!definition)
      throw new Failure('invalid', 'The model has no tokenizer.json; get it again with all its files.', { code: 'InvalidModelFile' });
    try {
      return new TokenText(openTokenizer(definition, config));
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure('invalid', 'tokenizer.json is not a usable tokenizer; get the model again.', { code: 'InvalidModelFile', cause });
    }
  }

  /** Ids of a text; tags that the vocabulary has are one token. */
  ids(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** The text of tokens, tags included. */
  text(ids: readonly number[]): string {
    return ids.length === 0 ? '' : this.#tokenizer.decode([...ids], { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  }

  /** The text of tokens without those that frame it. */
  plain(ids: readonly number[]): string {
    return ids.length === 0 ? '' : this.#tokenizer.decode([...ids], { skip_special_tokens: true });
  }

  /** Added tokens whose text fits a pattern. */
  tags(pattern: RegExp): { id: number; text: string }[] {
    return [...this.#tokenizer.get_added_tokens_decoder()]
      .map(([id, { content }]) => ({ id, text: content }))
      .filter(({ text }) => pattern.test(text));
  }
}
