#pragma once

// Included only by the files that are compiled for one instruction set each; see encoder_product.hpp.

#include "product.hpp"

namespace quern::encoder {

/// to[column][row] = from[row][column]
template <class Set>
void transpose(const void* from, size_t from_step, size_t rows, size_t columns, void* to, size_t to_step) {
  if constexpr (requires { Set::transpose; }) {
    Set::transpose(from, from_step, rows, columns, to, to_step);
  } else {
    const auto* in = static_cast<const uint32_t*>(from);
    auto* out = static_cast<uint32_t*>(to);
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) out[column * to_step + row] = in[row * from_step + column];
  }
}

/// Powers of 2 by `scores`, [tokens][kQueries], less the column's largest; `sums` becomes what makes them shares of 1.
template <class Set>
void exponentials(float* scores, size_t tokens, size_t columns, float* sums) {
  for (size_t column = 0; column < columns; column += Set::kLanes) {
    auto most = Set::load(scores + column);
    for (size_t token = 1; token < tokens; ++token)
      most = Set::larger(most, Set::load(scores + token * kQueries + column));
    auto sum = Set::fill(0.0f);
    for (size_t token = 0; token < tokens; ++token) {
      float* at = scores + token * kQueries + column;
      const auto share = power_of_two<Set>(Set::subtract(Set::load(at), most));
      Set::store(at, share);
      sum = Set::add(sum, share);
    }
    Set::store(sums + column, Set::divide(Set::fill(1.0f), sum));
  }
}

/**
 * The scores of some queries stand with the keys as rows, so that the softmax runs down the columns without a sum
 * across a register, and the product with the values reads them in the order in which a tile wants its rows.
 */
template <class Set>
void attend(const Head& head) {
  const size_t tokens = head.tokens, line = padded(tokens, kLane);
  float* keys = head.scratch;                      // [size][line]
  float* queries = keys + head.size * line;        // [size][kQueries]
  float* scores = queries + head.size * kQueries;  // [tokens][kQueries]
  float* sums = scores + line * kQueries;
  transpose<Set>(head.keys, head.step, tokens, head.size, keys, line);
  for (size_t first = 0; first < head.asked; first += kQueries) {
    const size_t count = head.asked - first < kQueries ? head.asked - first : kQueries;
    const size_t columns = padded(count, kLane);
    transpose<Set>(head.queries + first * head.step, head.step, count, head.size, queries, kQueries);
    // Columns that no query has are computed too, from finite numbers.
    for (size_t d = 0; d < head.size; ++d)
      for (size_t q = count; q < columns; ++q) queries[d * kQueries + q] = 0.0f;
    const Tiles rows{tokens, (tokens + Set::kRows - 1) / Set::kRows};
    for (size_t tile = 0; tile < rows.count; ++tile) {
      const size_t at = rows.first(tile);
      float_block<Set>(
          rows.first(tile + 1) - at, columns,
          {keys + at, line, queries, kQueries, head.size, nullptr, false, scores + at * kQueries, kQueries});
    }
    exponentials<Set>(scores, tokens, columns, sums);
    const Tiles outs{count, (count + Set::kRows - 1) / Set::kRows};
    for (size_t tile = 0; tile < outs.count; ++tile) {
      const size_t at = outs.first(tile), end = outs.first(tile + 1);
      float* out = head.out + (first + at) * head.out_step;
      float_block<Set>(end - at, head.size,
                       {scores + at, kQueries, head.values, head.step, tokens, nullptr, false, out, head.out_step});
      for (size_t row = at; row < end; ++row, out += head.out_step)
        for (size_t i = 0; i < head.size; i += Set::kLanes)
          Set::store(out + i, Set::multiply(Set::load(out + i), Set::fill(sums[row])));
    }
  }
}

/// A tile's words depth by depth.
template <class Set>
void arrange_rows(const uint32_t* lines, size_t rows, size_t words, uint32_t* to) {
  transpose<Set>(lines, words, rows, words, to, rows);
}

/// All functions of a set.
template <class Set>
constexpr EncoderKernels kernels_of() {
  return {.tile_rows = Set::kRows,
          .byte_rows = Set::kByteRows,
          .arrange_shorts = arrange_rows<Set>,
          .arrange_bytes = arrange_rows<Set>,
          .arrange_weights = [](int16_t*, size_t) {},
          .most_byte = [](const int8_t*, size_t) { return kMostByte; },
          .arrange_byte_weights = [](int8_t*, size_t, int32_t) {},
          .byte_panel = byte_panel<Set>,
          .transpose = transpose<Set>,
          .multiply_floats = multiply_floats<Set>,
          .multiply_shorts = multiply_shorts<Set>,
          .multiply_bytes = multiply_bytes<Set>,
          .shorten = shorten<Set>,
          .quantize = quantize<Set>,
          .norm = norm<Set>,
          .attend = attend<Set>};
}

}  // namespace quern::encoder
