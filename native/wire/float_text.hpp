#pragma once

#include <cstddef>
#include <span>

namespace quern {

/// Room that one number of `write_floats` needs with its comma: a sign, 9 digits, a point and an exponent of 2 digits
/// with its sign.
inline constexpr size_t kFloatChars = 16;

/// Writes numbers as the inside of a JSON array and returns the characters written. Each has the fewest digits that
/// give the same 32-bit float again; what is no number is `null`, as JSON.stringify has it. Throws Failure('invalid')
/// where `into` has less than `kFloatChars` for each.
size_t write_floats(std::span<const float> values, std::span<char> into);

}  // namespace quern
