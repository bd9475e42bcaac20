#pragma once

#include "../base/half.hpp"
#include "arena.hpp"
#include "source.hpp"

namespace quern::encoder {

/// Rows that are looked up: halves where these suffice, else floats; or bytes, as they came.
class Table {
 public:
  Table() = default;
  Table(const MatrixSource& source, size_t width, Arena& arena);

  /// to += row, `width` numbers.
  void add(size_t row, float* to) const;

 private:
  size_t width_ = 0;
  std::span<const Half> halves_;
  std::span<const float> floats_;
  std::span<const uint8_t> bytes_;
  bool signed_ = true;
  std::span<const float> scales_;  ///< one per column
  std::span<const float> zeros_;
};

}  // namespace quern::encoder
