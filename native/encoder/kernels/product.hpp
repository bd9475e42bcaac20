#pragma once

// Included only by the files that are compiled for one instruction set each. Everything here depends on that set's own
// type, so no function compiled for one processor can be linked into the code of another.

#include "values.hpp"

namespace quern::encoder {

/// Weights are read once in a pass and come from afar. While a panel is multiplied the next one is asked for, by each
/// of the tiles an equal part, a part at each step through 128 bytes of the panel.
struct Ahead {
  const char* next;
  size_t step;

  [[gnu::always_inline]] void ask() {
    __builtin_prefetch(next);
    __builtin_prefetch(next + 64);
    next += step;
  }
  /// What so many bytes of the panel in hand are answered with.
  [[gnu::always_inline]] void ask(size_t bytes) {
    const char* const end = next + bytes / 128 * step;
    for (; next < end; next += 64) __builtin_prefetch(next);
  }
};

/// A product of some rows and columns. Depth d of row r lies at rows[d * rows_step + r], of the columns at
/// weights + d * weights_step. Starts from `bias` (null: 0), and what is in `out` where `add`.
struct FloatBlock {
  const float* rows;
  size_t rows_step;
  const float* weights;
  size_t weights_step;
  size_t depth;
  const float* bias;
  bool add;
  float* out;
  size_t out_step;

  /// The same of the columns from `column` on.
  [[gnu::always_inline]] FloatBlock from(size_t column) const {
    return {rows, rows_step,    weights + column, weights_step, depth, bias == nullptr ? nullptr : bias + column,
            add,  out + column, out_step};
  }
};

/// A block of `Rows` rows and `Vectors` registers of columns.
template <class Set, size_t Rows, size_t Vectors>
[[gnu::always_inline]] inline void float_tile(FloatBlock block) {
  using Floats = typename Set::Floats;
  Floats sums[Rows][Vectors];
#pragma GCC unroll 16
  for (size_t v = 0; v < Vectors; ++v) {
    const Floats start = block.bias == nullptr ? Set::fill(0.0f) : Set::load(block.bias + v * Set::kLanes);
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r)
      sums[r][v] = block.add ? Set::add(start, Set::load(block.out + r * block.out_step + v * Set::kLanes)) : start;
  }
  for (size_t d = 0; d < block.depth; ++d, block.rows += block.rows_step, block.weights += block.weights_step) {
    Floats columns[Vectors];
#pragma GCC unroll 16
    for (size_t v = 0; v < Vectors; ++v) columns[v] = Set::load(block.weights + v * Set::kLanes);
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r) {
      const Floats value = Set::fill(block.rows[r]);
#pragma GCC unroll 16
      for (size_t v = 0; v < Vectors; ++v) sums[r][v] = Set::multiply_add(value, columns[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (size_t v = 0; v < Vectors; ++v) Set::store(block.out + r * block.out_step + v * Set::kLanes, sums[r][v]);
}

/// A block of `Rows` rows and `columns` columns, a multiple of kLane.
template <class Set, size_t Rows>
[[gnu::always_inline]] inline void float_columns(size_t columns, FloatBlock block) {
  constexpr size_t kWide = Set::kVectors * Set::kLanes;
  size_t column = 0;
  for (; column + kWide <= columns; column += kWide) float_tile<Set, Rows, Set::kVectors>(block.from(column));
  if constexpr (kWide > kLane)
    if (column < columns) float_tile<Set, Rows, kLane / Set::kLanes>(block.from(column));
}

/// A block of any number of rows up to `Most` and of columns that is a multiple of kLane.
template <class Set, size_t Most = Set::kRows>
void float_block(size_t rows, size_t columns, const FloatBlock& block) {
  if (rows == Most)
    float_columns<Set, Most>(columns, block);
  else if constexpr (Most > 1)
    float_block<Set, Most - 1>(rows, columns, block);
}

/// Tiles that go through a block of weights together, while both are in the second cache.
constexpr size_t kTilesAtOnce = 8;

template <class Set>
void multiply_floats(const FloatProduct& product) {
  const Results& results = product.results;
  for (size_t tiles = 0; tiles < product.tiles.count; tiles += kTilesAtOnce) {
    const size_t end = tiles + kTilesAtOnce < product.tiles.count ? tiles + kTilesAtOnce : product.tiles.count;
    for (size_t from = 0; from < product.depth; from += kDepthBlock) {
      const size_t depth = product.depth - from < kDepthBlock ? product.depth - from : kDepthBlock;
      const bool last = from + depth == product.depth;
      for (size_t panel = results.first_panel; panel < results.last_panel; ++panel) {
        const float* weights = product.weights + (from * product.panels + panel * depth) * kPanel;
        const float* bias = from == 0 && results.bias != nullptr ? results.bias + panel * kPanel : nullptr;
        for (size_t tile = tiles; tile < end; ++tile) {
          const size_t first = product.tiles.first(tile), rows = product.tiles.first(tile + 1) - first;
          const float* in = product.rows + first * product.depth + from * rows;
          float* out = results.values + first * results.step + panel * kPanel;
          float_block<Set>(rows, kPanel,
                           {in, rows, weights, kPanel, depth, bias, results.add || from > 0, out, results.step});
          if (last) activate_panel<Set>(results.activation, out, rows, results.step);
        }
      }
    }
  }
}

/// Calls each(panel, tile, what the tile asks for), so that tiles that the second cache holds go through a panel of
/// weights together. A panel has `panel_bytes`.
template <class Each>
[[gnu::always_inline]] inline void each_panel(Tiles tiles, const Results& results, const void* weights,
                                              size_t panel_bytes, Each each) {
  for (size_t from = 0; from < tiles.count; from += kTilesAtOnce) {
    const size_t end = from + kTilesAtOnce < tiles.count ? from + kTilesAtOnce : tiles.count, count = end - from;
    for (size_t panel = results.first_panel; panel < results.last_panel; ++panel) {
      const char* const next = static_cast<const char*>(weights) + (panel + 1) * panel_bytes;
      for (size_t tile = from; tile < end; ++tile)
        each(panel, tile, Ahead{next + (tile - from) * panel_bytes / count, 128 / count});
    }
  }
}

/// Rows and a panel of weights over a part of their depth.
struct ShortBlock {
  const uint32_t* rows;
  const int16_t* weights;
  size_t pairs;
};

/// short_sums() of any number of rows up to `Most`, added to those in `sums` where `add`.
template <class Set, size_t Most = Set::kRows>
void short_block(size_t count, const ShortBlock& block, Ahead ahead, bool add, float* sums) {
  if (count == Most)
    Set::template short_sums<Most>(block.rows, block.weights, block.pairs, ahead, add, sums);
  else if constexpr (Most > 1)
    short_block<Set, Most - 1>(count, block, ahead, add, sums);
}

/// Sums of one panel and any number of rows over the whole depth.
template <class Set>
void sum_shorts(size_t rows, const uint32_t* in, const int16_t* weights, size_t depth, Ahead ahead, float* sums) {
  if constexpr (requires { Set::sum_shorts; }) {
    Set::sum_shorts(rows, in, weights, depth, ahead, sums);
  } else {
    constexpr size_t kBlock = kShortBlock / kPair;
    for (size_t pair = 0; pair < depth / kPair; pair += kBlock, ahead.next += kBlock * ahead.step)
      short_block<Set>(rows, {in + pair * rows, weights + pair * kPanel * kPair, kBlock}, ahead, pair > 0, sums);
  }
}

/// The numbers that `rows` lines of sums, kPanel each, stand for.
template <class Set>
void finish_shorts(const float* sums, size_t rows, const float* row_scales, const ShortProduct& product, size_t column,
                   float* out) {
  // A copy, as in finish_bytes().
  const Results results = product.results;
  const float* const scales = product.columns + column;
  for (size_t r = 0; r < rows; ++r, sums += kPanel, out += results.step) {
    const auto row_scale = Set::fill(row_scales[r]);
#pragma GCC unroll 4
    for (size_t v = 0; v < kPanel; v += Set::kLanes) {
      const auto scale = Set::multiply(Set::load(scales + v), row_scale);
      auto value = Set::multiply_add(Set::load(sums + v), scale, Set::load(results.bias + column + v));
      if (results.add) value = Set::add(value, Set::load(out + v));
      Set::store(out + v, value);
    }
  }
}

template <class Set>
void multiply_shorts(const ShortProduct& product) {
  const Results& results = product.results;
  alignas(64) float sums[Set::kRows * kPanel];
  const size_t bytes = product.depth * kPanel * sizeof(int16_t);
  each_panel(product.tiles, results, product.weights, bytes, [&](size_t panel, size_t tile, Ahead ahead) {
    const size_t first = product.tiles.first(tile), rows = product.tiles.first(tile + 1) - first;
    float* out = results.values + first * results.step + panel * kPanel;
    sum_shorts<Set>(rows, product.rows + first * (product.depth / kPair),
                    product.weights + panel * kPanel * product.depth, product.depth, ahead, sums);
    finish_shorts<Set>(sums, rows, product.scales + first, product, panel * kPanel, out);
    activate_panel<Set>(results.activation, out, rows, results.step);
  });
}

/// The numbers that `rows` lines of sums, kPanel each, stand for.
template <class Set>
void finish_bytes(const int32_t* sums, size_t rows, const ByteRow* terms, const ByteProduct& product, size_t column,
                  float* out) {
  // Copies: what is written could be a part of the product, as far as the compiler knows.
  const ByteColumns columns = product.columns;
  const Results results = product.results;
  const auto depth = static_cast<int32_t>(product.depth);
  for (size_t r = 0; r < rows; ++r, sums += kPanel, out += results.step) {
    // As floats, rounded once at most: integers of 32 bits are multiplied slowly.
    const auto zero = Set::fill(static_cast<float>(-terms[r].zero));
    const auto rest = Set::fill(static_cast<float>(depth * terms[r].zero - terms[r].sum));
    const auto row_scale = Set::fill(terms[r].scale);
#pragma GCC unroll 4
    for (size_t v = 0; v < kPanel; v += Set::kLanes) {
      const size_t at = column + v;
      auto sum = Set::multiply_add(zero, Set::load(columns.sums + at), Set::to_floats(Set::load_ints(sums + v)));
      if (columns.zeros != nullptr) sum = Set::multiply_add(rest, Set::load(columns.zeros + at), sum);
      const auto scale = Set::multiply(Set::load(columns.scales + at), row_scale);
      auto value = Set::multiply_add(sum, scale, Set::load(results.bias + at));
      if (results.add) value = Set::add(value, Set::load(out + v));
      Set::store(out + v, value);
    }
  }
}

/// byte_sums() of any number of rows up to `Most`.
template <class Set, size_t Most = Set::kByteRows>
void byte_block(size_t count, const uint32_t* rows, const int8_t* weights, size_t groups, Ahead ahead, int32_t* sums) {
  if (count == Most)
    Set::template byte_sums<Most>(rows, weights, groups, ahead, sums);
  else if constexpr (Most > 1)
    byte_block<Set, Most - 1>(count, rows, weights, groups, ahead, sums);
}

/// Sums of one panel and any number of rows over the whole depth.
template <class Set>
void sum_bytes(size_t rows, const uint32_t* in, const int8_t* weights, size_t depth, Ahead ahead, int32_t* sums) {
  if constexpr (requires { Set::sum_bytes; })
    Set::sum_bytes(rows, in, weights, depth, ahead, sums);
  else
    byte_block<Set>(rows, in, weights, depth / kGroup, ahead, sums);
}

/// Bytes of a panel of bytes.
template <class Set>
constexpr size_t byte_panel(size_t depth) {
  if constexpr (requires { Set::byte_panel; })
    return Set::byte_panel(depth);
  else
    return depth * kPanel;
}

template <class Set>
void multiply_bytes(const ByteProduct& product) {
  const Results& results = product.results;
  alignas(64) int32_t sums[Set::kByteRows * kPanel];
  const size_t bytes = byte_panel<Set>(product.depth);
  each_panel(product.tiles, results, product.weights, bytes, [&](size_t panel, size_t tile, Ahead ahead) {
    const size_t first = product.tiles.first(tile), rows = product.tiles.first(tile + 1) - first;
    float* out = results.values + first * results.step + panel * kPanel;
    sum_bytes<Set>(rows, product.rows + first * (product.depth / kGroup), product.weights + panel * bytes,
                   product.depth, ahead, sums);
    finish_bytes<Set>(sums, rows, product.terms + first, product, panel * kPanel, out);
    activate_panel<Set>(results.activation, out, rows, results.step);
  });
}

}  // namespace quern::encoder
