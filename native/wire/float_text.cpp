#include "float_text.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "../base/failure.hpp"

namespace quern {

size_t write_floats(std::span<const float> values, std::span<char> into) {
  if (into.size() / kFloatChars < values.size())
    throw Failure("invalid", std::to_string(values.size()) + " numbers need " + std::to_string(kFloatChars) +
                                 " bytes each, but there is room for " + std::to_string(into.size()) + ".");
  char* at = into.data();
  char* const end = at + into.size();
  for (const float value : values) {
    if (std::isfinite(value)) {
      at = std::to_chars(at, end, value).ptr;
    } else {
      std::memcpy(at, "null", 4);
      at += 4;
    }
    *at++ = ',';
  }
  // The last comma is not part of it.
  return values.empty() ? 0 : static_cast<size_t>(at - into.data()) - 1;
}

}  // namespace quern
