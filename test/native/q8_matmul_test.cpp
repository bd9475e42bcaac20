#include "inference/kernels/q8_matmul.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace quern::q8 {
namespace {

constexpr uint16_t QUARTER = 0x3400;  // 0.25 as f16

struct Matrix {
  int64_t rows;
  int64_t blocks;
  std::vector<Block> content;

  Matrix(int64_t rows, int64_t blocks, std::mt19937& random) : rows(rows), blocks(blocks), content(rows * blocks) {
    for (Block& block : content) {
      block.scale = static_cast<uint16_t>(QUARTER + random() % 0x400);  // 0.25 to 0.5
      for (int8_t& value : block.values) value = static_cast<int8_t>(random() % 256 - 128);
    }
  }

  float at(int64_t row, int64_t k) const {
    const Block& block = content[row * blocks + k / BLOCK];
    const float scale = 0.25F * (1 + static_cast<float>(block.scale - QUARTER) / 0x400);
    return scale * block.values[k % BLOCK];
  }

  std::vector<uint8_t> packed() const {
    std::vector<uint8_t> panels(rows / PANEL_ROWS * panel_bytes(blocks));
    for (int64_t panel = 0; panel < rows / PANEL_ROWS; ++panel)
      pack_panel(&content[panel * PANEL_ROWS * blocks], blocks, &panels[panel * panel_bytes(blocks)]);
    return panels;
  }
};

std::vector<uint8_t> quantised(const Kernel& kernel, const std::vector<float>& columns, int64_t count, int64_t blocks) {
  std::vector<uint8_t> bytes(count * column_bytes(blocks));
  for (int64_t c = 0; c < count; ++c)
    kernel.quantize(&columns[c * blocks * BLOCK], blocks, 0, blocks, &bytes[c * column_bytes(blocks)]);
  return bytes;
}

class Q8Matmul : public testing::TestWithParam<const Kernel*> {};

TEST_P(Q8Matmul, IsTheProductForEveryNumberOfColumnsPanelsAndBlocks) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-2, 2);
  for (const int64_t blocks : {1, 2, 5})
    for (const int64_t panels : {1, 2, 3, 4, 5, 9}) {
      const Matrix matrix(panels * PANEL_ROWS, blocks, random);
      const std::vector<uint8_t> packed = matrix.packed();
      for (int64_t count = 1; count <= 19; ++count) {
        // Whole numbers up to 127, the largest in every block, are quantised without loss.
        std::vector<float> columns(count * blocks * BLOCK);
        for (size_t i = 0; i < columns.size(); ++i)
          columns[i] = i % BLOCK == 3 ? 127.0F : static_cast<float>(static_cast<int>(random() % 255) - 127);
        const std::vector<uint8_t> bytes = quantised(*GetParam(), columns, count, blocks);
        const int64_t stride = matrix.rows + 3;
        std::vector<float> out(count * stride, -1.0F);
        GetParam()->multiply({packed.data(), bytes.data(), out.data(), panels, count, blocks, stride});
        for (int64_t c = 0; c < count; ++c) {
          for (int64_t row = 0; row < matrix.rows; ++row) {
            double expected = 0;
            double magnitude = 0;
            for (int64_t k = 0; k < blocks * BLOCK; ++k) {
              const double term = static_cast<double>(matrix.at(row, k)) * columns[c * blocks * BLOCK + k];
              expected += term;
              magnitude += std::fabs(term);
            }
            ASSERT_NEAR(out[c * stride + row], expected, 1e-6 * magnitude) << blocks << " " << panels << " " << count;
          }
          for (int64_t row = matrix.rows; row < stride; ++row) ASSERT_EQ(out[c * stride + row], -1.0F);
        }
      }
    }
}

TEST_P(Q8Matmul, QuantisesAsTheScalarOneDoes) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0, 3);
  constexpr int64_t blocks = 9;
  std::vector<float> column(blocks * BLOCK);
  for (float& value : column) value = normal(random);
  for (int64_t i = 0; i < BLOCK; ++i) column[2 * BLOCK + i] = 0.0F;
  for (int64_t i = 0; i < BLOCK; ++i) column[3 * BLOCK + i] = 1e-42F * static_cast<float>(i);
  EXPECT_EQ(quantised(*GetParam(), column, 1, blocks), quantised(SCALAR, column, 1, blocks));
}

TEST_P(Q8Matmul, QuantisesAnyRangeOfBlocks) {
  std::mt19937 random(13);
  std::normal_distribution<float> normal(0, 1);
  constexpr int64_t blocks = 7;
  std::vector<float> column(blocks * BLOCK);
  for (float& value : column) value = normal(random);
  std::vector<uint8_t> bytes(column_bytes(blocks), 0xee);
  GetParam()->quantize(column.data(), blocks, 0, 2, bytes.data());
  GetParam()->quantize(column.data(), blocks, 2, 6, bytes.data());
  GetParam()->quantize(column.data(), blocks, 6, 7, bytes.data());
  EXPECT_EQ(bytes, quantised(*GetParam(), column, 1, blocks));
}

TEST_P(Q8Matmul, WhatIsNoNumberStaysNone) {
  std::mt19937 random(17);
  const Matrix matrix(PANEL_ROWS, 2, random);
  const std::vector<uint8_t> packed = matrix.packed();
  for (const float odd : {NAN, INFINITY, -INFINITY}) {
    std::vector<float> column(2 * BLOCK, 1.0F);
    column[BLOCK + 5] = odd;
    const std::vector<uint8_t> bytes = quantised(*GetParam(), column, 1, 2);
    std::vector<float> out(PANEL_ROWS);
    GetParam()->multiply({packed.data(), bytes.data(), out.data(), 1, 1, 2, PANEL_ROWS});
    for (const float value : out) EXPECT_FALSE(std::isfinite(value));
  }
}

std::vector<const Kernel*> all() {
  const Kernels found = available();
  return {found.list, found.list + found.count};
}

INSTANTIATE_TEST_SUITE_P(All, Q8Matmul, testing::ValuesIn(all()), [](const auto& info) {
  std::string name = info.param->name;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace quern::q8
