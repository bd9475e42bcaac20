#include <cstring>

#include "encoder_attention.hpp"

namespace quern::encoder {
namespace {

/// Registers of 16 bytes, which every processor has in some form.
struct Portable {
  typedef float Floats __attribute__((vector_size(16)));
  typedef int32_t Ints __attribute__((vector_size(16)));
  typedef uint32_t Words __attribute__((vector_size(16)));
  typedef uint16_t Halves __attribute__((vector_size(8)));
  static constexpr size_t kLanes = 4;
  static constexpr size_t kVectors = 4;
  static constexpr size_t kRows = 4;

  static Floats fill(float value) { return Floats{value, value, value, value}; }
  template <class Vector, typename T>
  static Vector copied(const T* from) {
    Vector values;
    std::memcpy(&values, from, sizeof values);
    return values;
  }
  static Floats load(const float* from) { return copied<Floats>(from); }
  /// float_of() of finite numbers.
  static Floats load(const Half* from) {
    const Words words = __builtin_convertvector(copied<Halves>(from), Words);
    const Floats sizes = reinterpret_cast<Floats>((words & 0x7fffu) << 13) * fill(0x1p112f);
    return reinterpret_cast<Floats>(reinterpret_cast<Words>(sizes) | (words & 0x8000u) << 16);
  }
  static void store(float* to, Floats values) { std::memcpy(to, &values, sizeof values); }
  static Floats add(Floats a, Floats b) { return a + b; }
  static Floats subtract(Floats a, Floats b) { return a - b; }
  static Floats multiply(Floats a, Floats b) { return a * b; }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
  static Floats divide(Floats a, Floats b) { return a / b; }
  static Floats larger(Floats a, Floats b) { return a > b ? a : b; }
  static Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
  /// The last bits of a sum with 1.5 * 2^23 are a rounded whole number.
  static Floats round(Floats a) { return (a + fill(12582912.0f)) - fill(12582912.0f); }
  static Floats scale_by_power(Floats a, Floats power) {
    return a * reinterpret_cast<Floats>((__builtin_convertvector(power, Ints) + 127) << 23);
  }
  static float total(Floats a) { return (a[0] + a[2]) + (a[1] + a[3]); }
  static float least(Floats a) {
    float found = a[0];
    for (size_t i = 1; i < kLanes; ++i) found = a[i] < found ? a[i] : found;
    return found;
  }
  static float most(Floats a) { return -least(-a); }

  static Ints fill_ints(int32_t value) { return Ints{value, value, value, value}; }
  static Ints load_ints(const int32_t* from) { return copied<Ints>(from); }
  static Ints subtract_ints(Ints a, Ints b) { return a - b; }
  static Ints multiply_ints(Ints a, Ints b) { return a * b; }
  static Floats to_floats(Ints a) { return __builtin_convertvector(a, Floats); }

  template <class Values>
  static int32_t to_bytes(Values values, float inverse, int32_t zero, uint8_t* bytes) {
    int32_t sum = 0;
    for (size_t at = 0; at < kLane; at += kLanes) {
      const Floats scaled = values(at) * fill(inverse);
      for (size_t i = 0; i < kLanes; ++i) {
        // What is no number becomes 0.
        const float whole = scaled[i] > -256.0f ? (scaled[i] < 256.0f ? __builtin_rintf(scaled[i]) : 256.0f) : -256.0f;
        const int32_t byte = static_cast<int32_t>(whole) + zero;
        bytes[at + i] = static_cast<uint8_t>(byte < 0 ? 0 : byte > 255 ? 255 : byte);
        sum += bytes[at + i];
      }
    }
    return sum;
  }

  /// Sums of [Rows][kPanel].
  template <size_t Rows>
  static void byte_sums(const uint32_t* rows, const int8_t* weights, size_t groups, int32_t* sums) {
    std::memset(sums, 0, Rows * kPanel * sizeof(int32_t));
    for (size_t group = 0; group < groups; ++group, rows += Rows, weights += kPanel * kGroup)
      for (size_t r = 0; r < Rows; ++r) {
        uint8_t four[kGroup];
        std::memcpy(four, rows + r, sizeof four);
        for (size_t column = 0; column < kPanel; ++column)
          for (size_t i = 0; i < kGroup; ++i) sums[r * kPanel + column] += four[i] * weights[column * kGroup + i];
      }
  }

  static void transpose(const void* from, size_t from_step, size_t rows, size_t columns, void* to, size_t to_step) {
    const auto* in = static_cast<const uint32_t*>(from);
    auto* out = static_cast<uint32_t*>(to);
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column) out[column * to_step + row] = in[row * from_step + column];
  }
};

}  // namespace

const EncoderKernels kPortableEncoder = {Portable::kRows,
                                         Portable::transpose,
                                         multiply_floats<Portable, Half>,
                                         multiply_floats<Portable, float>,
                                         multiply_bytes<Portable>,
                                         quantize<Portable>,
                                         norm<Portable>,
                                         activate<Portable>,
                                         attend<Portable>};

const EncoderKernels& encoder_kernels(Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return kAvx512Encoder;
  if (isa == Isa::kAvx2) return kAvx2Encoder;
#endif
  static_cast<void>(isa);
  return kPortableEncoder;
}

}  // namespace quern::encoder
