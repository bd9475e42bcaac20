#include "dense.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#ifdef QUERN_X86
#include <immintrin.h>
#endif

// The vectors below are wider than those that a caller without the instruction set could pass; nobody passes them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

// Only what is unrolled early stays in registers.
#define QUERN_UNROLLED _Pragma("GCC unroll 16")
#define QUERN_INLINE inline __attribute__((always_inline))

namespace quern {
namespace {

template <typename T, size_t Bytes>
struct Lanes {
  typedef T Vector __attribute__((vector_size(Bytes)));
  static constexpr size_t kWidth = Bytes / sizeof(T);
  static constexpr size_t kCount = kPanel<T> / kWidth;
};

enum class Start { kZero, kOut };
enum class Term { kProduct, kSquare };

/// `Rows` rows by one panel: all sums stay in registers.
template <typename T, size_t Bytes, size_t Rows, Term term, Start start>
QUERN_INLINE void tile(const Strided<T>& a, const Panel<T>& panel, T* out, size_t out_step) {
  using L = Lanes<T, Bytes>;
  typename L::Vector sums[Rows][L::kCount];
  QUERN_UNROLLED
  for (size_t row = 0; row < Rows; ++row) QUERN_UNROLLED
  for (size_t lane = 0; lane < L::kCount; ++lane) {
    if constexpr (start == Start::kZero)
      sums[row][lane] = typename L::Vector{};
    else
      std::memcpy(&sums[row][lane], out + row * out_step + lane * L::kWidth, Bytes);
  }
  const T *first = a.values, *line = panel.values;
  for (size_t k = 0; k < panel.depth; ++k, line += panel.step, first += a.depth_step) {
    typename L::Vector columns[L::kCount];
    QUERN_UNROLLED
    for (size_t lane = 0; lane < L::kCount; ++lane) std::memcpy(&columns[lane], line + lane * L::kWidth, Bytes);
    QUERN_UNROLLED
    for (size_t row = 0; row < Rows; ++row) {
      const T value = first[row * a.row_step];
      QUERN_UNROLLED
      for (size_t lane = 0; lane < L::kCount; ++lane) {
        if constexpr (term == Term::kProduct) {
          sums[row][lane] += value * columns[lane];
        } else {
          const typename L::Vector difference = value - columns[lane];
          sums[row][lane] += difference * difference;
        }
      }
    }
  }
  QUERN_UNROLLED
  for (size_t row = 0; row < Rows; ++row) QUERN_UNROLLED
  for (size_t lane = 0; lane < L::kCount; ++lane)
    std::memcpy(out + row * out_step + lane * L::kWidth, &sums[row][lane], Bytes);
}

template <typename T, size_t Bytes, size_t Rows, Term term, Start start>
QUERN_INLINE void tiles(Strided<T> a, size_t rows, Panel<T> panel, T* out, size_t out_step) {
  for (; rows >= Rows; rows -= Rows, a.values += Rows * a.row_step, out += Rows * out_step)
    tile<T, Bytes, Rows, term, start>(a, panel, out, out_step);
  if constexpr (Rows > 1) tiles<T, Bytes, Rows / 2, term, start>(a, rows, panel, out, out_step);
}

template <typename T, size_t Bytes>
QUERN_INLINE void boxes(const T* from, const T* to, const T* least, const T* greatest, size_t depth, T* out) {
  using L = Lanes<T, Bytes>;
  typename L::Vector sums[L::kCount] = {};
  const typename L::Vector zero = {};
  for (size_t k = 0; k < depth; ++k, least += kPanel<T>, greatest += kPanel<T>) {
    QUERN_UNROLLED
    for (size_t lane = 0; lane < L::kCount; ++lane) {
      typename L::Vector low, high;
      std::memcpy(&low, least + lane * L::kWidth, Bytes);
      std::memcpy(&high, greatest + lane * L::kWidth, Bytes);
      low = low - to[k];
      high = from[k] - high;
      low = low > high ? low : high;
      low = low > zero ? low : zero;
      sums[lane] += low * low;
    }
  }
  QUERN_UNROLLED
  for (size_t lane = 0; lane < L::kCount; ++lane) std::memcpy(out + lane * L::kWidth, &sums[lane], Bytes);
}

template <typename T, size_t Bytes>
QUERN_INLINE void two_least(const T* lines, size_t count, size_t step, T* least, T* line, T* second) {
  using L = Lanes<T, Bytes>;
  typename L::Vector low[L::kCount], next[L::kCount], place[L::kCount];
  QUERN_UNROLLED
  for (size_t lane = 0; lane < L::kCount; ++lane) {
    std::memcpy(&low[lane], lines + lane * L::kWidth, Bytes);
    place[lane] = typename L::Vector{};
    next[lane] = place[lane] + std::numeric_limits<T>::infinity();
  }
  for (size_t i = 1; i < count; ++i) {
    const typename L::Vector here = typename L::Vector{} + static_cast<T>(i);
    QUERN_UNROLLED
    for (size_t lane = 0; lane < L::kCount; ++lane) {
      typename L::Vector value;
      std::memcpy(&value, lines + i * step + lane * L::kWidth, Bytes);
      const typename L::Vector greater = value < low[lane] ? low[lane] : value;
      next[lane] = greater < next[lane] ? greater : next[lane];
      place[lane] = value < low[lane] ? here : place[lane];
      low[lane] = value < low[lane] ? value : low[lane];
    }
  }
  QUERN_UNROLLED
  for (size_t lane = 0; lane < L::kCount; ++lane) {
    std::memcpy(least + lane * L::kWidth, &low[lane], Bytes);
    std::memcpy(line + lane * L::kWidth, &place[lane], Bytes);
    std::memcpy(second + lane * L::kWidth, &next[lane], Bytes);
  }
}

void portable_within(const float* values, size_t panels, float bound, uint32_t* lanes) {
  for (size_t panel = 0; panel < panels; ++panel, values += kPanel<float>) {
    lanes[panel] = 0;
    for (size_t lane = 0; lane < kPanel<float>; ++lane)
      lanes[panel] |= static_cast<uint32_t>(values[lane] <= bound) << lane;
  }
}

#ifdef QUERN_X86
QUERN_AVX2 void avx2_within(const float* values, size_t panels, float bound, uint32_t* lanes) {
  const __m256 most = _mm256_set1_ps(bound);
  for (size_t panel = 0; panel < panels; ++panel) {
    lanes[panel] = 0;
    for (size_t lane = 0; lane < kPanel<float>; lane += 8, values += 8) {
      const int some = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(values), most, _CMP_LE_OQ));
      lanes[panel] |= static_cast<uint32_t>(some) << lane;
    }
  }
}

QUERN_AVX512 void avx512_within(const float* values, size_t panels, float bound, uint32_t* lanes) {
  const __m512 most = _mm512_set1_ps(bound);
  for (size_t panel = 0; panel < panels; ++panel, values += kPanel<float>) {
    const uint32_t low = _mm512_cmp_ps_mask(_mm512_loadu_ps(values), most, _CMP_LE_OQ);
    const uint32_t high = _mm512_cmp_ps_mask(_mm512_loadu_ps(values + 16), most, _CMP_LE_OQ);
    lanes[panel] = low | high << 16;
  }
}
#endif

template <size_t Bytes>
QUERN_INLINE double total(const typename Lanes<double, Bytes>::Vector& sums) {
  double lanes[Bytes / sizeof(double)];
  std::memcpy(lanes, &sums, Bytes);
  for (size_t width = Bytes / sizeof(double) / 2; width > 0; width /= 2)
    for (size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  return lanes[0];
}

template <size_t Bytes>
QUERN_INLINE double square(const double* a, const double* b, size_t depth) {
  using Vector = typename Lanes<double, Bytes>::Vector;
  constexpr size_t kWidth = Bytes / sizeof(double);
  Vector sum = {}, other = {};
  size_t k = 0;
  for (; k + 2 * kWidth <= depth; k += 2 * kWidth) {
    Vector to, from, next_to, next_from;
    std::memcpy(&to, a + k, Bytes);
    std::memcpy(&from, b + k, Bytes);
    std::memcpy(&next_to, a + k + kWidth, Bytes);
    std::memcpy(&next_from, b + k + kWidth, Bytes);
    sum += (to - from) * (to - from);
    other += (next_to - next_from) * (next_to - next_from);
  }
  if (k + kWidth <= depth) {
    Vector to, from;
    std::memcpy(&to, a + k, Bytes);
    std::memcpy(&from, b + k, Bytes);
    sum += (to - from) * (to - from);
    k += kWidth;
  }
  double all = total<Bytes>(sum + other);
  for (; k < depth; ++k) all += (a[k] - b[k]) * (a[k] - b[k]);
  return all;
}

template <size_t Bytes>
QUERN_INLINE double offset(const double* point, const double* centre, size_t depth, double scale, float* out) {
  using Vector = typename Lanes<double, Bytes>::Vector;
  typedef float Floats __attribute__((vector_size(Bytes / 2)));
  constexpr size_t kWidth = Bytes / sizeof(double);
  Vector sums = {};
  size_t k = 0;
  for (; k + kWidth <= depth; k += kWidth) {
    Vector from, to;
    std::memcpy(&from, point + k, Bytes);
    std::memcpy(&to, centre + k, Bytes);
    to -= from;
    sums += to * to;
    const Floats scaled = __builtin_convertvector(to * scale, Floats);
    std::memcpy(out + k, &scaled, Bytes / 2);
  }
  double sum = total<Bytes>(sums);
  for (; k < depth; ++k) {
    const double difference = centre[k] - point[k];
    sum += difference * difference;
    out[k] = static_cast<float>(difference * scale);
  }
  return sum;
}

/// By powers of two and the Taylor series of the rest, which is at most ln(2)/2.
QUERN_INLINE void exponentials(double* values, size_t count) {
  constexpr double kShift =
      6755399441055744.0;  // 1.5 * 2^52: the last bits of a sum with it are a rounded whole number
  constexpr double kLn2High = 6.93145751953125e-1, kLn2Low = 1.42860682030941723212e-6;
  for (size_t i = 0; i < count; ++i) {
    const double x = values[i] < -708.0 ? -708.0 : values[i];
    const double shifted = x * 1.4426950408889634 + kShift;
    const double whole = shifted - kShift;
    const double r = (x - whole * kLn2High) - whole * kLn2Low;
    double sum = 1.0 / 6227020800;
    sum = sum * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r * r + r + 1.0;
    const uint64_t power = (std::bit_cast<uint64_t>(shifted) + 1023) << 52;
    values[i] = values[i] < -708.0 ? 0.0 : sum * std::bit_cast<double>(power);
  }
}

// One set of functions per instruction set: the width of its vectors, and rows so that the sums fill its registers.
#define QUERN_DENSE_SET(name, target, bytes, rows_at_once)                                                         \
  template <typename T, Term term, Start start>                                                                    \
  target void name##_tiles(Strided<T> a, size_t rows, Panel<T> panel, T* out, size_t out_step) {                   \
    tiles<T, bytes, rows_at_once, term, start>(a, rows, panel, out, out_step);                                     \
  }                                                                                                                \
  template <typename T>                                                                                            \
  target void name##_boxes(const T* low, const T* high, const T* least, const T* greatest, size_t depth, T* out) { \
    boxes<T, bytes>(low, high, least, greatest, depth, out);                                                       \
  }                                                                                                                \
  template <typename T>                                                                                            \
  target void name##_two(const T* lines, size_t count, size_t step, T* least, T* line, T* second) {                \
    two_least<T, bytes>(lines, count, step, least, line, second);                                                  \
  }                                                                                                                \
  target void name##_exp(double* values, size_t count) {                                                           \
    exponentials(values, count);                                                                                   \
  }                                                                                                                \
  target double name##_square(const double* a, const double* b, size_t depth) {                                    \
    return square<bytes>(a, b, depth);                                                                             \
  }                                                                                                                \
  target double name##_offset(const double* point, const double* centre, size_t depth, double scale, float* out) { \
    return offset<bytes>(point, centre, depth, scale, out);                                                        \
  }                                                                                                                \
  template <typename T>                                                                                            \
  constexpr DenseKernels<T> name##_kernels = {                                                                     \
      name##_tiles<T, Term::kProduct, Start::kZero>, name##_tiles<T, Term::kProduct, Start::kOut>,                 \
      name##_tiles<T, Term::kSquare, Start::kZero>, name##_boxes<T>, name##_two<T>};

QUERN_DENSE_SET(portable, , 16, 1)
#ifdef QUERN_X86
QUERN_DENSE_SET(avx2, QUERN_AVX2, 32, 2)
QUERN_DENSE_SET(avx512, QUERN_AVX512, 64, 8)
#endif

}  // namespace

template <typename T>
const DenseKernels<T>& dense_kernels(Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return avx512_kernels<T>;
  if (isa == Isa::kAvx2) return avx2_kernels<T>;
#endif
  static_cast<void>(isa);
  return portable_kernels<T>;
}

template const DenseKernels<float>& dense_kernels<float>(Isa isa);
template const DenseKernels<double>& dense_kernels<double>(Isa isa);

void exp_all(double* values, size_t count, Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return avx512_exp(values, count);
  if (isa == Isa::kAvx2) return avx2_exp(values, count);
#endif
  static_cast<void>(isa);
  portable_exp(values, count);
}

void lanes_within(const float* values, size_t panels, float bound, uint32_t* lanes, Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return avx512_within(values, panels, bound, lanes);
  if (isa == Isa::kAvx2) return avx2_within(values, panels, bound, lanes);
#endif
  static_cast<void>(isa);
  portable_within(values, panels, bound, lanes);
}

double square_between(const double* a, const double* b, size_t depth, Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return avx512_square(a, b, depth);
  if (isa == Isa::kAvx2) return avx2_square(a, b, depth);
#endif
  static_cast<void>(isa);
  return portable_square(a, b, depth);
}

double offset_from(const double* point, const double* centre, size_t depth, double scale, float* out, Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return avx512_offset(point, centre, depth, scale, out);
  if (isa == Isa::kAvx2) return avx2_offset(point, centre, depth, scale, out);
#endif
  static_cast<void>(isa);
  return portable_offset(point, centre, depth, scale, out);
}

}  // namespace quern
