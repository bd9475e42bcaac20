#pragma once

#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "layers.hpp"
#include "team.hpp"

namespace quern::encoder {

/// Texts that go through the layers together.
struct Slice {
  std::span<const int32_t> ids;
  std::span<const int32_t> lengths;
  std::span<const int32_t> types;  ///< as long as ids, or empty
  float* results;
};

/**
 * The way of a slice through an encoder, with the room that it takes. All threads of the team go the same way, each
 * with its share of every step: of the rows where they are normed and made ready for products, of the columns in
 * products, of the heads in attention.
 */
class Pass {
 public:
  /// Room for slices of up to `tokens`, whose texts have up to `longest`.
  Pass(const PackedEncoder& encoder, const EncoderKernels& kernels, Team& team, size_t tokens, size_t longest);

  size_t tokens() const noexcept { return tokens_; }
  size_t longest() const noexcept { return longest_; }
  size_t bytes() const noexcept { return arena_.used(); }
  /// The slice was checked, and there is room for it.
  void run(const Slice& slice);

 private:
  struct Text {
    size_t first;
    size_t tokens;
  };
  struct Range {
    size_t first, last;
  };
  /// Rows in a buffer, `step` numbers apart.
  struct Lines {
    float* values;
    size_t step;
  };
  struct Rows {
    Lines lines;
    Tiles tiles;
  };
  /// A product of rows that were made ready, and where its results go.
  struct Multiplication {
    const PreparedRows& rows;
    const PackedDense& product;
    Lines to;
    bool add = false;  ///< to what is there
    Activation activation = Activation::kNone;
  };
  void take_rows(const PackedEncoder& encoder);
  void go(size_t thread, const Slice& slice);
  void embed(size_t thread, const Slice& slice);
  void layer(size_t thread, size_t which);
  /// The queries of all tokens, or those of the first of each text, which lie row by row.
  void attend(size_t thread, std::atomic<size_t>& next_head, bool firsts);
  /// What a layer does to its rows after attention.
  void transform(size_t thread, const PackedLayer& layer, Rows rows);
  /// A row for each text: its first token, or the mean of all.
  void pool(size_t thread, HeadStepSource::Kind kind, Lines from, Lines to);
  void head(size_t thread, const Slice& slice);

  Range share(size_t thread, size_t count) const;
  /// The rows of a thread's tiles; what it wrote in them it may read without meeting the others.
  Range own_rows(size_t thread, Tiles tiles) const;
  void norm(Range rows, Lines lines, const PackedNorm& norm);
  void prepare(size_t thread, Tiles tiles, Lines rows, const PackedDense& product, const PreparedRows& to);
  void multiply(size_t thread, Tiles tiles, const Multiplication& step);
  /// Whether nothing but each text's first token is left after so many layers.
  bool firsts_after(size_t layers) const;
  /// The states of all tokens, or of the first of each text, in tiles of up to so many rows.
  Rows rows_of(bool firsts, size_t tile_rows) const;

  const PackedEncoder& encoder_;
  const EncoderKernels& kernels_;
  Team& team_;
  const size_t tokens_;
  const size_t longest_;
  const size_t layer_tile_, head_tile_;  ///< the most rows of a tile
  Arena arena_;
  Lines states_, queries_, keys_, values_, mixed_, inner_;
  std::array<Lines, 2> head_;
  std::array<PreparedRows, 3> prepared_;
  std::vector<std::span<uint32_t>> lines_;       ///< of a tile while it is made ready, by thread
  std::vector<std::span<float>> scratch_;        ///< of attention, by thread
  std::vector<std::atomic<size_t>> next_heads_;  ///< by layer
  std::vector<Text> texts_;
  Tiles tiles_{0, 0};
};

}  // namespace quern::encoder
