#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "encoder/kernels/byte_steps.hpp"
#include "encoder_fixture.hpp"

namespace quern::encoder {
namespace {

/// Weights of one column after the other, [columns][depth].
struct Columns {
  size_t depth;
  std::vector<int8_t> weights;

  size_t count() const { return weights.size() / depth; }
  int8_t& at(size_t column, size_t input) { return weights[column * depth + input]; }
  int8_t at(size_t column, size_t input) const { return weights[column * depth + input]; }

  /// [panel][depth / kGroup][kPanel][kGroup], with room for `bytes` a panel.
  std::vector<int8_t> panels(size_t bytes) const {
    std::vector<int8_t> made(count() / kPanel * bytes);
    for (size_t column = 0; column < count(); ++column)
      for (size_t input = 0; input < depth; ++input)
        made[column / kPanel * bytes + (input / kGroup * kPanel + column % kPanel) * kGroup + input % kGroup] =
            at(column, input);
    return made;
  }
};

class EncoderBytesTest : public testing::TestWithParam<Isa> {
 protected:
  int32_t most_byte(const Columns& columns) const {
    const std::vector<int8_t> panels = columns.panels(columns.depth * kPanel);
    int32_t most = kMostByte;
    for (size_t column = 0; column < columns.count(); column += kPanel)
      most = std::min(most, kernels_.most_byte(&panels[column * columns.depth], columns.depth));
    return most;
  }

  /// Products of `lines`, [row][depth], with the columns.
  std::vector<float> products(const std::vector<uint8_t>& lines, const Columns& columns) const {
    const size_t depth = columns.depth, rows = lines.size() / depth, panels = columns.count() / kPanel;
    const size_t bytes = kernels_.byte_panel(depth);
    const int32_t most = most_byte(columns);
    std::vector<int8_t> arranged = columns.panels(bytes);
    for (size_t panel = 0; panel < panels; ++panel)
      kernels_.arrange_byte_weights(&arranged[panel * bytes], depth, most);
    const Tiles tiles = Tiles::of(rows, kernels_.byte_rows);
    std::vector<uint32_t> words(lines.size() / kGroup);
    for (size_t tile = 0; tile < tiles.count; ++tile) {
      const size_t first = tiles.first(tile);
      kernels_.arrange_bytes(reinterpret_cast<const uint32_t*>(&lines[first * depth]), tiles.first(tile + 1) - first,
                             depth / kGroup, &words[first * (depth / kGroup)]);
    }
    const std::vector<ByteRow> terms(rows, ByteRow{1, 0, 0});
    const std::vector<float> ones(columns.count(), 1), zeros(columns.count());
    std::vector<float> out(rows * columns.count());
    kernels_.multiply_bytes({tiles,
                             words.data(),
                             terms.data(),
                             arranged.data(),
                             depth,
                             {ones.data(), zeros.data(), nullptr},
                             {out.data(), columns.count(), false, zeros.data(), Activation::kNone, 0, panels}});
    return out;
  }

  static void expect_exact(const std::vector<float>& out, const std::vector<uint8_t>& lines, const Columns& columns) {
    const size_t depth = columns.depth;
    for (size_t row = 0; row < lines.size() / depth; ++row)
      for (size_t column = 0; column < columns.count(); ++column) {
        const int32_t wanted = std::inner_product(&lines[row * depth], &lines[row * depth] + depth,
                                                  &columns.weights[column * depth], int32_t{0});
        ASSERT_EQ(out[row * columns.count() + column], static_cast<float>(wanted)) << row << ' ' << column;
      }
  }

  const EncoderKernels& kernels_ = encoder_kernels(GetParam());
  std::mt19937 random_{3};
};

INSTANTIATE_TEST_SUITE_P(Sets, EncoderBytesTest, testing::ValuesIn(isas()));

TEST_P(EncoderBytesTest, BytesOfARowAreWithinHalfAStepAndNoLargerThanTheLargest) {
  for (const int32_t most : {128, 200, 255}) {
    const auto check = [&](const std::vector<float>& values, const float* by) {
      std::vector<uint8_t> bytes(values.size());
      const ByteRow row = kernels_.quantize(values.data(), by, values.size(), most, bytes.data());
      EXPECT_EQ(row.sum, std::accumulate(bytes.begin(), bytes.end(), 0));
      EXPECT_EQ(*std::ranges::min_element(bytes), 0);
      EXPECT_EQ(*std::ranges::max_element(bytes), most);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR((bytes[i] - row.zero) * row.scale, values[i] * (by == nullptr ? 1 : by[i]), row.scale * 0.502f);
    };
    for (const float size : {1e-30f, 1e-3f, 1.0f, 1e30f}) {
      const std::vector<float> factors = normal_numbers(random_, 80, 1);
      check(normal_numbers(random_, 80, size), nullptr);
      check(normal_numbers(random_, 80, size), factors.data());
    }
    // The largest number and the zero are both rounded up.
    for (const auto& [above, below] : {std::pair{21.0f, -1771.0f}, {3.0f, -507.0f}}) {
      std::vector<float> tie(16);
      tie[2] = above;
      tie[9] = below;
      check(tie, nullptr);
    }
  }
  std::vector<float> odd(16);
  std::vector<uint8_t> bytes(16);
  EXPECT_EQ(kernels_.quantize(odd.data(), nullptr, 16, 255, bytes.data()).sum, 0);
  odd[3] = INFINITY;
  odd[5] = -NAN;
  EXPECT_TRUE(std::isfinite(kernels_.quantize(odd.data(), nullptr, 16, 255, bytes.data()).scale));
}

TEST_P(EncoderBytesTest, ProductsAreExactAtTheirLimits) {
  Columns columns{1 << 14, std::vector<int8_t>(kPanel << 14, 127)};
  for (size_t column = 0; column < kPanel; column += 2)
    std::fill_n(&columns.at(column, 0), columns.depth, static_cast<int8_t>(-128));
  const std::vector<uint8_t> lines(5 * columns.depth, static_cast<uint8_t>(most_byte(columns)));
  expect_exact(products(lines, columns), lines, columns);
}

TEST_P(EncoderBytesTest, ProductsAreExactWhateverTheSizesOfWeights) {
  constexpr size_t kDepth = kDepthStep * 5, kColumns = 3 * kPanel;
  // Of the first ones every two weights fit with bytes up to 255.
  for (const auto& [size, bound] : {std::pair{21.0f, 63.0f}, {20.0f, 127.0f}, {40.0f, 127.0f}, {200.0f, 128.0f}}) {
    Columns columns{kDepth, {}};
    for (const float number : normal_numbers(random_, kColumns * kDepth, size))
      columns.weights.push_back(static_cast<int8_t>(std::clamp(number, -bound, std::min(bound, 127.0f))));
    const int32_t most = most_byte(columns);
    EXPECT_TRUE(bound == 63 ? most == 255 : most >= 128);
    for (size_t rows = 1; rows < 18; ++rows) {
      std::vector<uint8_t> lines(rows * kDepth);
      for (uint8_t& byte : lines) byte = static_cast<uint8_t>(random_() % (static_cast<uint32_t>(most) + 1));
      expect_exact(products(lines, columns), lines, columns);
    }
  }
}

TEST_P(EncoderBytesTest, SumsAreExactWhereTheyJustFitAndWhereTheyDoNot) {
  constexpr size_t kDepth = kDepthStep;
  // Two such weights leave rows seven bits where sums have sixteen.
  for (const bool is_wide : {false, true})
    for (const int total : {128, 129, -128, -129, 255, 256, -256, -257})
      for (const size_t words : {1u, 2u, 4u})
        for (size_t column = 0; column < kPanel; ++column)
          for (const size_t pair : {0u, 2u}) {
            Columns columns{kDepth, std::vector<int8_t>(kPanel * kDepth)};
            if (is_wide) columns.at(column, 0) = columns.at(column, 1) = 127;
            int left = total;
            for (size_t word = 0; word < words; ++word)
              for (size_t i = 0; i < kPair; ++i) {
                // From the second step on, at its end.
                const size_t input = 2 * kByteStep - (word + 1) * kGroup + pair + i;
                const int weight = std::clamp(left, -64, 64);
                columns.at(column, input) = static_cast<int8_t>(weight);
                left -= weight;
              }
            const std::vector<uint8_t> lines(kDepth, static_cast<uint8_t>(most_byte(columns)));
            expect_exact(products(lines, columns), lines, columns);
          }
}

TEST(EncoderByteStepsTest, StepsThatFitComeFirst) {
  constexpr size_t kDepth = 5 * kByteStep, kSteps = 5, kOrder = 2 + kSteps;
  Columns columns{kDepth, std::vector<int8_t>(kPanel * kDepth)};
  // Of the second eight columns the first step fits two and two words at a time, the third one word at a time.
  for (const size_t input : {0u, 1u, 8u, 9u}) columns.at(9, input) = 64;
  for (const size_t input : {32u, 33u, 36u, 37u}) columns.at(15, input) = 64;
  for (const int32_t most : {128, 127}) {
    std::vector<int8_t> panel = columns.panels(byte_steps_panel(kDepth));
    arrange_byte_steps(panel.data(), kDepth, most);
    const auto* order = reinterpret_cast<const uint16_t*>(&panel[kPanel * kDepth]);
    for (size_t part = 0; part < kPanel / kStepColumns; ++part) {
      const bool fits = part != 1 || most == 127;
      const std::vector<uint16_t> wanted =
          fits ? std::vector<uint16_t>{5, 5, 0, 1, 2, 3, 4} : std::vector<uint16_t>{3, 4, 1, 3, 4, 0, 2};
      EXPECT_EQ(std::vector<uint16_t>(order + part * kOrder, order + (part + 1) * kOrder), wanted) << part;
    }
  }
}

TEST(EncoderByteStepsTest, RowsHaveWholeBytesWhereEveryTwoWeightsFit) {
  for (const auto& [first, second, most] : {std::tuple{64, 64, 255},
                                            {-64, -64, 255},
                                            {127, 1, 255},
                                            {127, -128, 255},
                                            {64, 65, kMostStepByte},
                                            {-128, -1, kMostStepByte}}) {
    Columns columns{kDepthStep, std::vector<int8_t>(kPanel * kDepthStep)};
    columns.at(kPanel - 1, kDepthStep - 2) = static_cast<int8_t>(first);
    columns.at(kPanel - 1, kDepthStep - 1) = static_cast<int8_t>(second);
    EXPECT_EQ(most_step_byte(columns.panels(kDepthStep * kPanel).data(), kDepthStep), most) << first << ' ' << second;
  }
}

}  // namespace
}  // namespace quern::encoder
