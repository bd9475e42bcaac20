#include "packed_dense.hpp"

#include <algorithm>

#include "short_scales.hpp"

namespace quern::encoder {

/// The lines of a source in the order of their places.
class PackedDense::Lines {
 public:
  Lines(const Places& inputs, const Places& outputs, size_t depth)
      : places_(inputs), outputs_(outputs), inputs_(depth, kNone) {
    for (size_t input = 0; input < inputs.count; ++input) inputs_[inputs.at(input)] = input;
  }

  size_t column(size_t output) const { return outputs_.at(output); }
  size_t place(size_t input) const { return places_.at(input); }
  /// The line at a place: `none` where the source has nothing, else of(number's index in the source, output).
  template <typename T, class Of>
  void read(size_t place, const std::vector<T>& none, T* line, Of of) const {
    std::ranges::copy(none, line);
    if (inputs_[place] == kNone) return;
    const size_t first = inputs_[place] * outputs_.count;
    for (size_t from = 0; from < outputs_.count; from += outputs_.group, line += outputs_.step) {
      const size_t count = std::min(outputs_.group, outputs_.count - from);
      for (size_t i = 0; i < count; ++i) line[i] = of(first + from + i, from + i);
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  const Places places_, outputs_;
  std::vector<size_t> inputs_;
};

PackedDense::PackedDense(const EncoderKernels& kernels, const DenseSource& source, const Places& inputs,
                         const Places& outputs, float factor, Arena& arena)
    : depth_(padded(inputs.end(), kDepthStep)), panels_(padded(outputs.end(), kDepthStep) / kPanel) {
  bias_ = arena.take<float>(panels_ * kPanel);
  for (size_t i = 0; i < source.bias.size(); ++i) bias_[outputs.at(i)] = source.bias[i] * factor;
  const Lines lines(inputs, outputs, depth_);
  if (source.weights.has_bytes())
    pack_bytes(kernels, source, lines, factor, arena);
  else if (const auto scales = short_scales(source, inputs))
    pack_shorts(kernels, source, lines, *scales, factor, arena);
  else
    pack_floats(source, lines, factor, arena);
}

void PackedDense::pack_floats(const DenseSource& source, const Lines& lines, float factor, Arena& arena) {
  const std::span<const float> weights = source.weights.floats;
  const size_t columns = panels_ * kPanel;
  const std::vector<float> none(columns);
  std::vector<float> line(columns);
  floats_ = arena.take<float>(depth_ * columns);
  for (size_t from = 0; from < depth_; from += kDepthBlock) {
    const size_t depth = std::min(kDepthBlock, depth_ - from);
    for (size_t d = 0; d < depth; ++d) {
      lines.read(from + d, none, line.data(), [&](size_t at, size_t) { return weights[at] * factor; });
      for (size_t panel = 0; panel < panels_; ++panel)
        std::copy_n(&line[panel * kPanel], kPanel, &floats_[(from * panels_ + panel * depth + d) * kPanel]);
    }
  }
}

void PackedDense::pack_shorts(const EncoderKernels& kernels, const DenseSource& source, const Lines& lines,
                              std::span<const float> scales, float factor, Arena& arena) {
  const std::span<const float> weights = source.weights.floats;
  const size_t columns = panels_ * kPanel, pairs = depth_ / kPair;
  shorts_ = arena.take<int16_t>(depth_ * columns);
  scales_ = arena.take<float>(columns);
  std::vector<float> inverses(scales.size());
  for (size_t i = 0; i < scales.size(); ++i) {
    scales_[lines.column(i)] = scales[i] * factor;
    inverses[i] = scales[i] > 0 ? 1 / scales[i] : 0;
  }
  const std::vector<float> none(columns);
  std::vector<float> two(kPair * columns);
  const auto whole = [](float number) { return static_cast<int16_t>(number + (number < 0 ? -0.5f : 0.5f)); };
  for (size_t pair = 0; pair < pairs; ++pair) {
    for (size_t i = 0; i < kPair; ++i)
      lines.read(pair * kPair + i, none, &two[i * columns],
                 [&](size_t at, size_t output) { return weights[at] * inverses[output]; });
    for (size_t panel = 0; panel < panels_; ++panel) {
      int16_t* const to = &shorts_[(panel * pairs + pair) * kPanel * kPair];
      const float *const first = &two[panel * kPanel], *const second = first + columns;
      for (size_t column = 0; column < kPanel; ++column) {
        to[column * kPair] = whole(first[column]);
        to[column * kPair + 1] = whole(second[column]);
      }
    }
  }
  for (size_t panel = 0; panel < panels_; ++panel) kernels.arrange_weights(&shorts_[panel * kPanel * depth_], depth_);
}

void PackedDense::pack_bytes(const EncoderKernels& kernels, const DenseSource& source, const Lines& lines, float factor,
                             Arena& arena) {
  const ByteSource& from = source.weights.quantised;
  const size_t columns = panels_ * kPanel, groups = depth_ / kGroup, bytes = kernels.byte_panel(depth_);
  bytes_ = arena.take<int8_t>(panels_ * bytes);
  scales_ = arena.take<float>(columns);
  sums_ = arena.take<float>(columns);
  // Unsigned bytes and their zeros become signed ones, 128 lower.
  const int32_t lower = from.is_signed ? 0 : 128;
  // Places without an input count as 0 too.
  std::vector<int8_t> none(columns);
  for (size_t output = 0; output < source.outputs; ++output) {
    const size_t column = lines.column(output);
    scales_[column] = from.scales[from.scales.size() == 1 ? 0 : output] * factor;
    const int32_t zero = (from.zeros.empty() ? 0 : from.zeros[from.zeros.size() == 1 ? 0 : output]) - lower;
    if (zero == 0) continue;
    if (zeros_.empty()) zeros_ = arena.take<float>(columns);
    zeros_[column] = static_cast<float>(zero);
    none[column] = static_cast<int8_t>(zero);
  }
  const auto flip = static_cast<uint8_t>(lower);
  std::vector<int8_t> four(kGroup * columns);
  for (size_t group = 0; group < groups; ++group) {
    for (size_t i = 0; i < kGroup; ++i) {
      int8_t* const line = &four[i * columns];
      lines.read(group * kGroup + i, none, line,
                 [&](size_t at, size_t) { return static_cast<int8_t>(from.bytes[at] ^ flip); });
      for (size_t column = 0; column < columns; ++column) sums_[column] += line[column];
    }
    for (size_t panel = 0; panel < panels_; ++panel) {
      int8_t* const to = &bytes_[panel * bytes + group * kPanel * kGroup];
      for (size_t column = 0; column < kPanel; ++column)
        for (size_t i = 0; i < kGroup; ++i) to[column * kGroup + i] = four[i * columns + panel * kPanel + column];
    }
  }
  most_byte_ = kMostByte;
  for (size_t panel = 0; panel < panels_; ++panel)
    most_byte_ = std::min(most_byte_, kernels.most_byte(&bytes_[panel * bytes], depth_));
  for (size_t panel = 0; panel < panels_; ++panel)
    kernels.arrange_byte_weights(&bytes_[panel * bytes], depth_, most_byte_);
  if (source.input_scale.empty()) return;
  input_scale_ = arena.take<float>(depth_);
  for (size_t input = 0; input < source.inputs; ++input) input_scale_[lines.place(input)] = source.input_scale[input];
}

size_t PackedDense::words() const noexcept {
  return kind() == Kind::kFloats ? 0 : depth_ / (kind() == Kind::kShorts ? kPair : kGroup);
}

bool PackedDense::prepares_like(const PackedDense& other) const {
  return depth_ == other.depth_ && kind() == other.kind() && most_byte_ == other.most_byte_ &&
         std::ranges::equal(input_scale_, other.input_scale_);
}

void PackedDense::prepare(const EncoderKernels& kernels, Tiles tiles, size_t tile, StateRows rows,
                          const PreparedRows& to, std::span<uint32_t> lines) const {
  const size_t first = tiles.first(tile), count = tiles.first(tile + 1) - first, width = words();
  const float* const from = rows.values + first * rows.step;
  if (kind() == Kind::kFloats)
    return kernels.transpose(from, rows.step, count, depth_, to.floats.data() + first * depth_, count);
  const float* const factors = input_scale_.empty() ? nullptr : input_scale_.data();
  for (size_t row = 0; row < count; ++row) {
    const float* const values = from + row * rows.step;
    uint32_t* const line = &lines[row * width];
    if (kind() == Kind::kShorts)
      to.scales[first + row] = kernels.shorten(values, depth_, reinterpret_cast<int16_t*>(line));
    else
      to.terms[first + row] = kernels.quantize(values, factors, depth_, most_byte_, reinterpret_cast<uint8_t*>(line));
  }
  const auto arrange = kind() == Kind::kShorts ? kernels.arrange_shorts : kernels.arrange_bytes;
  arrange(lines.data(), count, width, to.words.data() + first * width);
}

void PackedDense::multiply(const EncoderKernels& kernels, Tiles tiles, const PreparedRows& rows,
                           Results results) const {
  results.bias = bias_.data();
  if (kind() == Kind::kFloats)
    kernels.multiply_floats({tiles, rows.floats.data(), floats_.data(), depth_, panels_, results});
  else if (kind() == Kind::kShorts)
    kernels.multiply_shorts(
        {tiles, rows.words.data(), rows.scales.data(), shorts_.data(), depth_, scales_.data(), results});
  else
    kernels.multiply_bytes({tiles,
                            rows.words.data(),
                            rows.terms.data(),
                            bytes_.data(),
                            depth_,
                            {scales_.data(), sums_.data(), zeros_.empty() ? nullptr : zeros_.data()},
                            results});
}

}  // namespace quern::encoder
