#pragma once

#include <cstddef>

namespace quern::encoder {

/// Where numbers stand in a line: in groups that begin `step` apart, as those of a head do.
struct Places {
  size_t count;
  size_t group;
  size_t step;

  static Places together(size_t count) { return {count, count, count}; }
  size_t at(size_t number) const { return number / group * step + number % group; }
  size_t end() const { return (count + group - 1) / group * step; }
};

}  // namespace quern::encoder
