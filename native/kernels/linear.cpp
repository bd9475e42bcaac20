#include "linear.hpp"

#ifdef QUERN_X86
#include <immintrin.h>
#endif

namespace quern {
namespace {

void portable_add(float factor, const float* from, float* to, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

constexpr LinearKernels kPortable = {portable_add};

#ifdef QUERN_X86

QUERN_AVX2 void avx2_add(float factor, const float* from, float* to, size_t n) {
  const __m256 wide = _mm256_set1_ps(factor);
  size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(to + i, _mm256_fmadd_ps(wide, _mm256_loadu_ps(from + i), _mm256_loadu_ps(to + i)));
  portable_add(factor, from + i, to + i, n - i);
}

// Wider registers bring nothing: the loop waits for memory.
constexpr LinearKernels kAvx2 = {avx2_add};

#endif

}  // namespace

const LinearKernels& linear_kernels(Isa isa) {
#ifdef QUERN_X86
  if (isa != Isa::kPortable) return kAvx2;
#endif
  (void)isa;
  return kPortable;
}

}  // namespace quern
