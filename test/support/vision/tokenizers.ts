/** A tokenizer of whole pieces: special tokens first, then pieces that are joined without spaces. */
export function lettersTokenizer(specials: readonly string[], pieces: readonly string[]): object {
  return {
    version: '1.0',
    added_tokens: specials.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: {
      type: 'BPE',
      unk_token: '<unk>',
      fuse_unk: false,
      ignore_merges: true,
      vocab: Object.fromEntries([...specials, ...pieces].map((piece, id) => [piece, id])),
      merges: [],
    },
  };
}
