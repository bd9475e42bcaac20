#pragma once

#include "arena.hpp"
#include "places.hpp"
#include "source.hpp"

namespace quern::encoder {

/// Rows of states as a product reads them. Room for one number (or word) per row and depth.
struct PreparedRows {
  std::span<float> floats;
  std::span<uint32_t> words;  ///< shorts or bytes
  std::span<float> scales;    ///< of shorts
  std::span<ByteRow> terms;   ///< of bytes
};

/// Rows of `width` numbers, `step` apart.
struct StateRows {
  const float* values;
  size_t step;
};

/// The weights of a product, in the order in which they are read.
class PackedDense {
 public:
  /// What both sides are multiplied as.
  enum class Kind { kFloats, kShorts, kBytes };

  /// Results come `factor` times as large. The source was checked. Whoever prepares and multiplies has the same
  /// kernels.
  PackedDense(const EncoderKernels& kernels, const DenseSource& source, const Places& inputs, const Places& outputs,
              float factor, Arena& arena);

  Kind kind() const noexcept {
    return !bytes_.empty() ? Kind::kBytes : !shorts_.empty() ? Kind::kShorts : Kind::kFloats;
  }
  size_t depth() const noexcept { return depth_; }
  size_t panels() const noexcept { return panels_; }
  /// Words of a row that was prepared.
  size_t words() const noexcept;
  /// Whether what prepare() makes for one serves the other.
  bool prepares_like(const PackedDense& other) const;

  /// One tile's rows. `lines` has room for the words of a tile.
  void prepare(const EncoderKernels& kernels, Tiles tiles, size_t tile, StateRows rows, const PreparedRows& to,
               std::span<uint32_t> lines) const;
  /// Rows that were all prepared, times some panels. `results` gets the bias from here.
  void multiply(const EncoderKernels& kernels, Tiles tiles, const PreparedRows& rows, Results results) const;

 private:
  class Lines;

  void pack_floats(const DenseSource& source, const Lines& lines, float factor, Arena& arena);
  /// `scales` has one number per output.
  void pack_shorts(const EncoderKernels& kernels, const DenseSource& source, const Lines& lines,
                   std::span<const float> scales, float factor, Arena& arena);
  void pack_bytes(const EncoderKernels& kernels, const DenseSource& source, const Lines& lines, float factor,
                  Arena& arena);

  size_t depth_;
  size_t panels_;
  std::span<float> bias_;
  // One of the three has the weights.
  std::span<float> floats_;
  std::span<int16_t> shorts_;
  std::span<int8_t> bytes_;
  std::span<float> scales_;  ///< of shorts and bytes
  // Of bytes alone.
  int32_t most_byte_ = 0;  ///< of rows
  std::span<float> input_scale_;
  std::span<float> sums_;
  std::span<float> zeros_;
};

}  // namespace quern::encoder
