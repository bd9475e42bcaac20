#include "short_scales.hpp"

#include <algorithm>
#include <cmath>

namespace quern::encoder {
namespace {

/// Steps of a number that keeps six bits.
constexpr float kFewSteps = 64;
/// A scale below has no finite inverse; all numbers of such a column count as 0.
constexpr float kLeast = 1e-37f;

/// Sums of magnitudes within blocks, column by column.
class Sums {
 public:
  explicit Sums(size_t columns) : now_(columns), most_(columns), largest_(columns) {}

  void add(const float* row) {
    for (size_t i = 0; i < now_.size(); ++i) {
      const float number = std::abs(row[i]);
      now_[i] += number;
      largest_[i] = std::max(largest_[i], number);
    }
  }
  /// False where a sum is not finite.
  bool end_block() {
    float total = 0;
    for (size_t i = 0; i < now_.size(); ++i) {
      total += now_[i];
      most_[i] = std::max(most_[i], now_[i]);
      now_[i] = 0;
    }
    return std::isfinite(total);
  }
  /// Rounding adds at most half a step for each place of a block.
  std::vector<float> scales() const {
    constexpr auto kSum = static_cast<float>(kMostShortSum - static_cast<int32_t>(kShortBlock));
    std::vector<float> found(most_.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const float scale = std::max(most_[i] / kSum, largest_[i] / static_cast<float>(kMostShort));
      found[i] = scale > kLeast ? scale : 0;
    }
    return found;
  }

 private:
  std::vector<float> now_, most_, largest_;
};

}  // namespace

std::optional<std::vector<float>> short_scales(const DenseSource& source, const Places& inputs) {
  const size_t columns = source.outputs;
  const float* const weights = source.weights.floats.data();
  Sums sums(columns);
  for (size_t input = 0; input < source.inputs; ++input) {
    sums.add(weights + input * columns);
    const bool ends =
        input + 1 == source.inputs || inputs.at(input + 1) / kShortBlock != inputs.at(input) / kShortBlock;
    if (ends && !sums.end_block()) return std::nullopt;
  }
  std::vector<float> scales = sums.scales();
  std::vector<int32_t> coarse(columns), present(columns);
  for (size_t input = 0; input < source.inputs; ++input)
    for (size_t i = 0; i < columns; ++i) {
      const float number = std::abs(weights[input * columns + i]);
      present[i] += number > 0 ? 1 : 0;
      coarse[i] += number > 0 && number < kFewSteps * scales[i] ? 1 : 0;
    }
  for (size_t i = 0; i < columns; ++i)
    if (coarse[i] > present[i] / 2) return std::nullopt;
  return scales;
}

}  // namespace quern::encoder
