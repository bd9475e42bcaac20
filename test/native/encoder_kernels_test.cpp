#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "encoder/kernels/kernels.hpp"
#include "encoder_fixture.hpp"

namespace quern::encoder {
namespace {

class EncoderKernelsTest : public testing::TestWithParam<Isa> {
 protected:
  std::vector<float> numbers(size_t count, float size = 1) { return normal_numbers(random_, count, size); }

  const EncoderKernels& kernels_ = encoder_kernels(GetParam());
  std::mt19937 random_{3};
};

INSTANTIATE_TEST_SUITE_P(Sets, EncoderKernelsTest, testing::ValuesIn(isas()));

TEST_P(EncoderKernelsTest, TransposesEverySizeAndNothingBeside) {
  for (size_t rows = 1; rows < 36; ++rows)
    for (size_t columns = 1; columns < 36; ++columns) {
      std::vector<uint32_t> from(rows * (columns + 3)), to(columns * (rows + 2), 9);
      std::iota(from.begin(), from.end(), 100u);
      kernels_.transpose(from.data(), columns + 3, rows, columns, to.data(), rows + 2);
      for (size_t column = 0; column < columns; ++column)
        for (size_t row = 0; row < rows + 2; ++row)
          ASSERT_EQ(to[column * (rows + 2) + row], row < rows ? from[row * (columns + 3) + column] : 9u)
              << rows << " x " << columns;
    }
}

TEST_P(EncoderKernelsTest, ActivationsAreWithinAMillionthOfTheirEquations) {
  for (const Activation activation :
       {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu, Activation::kTanh, Activation::kNone}) {
    std::vector<float> values;
    for (float x = -20; x <= 20; x += 0.00390625f) values.push_back(x);
    values.insert(values.end(), {-1e30f, -300, -0.0f, 300, 1e30f, 1e-30f});
    values.resize(padded(values.size(), kPanel));
    std::vector<float> results(values.size());
    // Panels of weights that one row, of one number, is multiplied by.
    const float one = 1;
    const size_t panels = values.size() / kPanel;
    kernels_.multiply_floats({{1, 1},
                              &one,
                              values.data(),
                              1,
                              panels,
                              {results.data(), results.size(), false, nullptr, activation, 0, panels}});
    for (size_t i = 0; i < values.size(); ++i) {
      const double wanted = activated(activation, values[i]);
      ASSERT_NEAR(results[i], wanted, 4e-7 + 2e-7 * std::abs(wanted)) << values[i];
    }
  }
}

TEST_P(EncoderKernelsTest, NormsAnyWidthAndKeepsPaddingAtZero) {
  for (const size_t width : {1u, 3u, 15u, 16u, 17u, 48u, 383u, 384u}) {
    const size_t line = padded(width, kLane);
    std::vector<float> values = numbers(line), weight = numbers(line), bias = numbers(line);
    for (float& value : values) value += 30;
    for (size_t i = width; i < line; ++i) values[i] = weight[i] = bias[i] = 0;
    const std::vector<float> before = values;
    kernels_.norm(values.data(), width, weight.data(), bias.data(), 1e-5f);
    double mean = 0, variance = 0;
    for (size_t i = 0; i < width; ++i) mean += before[i] / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i) variance += (before[i] - mean) * (before[i] - mean) / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i)
      ASSERT_NEAR(values[i], (before[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i], 1e-4) << width;
    for (size_t i = width; i < line; ++i) ASSERT_EQ(values[i], 0) << width;
  }
}

TEST_P(EncoderKernelsTest, ShortsOfARowAreWithinHalfAStepAndNothingUnfitIsLost) {
  for (const float size : {1e-30f, 1e-3f, 1.0f, 1e30f}) {
    const std::vector<float> values = numbers(80, size);
    std::vector<int16_t> shorts(80);
    const float scale = kernels_.shorten(values.data(), 80, shorts.data());
    for (size_t i = 0; i < 80; ++i) ASSERT_NEAR(shorts[i] * scale, values[i], scale * 0.502f);
    const auto [least, most] = std::ranges::minmax(shorts);
    EXPECT_EQ(std::max<int>(most, -least), kMostShort);
  }
  std::vector<float> odd(16);
  std::vector<int16_t> shorts(16, 5);
  EXPECT_EQ(kernels_.shorten(odd.data(), 16, shorts.data()), 0);
  EXPECT_EQ(shorts, std::vector<int16_t>(16));
  for (const float unfit : {INFINITY, -INFINITY, NAN, -NAN}) {
    odd[3] = unfit;
    odd[5] = 1;
    EXPECT_TRUE(std::isnan(kernels_.shorten(odd.data(), 16, shorts.data())));
  }
}

TEST_P(EncoderKernelsTest, ProductsOfShortsAreExactAtTheirLimits) {
  constexpr size_t kDepth = kDepthStep * 5, kRows = 17;
  constexpr auto kWeight = static_cast<int16_t>(kMostShortSum / static_cast<int32_t>(kShortBlock));
  for (const int sign : {1, -1}) {
    const auto value = static_cast<int16_t>(sign * kMostShort);
    const std::vector<int16_t> lines(kRows * kDepth, value);
    std::vector<int16_t> rows(lines.size()), weights(kPanel * kDepth);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = i / kPair % 2 == 0 ? kWeight : -kWeight;
    kernels_.arrange_weights(weights.data(), kDepth);
    std::vector<float> scales(kRows), columns(kPanel), bias(kPanel, 0.5f), out(kRows * kPanel, 3);
    for (size_t i = 0; i < kRows; ++i) scales[i] = static_cast<float>(i + 1);
    for (size_t i = 0; i < kPanel; ++i) columns[i] = static_cast<float>(i % 3) / kMostShort;
    const Tiles tiles = Tiles::of(kRows, kernels_.tile_rows);
    for (size_t tile = 0; tile < tiles.count; ++tile) {
      const size_t first = tiles.first(tile) * kDepth;
      kernels_.arrange_shorts(reinterpret_cast<const uint32_t*>(&lines[first]),
                              tiles.first(tile + 1) - tiles.first(tile), kDepth / kPair,
                              reinterpret_cast<uint32_t*>(&rows[first]));
    }
    kernels_.multiply_shorts({tiles,
                              reinterpret_cast<const uint32_t*>(rows.data()),
                              scales.data(),
                              weights.data(),
                              kDepth,
                              columns.data(),
                              {out.data(), kPanel, true, bias.data(), Activation::kNone, 0, 1}});
    for (size_t r = 0; r < kRows; ++r)
      for (size_t i = 0; i < kPanel; ++i) {
        const double wanted = sign * (i % 2 == 0 ? 1.0 : -1.0) * kWeight * kDepth * (i % 3) * (r + 1) + 3.5;
        ASSERT_NEAR(out[r * kPanel + i], wanted, std::abs(wanted) * 1e-6) << r << ' ' << i;
      }
  }
}

TEST_P(EncoderKernelsTest, AttendsToEveryTokenOfATextForEveryQuery) {
  for (const size_t tokens : {1u, 2u, 15u, 16u, 17u, 31u, 32u, 33u, 70u})
    for (const auto& [size, fewer] : {std::pair{16u, 0u}, {32u, 0u}, {48u, 0u}, {32u, 1u}, {32u, 33u}}) {
      const size_t asked = fewer < tokens ? tokens - fewer : 1;
      const size_t step = size + 8;
      const std::vector<float> queries = numbers(tokens * step), keys = numbers(tokens * step),
                               values = numbers(tokens * step);
      std::vector<float> out(tokens * step, 7), scratch(attention_scratch(tokens, size), NAN);
      kernels_.attend(
          {queries.data(), keys.data(), values.data(), step, asked, tokens, size, out.data(), step, scratch.data()});
      for (size_t q = asked; q < tokens; ++q) ASSERT_EQ(out[q * step], 7);
      for (size_t q = 0; q < asked; ++q) {
        std::vector<double> wanted(size);
        double sum = 0;
        for (size_t k = 0; k < tokens; ++k) {
          double score = 0;
          for (size_t i = 0; i < size; ++i) score += static_cast<double>(queries[q * step + i]) * keys[k * step + i];
          sum += std::exp2(score);
          for (size_t i = 0; i < size; ++i) wanted[i] += std::exp2(score) * values[k * step + i];
        }
        for (size_t i = 0; i < size; ++i)
          ASSERT_NEAR(out[q * step + i], wanted[i] / sum, 2e-5) << tokens << " tokens, " << size;
        for (size_t i = size; i < step; ++i) ASSERT_EQ(out[q * step + i], 7);
      }
    }
}

}  // namespace
}  // namespace quern::encoder
