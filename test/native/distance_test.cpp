#include "kernels/distance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "storage/crc32c.hpp"

namespace quern {
namespace {

/// Every set up to the best one of this processor.
std::vector<Isa> sets() {
  std::vector<Isa> all{Isa::kPortable};
  if (best_isa() != Isa::kPortable) all.push_back(Isa::kAvx2);
  if (best_isa() == Isa::kAvx512) all.push_back(Isa::kAvx512);
  return all;
}

constexpr size_t kLongest = 200;

/// Random numbers behind an odd start, so that no load is aligned.
struct Vectors {
  std::vector<float> a, b;
  std::vector<Half> half_b;
  std::vector<int8_t> code_a, code_b;

  explicit Vectors(unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::uniform_int_distribution<int> code(-127, 127);
    for (size_t i = 0; i < kLongest + 1; ++i) {
      a.push_back(normal(random));
      half_b.push_back(half_of(normal(random)));
      // The same numbers in both forms, so that one reference serves all.
      b.push_back(float_of(half_b.back()));
      code_a.push_back(static_cast<int8_t>(code(random)));
      code_b.push_back(static_cast<int8_t>(code(random)));
    }
  }
};

TEST(Distance, EverySetAgreesForEveryLength) {
  const Vectors v(1);
  for (const Isa isa : sets()) {
    const DistanceKernels& kernels = distance_kernels(isa);
    for (size_t n = 0; n < kLongest; ++n) {
      double dot = 0, l2 = 0;
      int64_t codes = 0;
      for (size_t i = 1; i <= n; ++i) {
        dot += static_cast<double>(v.a[i]) * v.b[i];
        l2 += (static_cast<double>(v.a[i]) - v.b[i]) * (static_cast<double>(v.a[i]) - v.b[i]);
        codes += v.code_a[i] * v.code_b[i];
      }
      const float *a = v.a.data() + 1, *b = v.b.data() + 1;
      const Half* hb = v.half_b.data() + 1;
      const double near = 1e-4;
      EXPECT_NEAR(kernels.dot(a, b, n), dot, near) << n;
      EXPECT_NEAR(kernels.dot_half(a, hb, n), dot, near) << n;
      EXPECT_NEAR(kernels.l2(a, b, n), l2, near) << n;
      EXPECT_NEAR(kernels.l2_half(a, hb, n), l2, near) << n;
      EXPECT_EQ(kernels.dot_codes(v.code_a.data() + 1, v.code_b.data() + 1, n), codes) << n;
    }
  }
}

TEST(Distance, CodesAreExactAtTheirLimits) {
  const std::vector<int8_t> low(4096, -127), high(4096, 127);
  for (const Isa isa : sets()) {
    EXPECT_EQ(distance_kernels(isa).dot_codes(low.data(), high.data(), 4096), -127 * 127 * 4096);
    EXPECT_EQ(distance_kernels(isa).dot_codes(low.data(), low.data(), 4096), 127 * 127 * 4096);
  }
}

TEST(Distance, ManyCodesAreTheSameAsEach) {
  constexpr size_t kMany = 23;
  std::mt19937 random(4);
  std::uniform_int_distribution<int> code(-127, 127);
  // Odd starts, and the same vector twice.
  std::vector<std::vector<int8_t>> vectors(kMany, std::vector<int8_t>(kLongest + 1));
  for (auto& vector : vectors)
    for (int8_t& value : vector) value = static_cast<int8_t>(code(random));
  std::vector<const int8_t*> many;
  for (const auto& vector : vectors) many.push_back(vector.data() + 1);
  many[5] = many[6];
  for (const Isa isa : sets()) {
    const DistanceKernels& kernels = distance_kernels(isa);
    for (size_t n = 0; n < kLongest; ++n) {
      for (const size_t count : {size_t{0}, size_t{1}, size_t{4}, n % kMany, kMany}) {
        std::vector<int32_t> sums(kMany, 7);
        kernels.dot_many_codes(many[3], many.data(), count, n, sums.data());
        for (size_t i = 0; i < kMany; ++i) {
          ASSERT_EQ(sums[i], i < count ? distance_kernels(Isa::kPortable).dot_codes(many[3], many[i], n) : 7) << n;
        }
      }
    }
  }
}

TEST(Distance, ManyCodesAreExactAtTheirLimits) {
  const std::vector<int8_t> low(4096, -127), high(4096, 127);
  const int8_t* many[] = {low.data(), high.data(), low.data(), high.data(), low.data()};
  for (const Isa isa : sets()) {
    int32_t sums[5];
    distance_kernels(isa).dot_many_codes(low.data(), many, 5, 4096, sums);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(sums[i], (i % 2 == 0 ? 127 : -127) * 127 * 4096);
  }
}

TEST(HalfNumbers, ComeBackUnchanged) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<Half>(bits);
    const float value = float_of(half);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(float_of(half_of(value))));
    else
      EXPECT_EQ(half_of(value), half) << value;
  }
}

TEST(HalfNumbers, RoundToTheNearestAndTiesToEven) {
  EXPECT_EQ(float_of(half_of(1.0f + 0x1p-11f)), 1.0f);
  EXPECT_EQ(float_of(half_of(1.0f + 3 * 0x1p-11f)), 1.0f + 2 * 0x1p-10f);
  EXPECT_EQ(float_of(half_of(0x1p-25f)), 0.0f);
  EXPECT_EQ(float_of(half_of(0x1.8p-25f)), 0x1p-24f);
  EXPECT_EQ(float_of(half_of(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(float_of(half_of(65520.0f))));
  EXPECT_TRUE(std::isinf(float_of(half_of(-std::numeric_limits<float>::infinity()))));
}

TEST(HalfNumbers, ManyAtOnceAreTheSame) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1e-4f);
  for (size_t n = 0; n < 40; ++n) {
    std::vector<float> from(n), back(n);
    for (float& value : from) value = normal(random);
    std::vector<Half> half(n);
    to_half(from.data(), half.data(), n);
    to_float(half.data(), back.data(), n);
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(half[i], half_of(from[i]));
      EXPECT_EQ(back[i], float_of(half[i]));
    }
  }
}

TEST(Crc32c, KnownValuesAndEveryLength) {
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::vector<char>(32, 0).data(), 32), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::vector<unsigned char>(32, 0xff).data(), 32), 0x62a8ab43u);
  std::vector<unsigned char> bytes(100);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37);
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(crc32c(bytes.data(), n), crc32c_portable(bytes.data(), n));
    EXPECT_EQ(crc32c(bytes.data() + n, bytes.size() - n, crc32c(bytes.data(), n)), crc32c(bytes.data(), bytes.size()));
  }
}

}  // namespace
}  // namespace quern
