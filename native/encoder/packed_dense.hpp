#pragma once

#include <memory>

#include "arena.hpp"
#include "source.hpp"

namespace quern::encoder {

/// Where numbers stand in a line: in groups that begin `step` apart, as those of a head do.
struct Places {
  size_t count;
  size_t group;
  size_t step;

  static Places together(size_t count) { return {count, count, count}; }
  size_t at(size_t number) const { return number / group * step + number % group; }
  size_t end() const { return (count + group - 1) / group * step; }
};

/// Rows of states as a product reads them. Room for one number (or byte) per row and depth.
struct PreparedRows {
  std::span<float> floats;
  std::span<uint32_t> words;
  std::span<ByteRow> terms;
};

/// Rows of `width` numbers, `step` apart.
struct StateRows {
  const float* values;
  size_t step;
};

/// The weights of a product, in the order in which they are read.
class PackedDense {
 public:
  /// Results come `factor` times as large. The source was checked.
  PackedDense(const DenseSource& source, const Places& inputs, const Places& outputs, float factor, Arena& arena);

  size_t depth() const noexcept { return depth_; }
  size_t panels() const noexcept { return panels_; }
  bool takes_bytes() const noexcept { return !bytes_.empty(); }
  /// Inputs that are also taken as floats.
  size_t outliers() const noexcept { return outlier_places_.size(); }
  /// Whether what prepare() makes for one serves the other.
  bool prepares_like(const PackedDense& other) const;

  /// One tile's rows. `outliers` are those of outliers().
  void prepare(const EncoderKernels& kernels, Tiles tiles, size_t tile, StateRows rows, const PreparedRows& to,
               std::span<float> outliers) const;
  /// Rows that were all prepared, times some panels. `results` gets the bias from here.
  void multiply(const EncoderKernels& kernels, Tiles tiles, const PreparedRows& rows, std::span<const float> outliers,
                Results results) const;

 private:
  void pack_floats(const DenseSource& source, const Places& inputs, const Places& outputs, float factor, Arena& arena);
  void pack_bytes(const DenseSource& source, const Places& inputs, const Places& outputs, float factor, Arena& arena);
  void pack_outliers(const DenseSource& source, const Places& inputs, const Places& outputs, float factor,
                     Arena& arena);

  size_t depth_;
  size_t panels_;
  std::span<float> bias_;
  // One of the three has the weights.
  std::span<Half> halves_;
  std::span<float> floats_;
  std::span<int8_t> bytes_;
  // Of bytes alone.
  std::span<float> input_scale_;
  std::span<float> scales_;
  std::span<int32_t> sums_;
  std::span<int32_t> zeros_;
  std::span<uint32_t> outlier_places_;
  std::unique_ptr<PackedDense> outlier_dense_;
};

}  // namespace quern::encoder
