#pragma once

#include <cstddef>
#include <cstdint>

#include "../../base/cpu.hpp"

/**
 * Loops of an encoder's forward pass. Lines of numbers are padded to kLane with zeros, so that no loop has a rest.
 *
 * Products read their rows in tiles, depth by depth, and their weights in panels of kPanel columns: a tile's sums stay
 * in registers, and both sides are read in the order in which they lie, or nearly so.
 */
namespace quern::encoder {

/// Numbers to which lines are padded.
constexpr size_t kLane = 16;
/// Numbers to which the depth of products is padded, and so their results.
constexpr size_t kDepthStep = 64;
/// Columns of a panel of weights.
constexpr size_t kPanel = 32;
/// Depth of a product of floats that goes through all panels before the next: its rows stay in the first cache.
constexpr size_t kDepthBlock = 192;
/// Inputs that stand in one word of 32 bits of a product of bytes, or of shorts.
constexpr size_t kGroup = 4;
constexpr size_t kPair = 2;
/// The largest byte of a row.
constexpr int32_t kMostByte = 255;
/// Depth over which products of shorts are summed up as integers, and the most that the magnitudes of a column's
/// weights may come to over it: times the largest short of a row it fits 32 bits. The largest short has two digits to
/// the base 256, both from -128 to 127.
constexpr size_t kShortBlock = 64;
constexpr int32_t kMostShort = 127 * 256 + 127;
constexpr int32_t kMostShortSum = 65536;

constexpr size_t padded(size_t count, size_t to) {
  return (count + to - 1) / to * to;
}

/// Rows cut into tiles whose sizes differ by one at most.
struct Tiles {
  size_t rows;
  size_t count;

  static Tiles of(size_t rows, size_t most) { return {rows, (rows + most - 1) / most}; }
  [[gnu::always_inline]] size_t first(size_t tile) const { return tile * rows / count; }
};

/// What a product's results go through.
enum class Activation { kNone, kGelu, kGeluTanh, kRelu, kTanh };

/// Where the results of a product go, a line per row.
struct Results {
  float* values;
  size_t step;
  bool add;           ///< to what is there
  const float* bias;  ///< null: 0
  Activation activation;
  size_t first_panel;
  size_t last_panel;  ///< exclusive
};

/// Rows times weights, both as floats.
struct FloatProduct {
  Tiles tiles;
  const float* rows;  ///< tile after tile: [depth][rows of the tile]
  /// Blocks of kDepthBlock lines (the last may have fewer), each [panel][line][kPanel].
  const float* weights;
  size_t depth;
  size_t panels;
  Results results;
};

/// How bytes of a row stand for numbers: (byte - zero) * scale.
struct ByteRow {
  float scale;
  int32_t zero;
  int32_t sum;  ///< of its bytes
};

/// How the bytes of a column do; arrays of kPanel * panels numbers.
struct ByteColumns {
  const float* scales;
  const float* sums;
  const float* zeros;  ///< null: all 0
};

/// Rows of unsigned times weights of signed bytes; sums of products are exact up to a depth of 2^14, before they become
/// floats.
struct ByteProduct {
  Tiles tiles;
  const uint32_t* rows;   ///< tile after tile, as arrange_bytes() made them
  const ByteRow* terms;   ///< one per row
  const int8_t* weights;  ///< panel after panel, as arrange_byte_weights() made them
  size_t depth;           ///< a multiple of kDepthStep
  ByteColumns columns;
  Results results;
};

/// Rows times weights, both as shorts: the numbers are theirs times the scales of their row and column.
struct ShortProduct {
  Tiles tiles;
  const uint32_t* rows;    ///< tile after tile, as arrange_shorts() made them
  const float* scales;     ///< one per row
  const int16_t* weights;  ///< panel after panel, as arrange_weights() made them
  size_t depth;            ///< a multiple of kDepthStep
  const float* columns;    ///< scales, kPanel * panels
  Results results;
};

/// The queries, keys and values of one head of one text.
struct Head {
  const float* queries;  ///< times log2(e) / sqrt(size of a head)
  const float* keys;
  const float* values;
  size_t step;   ///< between the tokens of each
  size_t asked;  ///< queries: as many as tokens, or fewer
  size_t tokens;
  size_t size;  ///< padded to kLane
  float* out;
  size_t out_step;
  float* scratch;  ///< attention_scratch(tokens, size) numbers
};

/// Tokens whose scores are computed together.
constexpr size_t kQueries = 32;

constexpr size_t attention_scratch(size_t tokens, size_t size) {
  return size * (padded(tokens, kLane) + kQueries) + padded(tokens, kLane) * kQueries + 2 * kQueries;
}

/// The functions of one instruction set.
struct EncoderKernels {
  size_t tile_rows;  ///< the most rows of a tile
  size_t byte_rows;  ///< and of one for products of bytes alone, no fewer
  /// The words of a tile's rows, [rows][words], as the products of shorts and of bytes read them.
  void (*arrange_shorts)(const uint32_t* lines, size_t rows, size_t words, uint32_t* to);
  void (*arrange_bytes)(const uint32_t* lines, size_t rows, size_t words, uint32_t* to);
  /// A panel of shorts, [depth / kPair][kPanel][kPair], in place, as products of shorts read it.
  void (*arrange_weights)(int16_t* panel, size_t depth);
  /// The largest byte, from 128 to 255, that rows may have which a panel of bytes, [depth / kGroup][kPanel][kGroup],
  /// multiplies.
  int32_t (*most_byte)(const int8_t* panel, size_t depth);
  /// Such a panel in place, as products of bytes by rows up to `most` read it; it has byte_panel(depth) bytes and
  /// begins at a multiple of 2.
  void (*arrange_byte_weights)(int8_t* panel, size_t depth, int32_t most);
  size_t (*byte_panel)(size_t depth);
  /// to[column][row] = from[row][column], words of 32 bits.
  void (*transpose)(const void* from, size_t from_step, size_t rows, size_t columns, void* to, size_t to_step);
  void (*multiply_floats)(const FloatProduct& product);
  void (*multiply_shorts)(const ShortProduct& product);
  void (*multiply_bytes)(const ByteProduct& product);
  /// `count` numbers, a multiple of kLane, as shorts, the largest as kMostShort; gives their scale, which is no number
  /// where one of them is not finite.
  float (*shorten)(const float* values, size_t count, int16_t* shorts);
  /// `count` numbers, a multiple of kLane, times `factors` (null: 1) as bytes up to `most`, which is 255 at most. The
  /// scale spans their range and 0.
  ByteRow (*quantize)(const float* values, const float* factors, size_t count, int32_t most, uint8_t* bytes);
  /// In place: of mean 0 and variance 1 over `width` numbers, times weight, plus bias. Padding stays 0.
  void (*norm)(float* values, size_t width, const float* weight, const float* bias, float epsilon);
  /// softmax(queries keys^T) values.
  void (*attend)(const Head& head);
};

/// The widest instruction set that this processor has for encoders.
inline Isa best_encoder_isa() {
  return tiles_granted() ? Isa::kAmx : best_isa();
}

/// Functions of one instruction set, which the processor must have; they differ by rounding alone, that of rows to
/// bytes included.
const EncoderKernels& encoder_kernels(Isa isa = best_encoder_isa());

extern const EncoderKernels kPortableEncoder;
#ifdef QUERN_X86
extern const EncoderKernels kAvx2Encoder;
extern const EncoderKernels kAvx512Encoder;
#endif
#ifdef QUERN_AMX
extern const EncoderKernels kAmxEncoder;
#endif

}  // namespace quern::encoder
