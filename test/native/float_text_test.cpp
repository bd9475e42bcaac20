#include "wire/float_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/failure.hpp"

namespace quern {
namespace {

std::string text_of(const std::vector<float>& values) {
  std::vector<char> into(values.size() * kFloatChars);
  return std::string(into.data(), write_floats(values, into));
}

TEST(FloatText, HasTheFewestDigitsThatGiveTheNumberAgain) {
  EXPECT_EQ(text_of({0.1F, -0.25F, 0.0F, -0.0F, 3.0F, 16777216.0F, 1e-7F, 1e30F}),
            "0.1,-0.25,0,-0,3,16777216,1e-07,1e+30");
  EXPECT_EQ(text_of({1.0F / 3.0F}), "0.33333334");
  EXPECT_EQ(text_of({}), "");
}

TEST(FloatText, WritesWhatIsNoNumberAsNull) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(text_of({kInfinity, std::numeric_limits<float>::quiet_NaN(), -kInfinity}), "null,null,null");
}

// Readers of JSON parse 64-bit numbers and round those, so that is how each is read back. Rounding twice moves a very
// rare one by a unit in its last place (7.038531e-26).
TEST(FloatText, EveryNumberSurvivesAndFits) {
  size_t longest = 0;
  std::vector<char> into(kFloatChars);
  const auto check = [&](uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    if (value != value || value - value != 0) return;
    const size_t size = write_floats({&value, 1}, into);
    longest = std::max(longest, size);
    const float back = static_cast<float>(std::strtod(std::string(into.data(), size).c_str(), nullptr));
    ASSERT_EQ(std::bit_cast<uint32_t>(back), bits) << std::string(into.data(), size);
  };
  // A stride without a factor in common with 2^32 meets every exponent with all kinds of fractions.
  for (uint64_t step = 0; step < 100'000; ++step) check(static_cast<uint32_t>(step * 2'654'435'761U));
  for (uint32_t exponent = 0; exponent < 255; ++exponent)
    for (const uint32_t fraction : {0U, 1U, 0x3FFFFFU, 0x7FFFFFU}) check(1U << 31 | exponent << 23 | fraction);
  EXPECT_LT(longest, kFloatChars);
  EXPECT_GE(longest, 14U);
}

TEST(FloatText, RefusesTooLittleRoom) {
  const std::vector<float> two(2);
  std::vector<char> into(2 * kFloatChars - 1);
  EXPECT_THROW(write_floats(two, into), Failure);
}

}  // namespace
}  // namespace quern
