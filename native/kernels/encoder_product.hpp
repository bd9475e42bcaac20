#pragma once

// Included only by the files that are compiled for one instruction set each. Everything here depends on that set's own
// type, so no function compiled for one processor can be linked into the code of another.

#include "encoder_values.hpp"

namespace quern::encoder {

/// Weights are read once in a pass and come from afar: they are asked for so many numbers ahead.
constexpr size_t kAhead = 2048;

/**
 * `Rows` rows by `Vectors` registers of columns. Depth d of row r lies at rows[d * rows_step + r], of the columns at
 * weights + d * weights_step. Starts from `bias` (null: 0), and what is in `out` where `add`.
 */
template <class Set, size_t Rows, size_t Vectors, typename Weight>
[[gnu::always_inline]] inline void float_tile(const float* rows, size_t rows_step, const Weight* weights,
                                              size_t weights_step, size_t depth, const float* bias, bool add,
                                              float* out, size_t out_step) {
  using Floats = typename Set::Floats;
  Floats sums[Rows][Vectors];
#pragma GCC unroll 16
  for (size_t v = 0; v < Vectors; ++v) {
    const Floats start = bias == nullptr ? Set::fill(0.0f) : Set::load(bias + v * Set::kLanes);
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r)
      sums[r][v] = add ? Set::add(start, Set::load(out + r * out_step + v * Set::kLanes)) : start;
  }
  for (size_t d = 0; d < depth; ++d, rows += rows_step, weights += weights_step) {
    if constexpr (sizeof(Weight) < sizeof(float)) __builtin_prefetch(weights + kAhead);
    Floats columns[Vectors];
#pragma GCC unroll 16
    for (size_t v = 0; v < Vectors; ++v) columns[v] = Set::load(weights + v * Set::kLanes);
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r) {
      const Floats value = Set::fill(rows[r]);
#pragma GCC unroll 16
      for (size_t v = 0; v < Vectors; ++v) sums[r][v] = Set::multiply_add(value, columns[v], sums[r][v]);
    }
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (size_t v = 0; v < Vectors; ++v) Set::store(out + r * out_step + v * Set::kLanes, sums[r][v]);
}

/// float_tile() of `columns` columns, a multiple of kLane.
template <class Set, size_t Rows, typename Weight>
[[gnu::always_inline]] inline void float_columns(size_t columns, const float* rows, size_t rows_step,
                                                 const Weight* weights, size_t weights_step, size_t depth,
                                                 const float* bias, bool add, float* out, size_t out_step) {
  constexpr size_t kWide = Set::kVectors * Set::kLanes;
  size_t column = 0;
  for (; column + kWide <= columns; column += kWide)
    float_tile<Set, Rows, Set::kVectors>(rows, rows_step, weights + column, weights_step, depth,
                                         bias == nullptr ? nullptr : bias + column, add, out + column, out_step);
  if constexpr (kWide > kLane)
    if (column < columns)
      float_tile<Set, Rows, kLane / Set::kLanes>(rows, rows_step, weights + column, weights_step, depth,
                                                 bias == nullptr ? nullptr : bias + column, add, out + column,
                                                 out_step);
}

/// float_tile() of any number of rows up to `Most` and of columns that is a multiple of kLane.
template <class Set, typename Weight, size_t Most = Set::kRows>
void float_block(size_t count, size_t columns, const float* rows, size_t rows_step, const Weight* weights,
                 size_t weights_step, size_t depth, const float* bias, bool add, float* out, size_t out_step) {
  if (count == Most)
    float_columns<Set, Most>(columns, rows, rows_step, weights, weights_step, depth, bias, add, out, out_step);
  else if constexpr (Most > 1)
    float_block<Set, Weight, Most - 1>(count, columns, rows, rows_step, weights, weights_step, depth, bias, add, out,
                                       out_step);
}

/// Results of `rows` rows and one panel through the activation.
template <class Set>
[[gnu::always_inline]] inline void activate_panel(Activation activation, float* out, size_t rows, size_t step) {
  if (activation == Activation::kNone) return;
  for (size_t r = 0; r < rows; ++r) activate<Set>(activation, out + r * step, kPanel);
}

/// Tiles that go through a block of weights together, while both are in the second cache.
constexpr size_t kTilesAtOnce = 8;

template <class Set, typename Weight>
void multiply_floats(const FloatProduct<Weight>& product) {
  const Results& results = product.results;
  for (size_t tiles = 0; tiles < product.tiles.count; tiles += kTilesAtOnce) {
    const size_t end = tiles + kTilesAtOnce < product.tiles.count ? tiles + kTilesAtOnce : product.tiles.count;
    for (size_t from = 0; from < product.depth; from += kDepthBlock) {
      const size_t depth = product.depth - from < kDepthBlock ? product.depth - from : kDepthBlock;
      const bool last = from + depth == product.depth;
      for (size_t panel = results.first_panel; panel < results.last_panel; ++panel) {
        const Weight* weights = product.weights + (from * product.panels + panel * depth) * kPanel;
        const float* bias = from == 0 && results.bias != nullptr ? results.bias + panel * kPanel : nullptr;
        for (size_t tile = tiles; tile < end; ++tile) {
          const size_t first = product.tiles.first(tile), rows = product.tiles.first(tile + 1) - first;
          const float* in = product.rows + first * product.depth + from * rows;
          float* out = results.values + first * results.step + panel * kPanel;
          float_block<Set, Weight>(rows, kPanel, in, rows, weights, kPanel, depth, bias, results.add || from > 0, out,
                                   results.step);
          if (last) activate_panel<Set>(results.activation, out, rows, results.step);
        }
      }
    }
  }
}

/// The numbers that `rows` lines of sums, kPanel each, stand for.
template <class Set>
void finish_bytes(const int32_t* sums, size_t rows, const ByteRow* terms, const ByteProduct& product, size_t column,
                  float* out) {
  const ByteColumns& columns = product.columns;
  const Results& results = product.results;
  const auto depth = static_cast<int32_t>(product.depth);
  for (size_t v = 0; v < kPanel; v += Set::kLanes) {
    const size_t at = column + v;
    const auto scales = Set::load(columns.scales + at), bias = Set::load(results.bias + at);
    const auto column_sums = Set::load_ints(columns.sums + at);
    for (size_t r = 0; r < rows; ++r) {
      auto sum = Set::load_ints(sums + r * kPanel + v);
      sum = Set::subtract_ints(sum, Set::multiply_ints(Set::fill_ints(terms[r].zero), column_sums));
      if (columns.zeros != nullptr)
        sum = Set::subtract_ints(sum, Set::multiply_ints(Set::fill_ints(terms[r].sum - depth * terms[r].zero),
                                                         Set::load_ints(columns.zeros + at)));
      float* to = out + r * results.step + v;
      auto value = Set::multiply_add(Set::to_floats(sum), Set::multiply(scales, Set::fill(terms[r].scale)), bias);
      if (results.add) value = Set::add(value, Set::load(to));
      Set::store(to, value);
    }
  }
}

/// Sums of one panel and any number of rows up to `Most`.
template <class Set, size_t Most = Set::kRows>
void byte_block(size_t count, const uint32_t* rows, const int8_t* weights, size_t groups, int32_t* sums) {
  if (count == Most)
    Set::template byte_sums<Most>(rows, weights, groups, sums);
  else if constexpr (Most > 1)
    byte_block<Set, Most - 1>(count, rows, weights, groups, sums);
}

template <class Set>
void multiply_bytes(const ByteProduct& product) {
  const Results& results = product.results;
  const size_t groups = product.depth / kGroup;
  alignas(64) int32_t sums[Set::kRows * kPanel];
  for (size_t tiles = 0; tiles < product.tiles.count; tiles += kTilesAtOnce) {
    const size_t end = tiles + kTilesAtOnce < product.tiles.count ? tiles + kTilesAtOnce : product.tiles.count;
    for (size_t panel = results.first_panel; panel < results.last_panel; ++panel) {
      for (size_t tile = tiles; tile < end; ++tile) {
        const size_t first = product.tiles.first(tile), rows = product.tiles.first(tile + 1) - first;
        float* out = results.values + first * results.step + panel * kPanel;
        byte_block<Set>(rows, product.rows + first * groups, product.weights + panel * kPanel * product.depth, groups,
                        sums);
        finish_bytes<Set>(sums, rows, product.terms + first, product, panel * kPanel, out);
        activate_panel<Set>(results.activation, out, rows, results.step);
      }
    }
  }
}

}  // namespace quern::encoder
