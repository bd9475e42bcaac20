#pragma once

// Included only by the files that are compiled for one instruction set each. Everything here depends on that set's own
// type, so no function compiled for one processor can be linked into the code of another.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "q8_matmul.hpp"

namespace quern::q8 {

/**
 * The product of `PANELS` panels and `COLUMNS` columns. `Isa` has `PARTS` registers per panel, `SUMS` of them for sums,
 * and gives `Ints`, `Floats`, `Weights`, `start(offset)`, `weights(bytes)`, `dot(ints, weights, four)`,
 * `scales(halves)`, `zero()`, `add(sums, ints, scales, scale)` and `store(out, sums)`.
 */
template <class Isa, int PANELS, int COLUMNS>
[[gnu::always_inline]] inline void tile(const uint8_t* panel, const uint8_t* columns, const Product& product,
                                        float* out) {
  constexpr int PARTS = PANELS * Isa::PARTS;
  constexpr int PART_ROWS = PANEL_ROWS / Isa::PARTS;
  const int64_t blocks = product.blocks;
  const size_t stride = column_bytes(blocks);
  const auto part = [&](int p) { return panel + (p / Isa::PARTS) * panel_bytes(blocks); };
  typename Isa::Floats sums[COLUMNS][PARTS];
  for (int c = 0; c < COLUMNS; ++c)
    for (int p = 0; p < PARTS; ++p) sums[c][p] = Isa::zero();

  for (int64_t block = 0; block < blocks; ++block) {
    const uint8_t* values = columns + block * BLOCK;
    const uint8_t* terms = columns + blocks * BLOCK + block * sizeof(BlockTerms);
    typename Isa::Ints ints[COLUMNS][PARTS];
    for (int c = 0; c < COLUMNS; ++c)
      for (int p = 0; p < PARTS; ++p) ints[c][p] = Isa::start(terms + c * stride);
#pragma GCC unroll 8
    for (int group = 0; group < BLOCK / 4; ++group) {
      typename Isa::Weights loaded[PARTS];
      for (int p = 0; p < PARTS; ++p)
        loaded[p] = Isa::weights(part(p) + (block * BLOCK + group * 4) * PANEL_ROWS + p % Isa::PARTS * PART_ROWS * 4);
      for (int c = 0; c < COLUMNS; ++c)
        for (int p = 0; p < PARTS; ++p) ints[c][p] = Isa::dot(ints[c][p], loaded[p], values + c * stride + group * 4);
    }
    for (int p = 0; p < PARTS; ++p) {
      const typename Isa::Floats scales =
          Isa::scales(part(p) + (blocks * BLOCK + block * sizeof(uint16_t)) * PANEL_ROWS +
                      p % Isa::PARTS * PART_ROWS * sizeof(uint16_t));
      for (int c = 0; c < COLUMNS; ++c) sums[c][p] = Isa::add(sums[c][p], ints[c][p], scales, terms + c * stride);
    }
  }
  for (int c = 0; c < COLUMNS; ++c)
    for (int p = 0; p < PARTS; ++p) Isa::store(out + c * product.out_stride + p * PART_ROWS, sums[c][p]);
}

/// All panels, `PANELS` at a time and then one at a time, times `COLUMNS` columns at a time, from column `column` on.
template <class Isa, int COLUMNS>
void tiles(const Product& product, int64_t& column) {
  // Few columns leave registers free for more panels, whose sums do not wait for each other.
  constexpr int PANELS = std::clamp(Isa::SUMS / (COLUMNS * Isa::PARTS), 1, 4);
  for (; column + COLUMNS <= product.column_count; column += COLUMNS) {
    const uint8_t* columns = product.columns + column * column_bytes(product.blocks);
    float* out = product.out + column * product.out_stride;
    int64_t p = 0;
    for (; p + PANELS <= product.panel_count; p += PANELS)
      tile<Isa, PANELS, COLUMNS>(product.panels + p * panel_bytes(product.blocks), columns, product,
                                 out + p * PANEL_ROWS);
    for (; p < product.panel_count; ++p)
      tile<Isa, 1, COLUMNS>(product.panels + p * panel_bytes(product.blocks), columns, product, out + p * PANEL_ROWS);
  }
}

/// Takes the columns in tiles of `Isa::COLUMNS`, and the rest in smaller ones.
template <class Isa>
void multiply(const Product& product) {
  int64_t column = 0;
  tiles<Isa, Isa::COLUMNS>(product, column);
  if constexpr (Isa::COLUMNS > 4) tiles<Isa, 4>(product, column);
  if constexpr (Isa::COLUMNS > 2) tiles<Isa, 2>(product, column);
  tiles<Isa, 1>(product, column);
}

/// Scale and rounding as in ggml: the largest magnitude becomes 127, halves go to the even neighbour.
template <class Isa>
void quantize(const float* values, int64_t blocks, int64_t first, int64_t last, uint8_t* column) {
  for (int64_t block = first; block < last; ++block) {
    const float* from = values + block * BLOCK;
    // Magnitudes order like their bits, and integer maxima, unlike float ones, may be taken in any order.
    uint32_t largest_bits = 0;
    for (int i = 0; i < BLOCK; ++i) {
      uint32_t bits;
      std::memcpy(&bits, from + i, sizeof bits);
      bits &= 0x7fffffffU;
      largest_bits = bits > largest_bits ? bits : largest_bits;
    }
    float largest;
    std::memcpy(&largest, &largest_bits, sizeof largest);
    // Below that the inverse is not finite. What is no number stays none: its scale is not one either.
    const float inverse = largest > 1e-36F ? 127.0F / largest : 0.0F;
    auto* to = reinterpret_cast<int8_t*>(column + block * BLOCK);
    int32_t sum = 0;
    for (int i = 0; i < BLOCK; ++i) {
      const float scaled = from[i] * inverse;
      const float bounded = scaled > -127.0F ? (scaled < 127.0F ? scaled : 127.0F) : -127.0F;
      const auto rounded = static_cast<int32_t>(__builtin_rintf(bounded));
      to[i] = static_cast<int8_t>(rounded);
      sum += rounded;
    }
    const BlockTerms terms{largest / 127.0F, -128 * sum};
    std::memcpy(column + blocks * BLOCK + block * sizeof(BlockTerms), &terms, sizeof terms);
  }
}

}  // namespace quern::q8
