#include <cstring>

#include "attention.hpp"

namespace quern::encoder {
namespace {

/// Registers of 16 bytes, which every processor has in some form.
struct Portable {
  typedef float Floats __attribute__((vector_size(16)));
  typedef int32_t Ints __attribute__((vector_size(16)));
  static constexpr size_t kLanes = 4;
  static constexpr size_t kVectors = 4;
  static constexpr size_t kRows = 4;
  static constexpr size_t kByteRows = kRows;

  static Floats fill(float value) { return Floats{value, value, value, value}; }
  template <class Vector, typename T>
  static Vector copied(const T* from) {
    Vector values;
    std::memcpy(&values, from, sizeof values);
    return values;
  }
  static Floats load(const float* from) { return copied<Floats>(from); }
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
  static int32_t total_ints(Ints a) { return a[0] + a[1] + a[2] + a[3]; }
  static Floats to_floats(Ints a) { return __builtin_convertvector(a, Floats); }

  template <class Values>
  static void to_bytes(Values values, float inverse, int32_t zero, int32_t most, uint8_t* bytes, Ints& sums) {
    for (size_t at = 0; at < kLane; at += kLanes) {
      const Floats scaled = values(at) * fill(inverse);
      for (size_t i = 0; i < kLanes; ++i) {
        const int32_t byte = whole(scaled[i], 256) + zero;
        bytes[at + i] = static_cast<uint8_t>(byte < 0 ? 0 : byte > most ? most : byte);
        sums[i] += bytes[at + i];
      }
    }
  }

  template <class Values>
  static void to_shorts(Values values, float inverse, int16_t* shorts) {
    for (size_t at = 0; at < kLane; at += kLanes) {
      const Floats scaled = values(at) * fill(inverse);
      for (size_t i = 0; i < kLanes; ++i) shorts[at + i] = static_cast<int16_t>(whole(scaled[i], kMostShort));
    }
  }

  /// Sums of [Rows][kPanel].
  template <size_t Rows>
  static void short_sums(const uint32_t* rows, const int16_t* weights, size_t pairs, Ahead, bool add, float* sums) {
    for (size_t r = 0; r < Rows; ++r) {
      int32_t own[kPanel]{};
      for (size_t pair = 0; pair < pairs; ++pair) {
        int16_t two[kPair];
        std::memcpy(two, rows + pair * Rows + r, sizeof two);
        const int16_t* columns = weights + pair * kPanel * kPair;
        for (size_t column = 0; column < kPanel; ++column)
          own[column] += two[0] * columns[column * kPair] + two[1] * columns[column * kPair + 1];
      }
      for (size_t column = 0; column < kPanel; ++column)
        sums[r * kPanel + column] = static_cast<float>(own[column]) + (add ? sums[r * kPanel + column] : 0.0f);
    }
  }

  /// Sums of [Rows][kPanel].
  template <size_t Rows>
  static void byte_sums(const uint32_t* rows, const int8_t* weights, size_t groups, Ahead, int32_t* sums) {
    std::memset(sums, 0, Rows * kPanel * sizeof(int32_t));
    for (size_t group = 0; group < groups; ++group, rows += Rows, weights += kPanel * kGroup)
      for (size_t r = 0; r < Rows; ++r) {
        uint8_t four[kGroup];
        std::memcpy(four, rows + r, sizeof four);
        for (size_t column = 0; column < kPanel; ++column)
          for (size_t i = 0; i < kGroup; ++i) sums[r * kPanel + column] += four[i] * weights[column * kGroup + i];
      }
  }

 private:
  /// Rounded, and no further from 0 than `most`; what is no number becomes -most.
  static int32_t whole(float value, int32_t most) {
    const auto bound = static_cast<float>(most);
    return static_cast<int32_t>(value > -bound ? (value < bound ? __builtin_rintf(value) : bound) : -bound);
  }
};

}  // namespace

const EncoderKernels kPortableEncoder = kernels_of<Portable>();

const EncoderKernels& encoder_kernels(Isa isa) {
#ifdef QUERN_AMX
  if (isa == Isa::kAmx) return kAmxEncoder;
#endif
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return kAvx512Encoder;
  if (isa == Isa::kAvx2) return kAvx2Encoder;
#endif
  static_cast<void>(isa);
  return kPortableEncoder;
}

}  // namespace quern::encoder
