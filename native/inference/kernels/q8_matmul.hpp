#pragma once

#include <cstddef>
#include <cstdint>

/**
 * Products of a matrix in ggml's Q8_0 (blocks of 32 signed bytes with one f16 scale) and columns of f32, for x86.
 *
 * The matrix is packed in panels of 16 rows, so that one register holds four neighbouring values of every row of a
 * panel, and one instruction multiplies them all by four values of a column. Both sides are integers inside a block, as
 * in ggml's own kernels.
 *
 * Cost per panel and column: 12 instructions for each block of 32 values with AVX-512 VNNI (512 multiplications).
 */
namespace quern::q8 {

constexpr int64_t BLOCK = 32;       ///< values that share a scale
constexpr int64_t PANEL_ROWS = 16;  ///< rows that are packed together

/// A block as it stands in a GGUF file.
struct Block {
  uint16_t scale;  ///< f16
  int8_t values[BLOCK];
};

/// The part of a quantised column that belongs to one block.
struct BlockTerms {
  float scale;
  int32_t offset;  ///< -128 times the sum of its values: packed weights are unsigned, 128 too high
};

/// Bytes of one panel whose rows have `blocks` blocks: the values of all rows, then their scales. The same as unpacked.
constexpr size_t panel_bytes(int64_t blocks) {
  return static_cast<size_t>(blocks) * PANEL_ROWS * sizeof(Block);
}

/// Bytes of one quantised column: its values, then its `BlockTerms`.
constexpr size_t column_bytes(int64_t blocks) {
  return static_cast<size_t>(blocks) * (BLOCK + sizeof(BlockTerms));
}

/// Packs 16 consecutive rows of `blocks` blocks each into `panel_bytes(blocks)` bytes at `panel`.
void pack_panel(const Block* rows, int64_t blocks, uint8_t* panel);

/// A product to compute: `out[column * out_stride + row]` for all 16 rows of each panel and for each column.
struct Product {
  const uint8_t* panels;   ///< `panel_count` packed panels
  const uint8_t* columns;  ///< `column_count` quantised columns
  float* out;
  int64_t panel_count;
  int64_t column_count;
  int64_t blocks;      ///< per row and per column
  int64_t out_stride;  ///< floats between the results of neighbouring columns
};

/// One implementation for one instruction set. All agree to the rounding of f32 sums.
struct Kernel {
  const char* name;
  /// Quantises blocks `first` to `last` (exclusive) of a column of f32 into `column`, laid out as
  /// `column_bytes(blocks)` says.
  void (*quantize)(const float* values, int64_t blocks, int64_t first, int64_t last, uint8_t* column);
  void (*multiply)(const Product&);
};

extern const Kernel SCALAR;
#if defined(__x86_64__)
extern const Kernel AVX2;         ///< AVX2, FMA, F16C
extern const Kernel AVX512_VNNI;  ///< AVX-512 F, BW, VL, VNNI
#endif

/// The implementations that this processor can run, the fastest first; the scalar one is always the last.
struct Kernels {
  const Kernel* list[3];
  size_t count;
};
Kernels available();

}  // namespace quern::q8
