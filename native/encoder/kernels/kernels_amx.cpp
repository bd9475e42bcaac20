// Compiled with what encoder_avx512.cpp is, and -mamx-tile -mamx-int8.
#include <cstring>
#include <vector>

#include "kernels_avx512.hpp"

namespace quern::encoder {
namespace {

/// Bytes of a line of a tile register, lines of a full one, and columns of its sums.
constexpr size_t kTileLine = 64, kTileLines = 16, kTileColumns = 16, kTileBytes = kTileLine * kTileLines;
/// Depth of one step: a line of bytes of a row against kTileLines groups of each column.
constexpr size_t kStep = kTileLine;
constexpr size_t kStepPanel = kStep * kPanel;
constexpr size_t kPanelLine = kPanel * kGroup;
static_assert(kStep == kTileLines * kGroup && kDepthStep % kStep == 0);

/// Registers by number, since instructions name them: 0 to 3 hold sums, 4 and 5 lines of rows, 6 and 7 groups of
/// weights.
constexpr int kRegisters = 8, kFirstOfWeights = 6;

/// Registers as a product takes them, until it ends. The last tile of a product has the most rows: where one has a row
/// less, what is read for that lies within the rows, and its sums are nobody's.
class TileRegisters {
 public:
  explicit TileRegisters(Tiles tiles) {
    const auto rows = static_cast<uint8_t>((tiles.rows + tiles.count - 1) / tiles.count);
    struct alignas(64) {
      uint8_t palette = 1, start = 0, reserved[14]{};
      uint16_t line_bytes[16]{};
      uint8_t lines[16]{};
    } layout;
    for (int i = 0; i < kRegisters; ++i) {
      layout.line_bytes[i] = kTileLine;
      layout.lines[i] = i < kFirstOfWeights ? rows : kTileLines;
    }
    // GCC 12 thinks that this reads no more than eight bytes, and would leave the rest unwritten.
    asm volatile("" : : "r"(&layout) : "memory");
    _tile_loadconfig(&layout);
  }
  ~TileRegisters() { _tile_release(); }
  TileRegisters(const TileRegisters&) = delete;
  TileRegisters& operator=(const TileRegisters&) = delete;
};

/**
 * Products by tile registers. Rows lie step by step of the depth, [step][row][kStep]; of shorts, which are two digits
 * to the base 256 from -128 to 127, the high digits of a step before the low ones, and so do those of the weights.
 */
struct Amx : Avx512 {
  static void sum_bytes(size_t rows, const uint32_t* in, const int8_t* weights, size_t depth, Ahead ahead,
                        int32_t* sums) {
    _tile_zero(0);
    _tile_zero(1);
    const auto* bytes = reinterpret_cast<const uint8_t*>(in);
    for (size_t at = 0; at < depth; at += kStep, bytes += rows * kStep, weights += kStepPanel) {
      ahead.ask(kStepPanel);
      _tile_loadd(4, bytes, kTileLine);
      _tile_loadd(6, weights, kPanelLine);
      _tile_loadd(7, weights + kTileLine, kPanelLine);
      _tile_dpbusd(0, 4, 6);
      _tile_dpbusd(1, 4, 7);
    }
    _tile_stored(0, sums, kPanelLine);
    _tile_stored(1, sums + kTileColumns, kPanelLine);
  }

  static void sum_shorts(size_t rows, const uint32_t* in, const int16_t* weights, size_t depth, Ahead ahead,
                         float* sums) {
    const auto* columns = reinterpret_cast<const int8_t*>(weights);
    for (size_t half = 0; half < kPanel; half += kTileColumns) {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      const auto* digits = reinterpret_cast<const int8_t*>(in);
      for (size_t at = 0; at < depth; at += kStep, digits += 2 * rows * kStep, columns += 2 * kTileBytes) {
        ahead.ask(2 * kTileBytes);
        _tile_loadd(4, digits, kTileLine);
        _tile_loadd(6, columns, kTileLine);
        _tile_dpbssd(0, 4, 6);
        _tile_loadd(5, digits + rows * kStep, kTileLine);
        _tile_dpbssd(1, 5, 6);
        _tile_loadd(7, columns + kTileBytes, kTileLine);
        _tile_dpbssd(2, 4, 7);
        _tile_dpbssd(3, 5, 7);
      }
      alignas(64) int32_t found[4][kTileLines][kTileColumns];
      _tile_stored(0, found[0], kTileLine);
      _tile_stored(1, found[1], kTileLine);
      _tile_stored(2, found[2], kTileLine);
      _tile_stored(3, found[3], kTileLine);
      for (size_t row = 0; row < rows; ++row) {
        const auto part = [&](size_t i) { return load_ints(found[i][row]); };
        const Floats cross = to_floats(_mm512_add_epi32(part(1), part(2)));
        const Floats upper = multiply_add(to_floats(part(0)), fill(256), cross);
        store(sums + row * kPanel + half, multiply_add(upper, fill(256), to_floats(part(3))));
      }
    }
  }
};

/// [rows][depth] as [step][row][kStep].
void arrange_bytes(const uint32_t* lines, size_t rows, size_t words, uint32_t* to) {
  const auto* from = reinterpret_cast<const uint8_t*>(lines);
  auto* out = reinterpret_cast<uint8_t*>(to);
  const size_t depth = words * kGroup;
  for (size_t at = 0; at < depth; at += kStep)
    for (size_t row = 0; row < rows; ++row, out += kStep) std::memcpy(out, from + row * depth + at, kStep);
}

/// 32 shorts as high and low digits.
void split(__m512i shorts, int8_t* high, int8_t* low) {
  const __m512i upper = _mm512_srai_epi16(_mm512_add_epi16(shorts, _mm512_set1_epi16(128)), 8);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(high), _mm512_cvtepi16_epi8(upper));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(low), _mm512_cvtepi16_epi8(shorts));
}

/// [rows][depth] as [step][high digits, low digits][row][kStep].
void arrange_shorts(const uint32_t* lines, size_t rows, size_t words, uint32_t* to) {
  const auto* from = reinterpret_cast<const int16_t*>(lines);
  auto* out = reinterpret_cast<int8_t*>(to);
  const size_t depth = words * kPair;
  for (size_t at = 0; at < depth; at += kStep, out += 2 * rows * kStep)
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = 0; i < kStep; i += 32)
        split(_mm512_loadu_si512(from + row * depth + at + i), out + row * kStep + i, out + (rows + row) * kStep + i);
}

/// [depth / kPair][kPanel][kPair] as [half of the panel][step][high digits, low digits][kStep /
/// kGroup][column][kGroup].
void arrange_weights(int16_t* panel, size_t depth) {
  const std::vector<int16_t> from(panel, panel + depth * kPanel);
  auto* to = reinterpret_cast<int8_t*>(panel);
  for (size_t half = 0; half < kPanel; half += kTileColumns)
    for (size_t at = 0; at < depth; at += kStep, to += 2 * kTileBytes)
      for (size_t place = 0; place < kStep; ++place)
        for (size_t column = 0; column < kTileColumns; ++column) {
          const int number = from[((at + place) / kPair * kPanel + half + column) * kPair + place % kPair];
          const int high = (number + 128) >> 8;
          int8_t* const digit = to + (place / kGroup * kTileColumns + column) * kGroup + place % kGroup;
          digit[0] = static_cast<int8_t>(high);
          digit[kTileBytes] = static_cast<int8_t>(number - 256 * high);
        }
}

constexpr EncoderKernels amx_kernels() {
  EncoderKernels kernels = kernels_of<Amx>();
  kernels.arrange_shorts = arrange_shorts;
  kernels.arrange_bytes = arrange_bytes;
  kernels.arrange_weights = arrange_weights;
  kernels.multiply_shorts = [](const ShortProduct& product) {
    const TileRegisters registers(product.tiles);
    multiply_shorts<Amx>(product);
  };
  kernels.multiply_bytes = [](const ByteProduct& product) {
    const TileRegisters registers(product.tiles);
    multiply_bytes<Amx>(product);
  };
  return kernels;
}

}  // namespace

const EncoderKernels kAmxEncoder = amx_kernels();

}  // namespace quern::encoder
