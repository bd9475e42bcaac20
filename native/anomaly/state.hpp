#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "detector.hpp"

namespace quern::anomaly {

/// What a number of a state may be.
struct Range {
  double least = -std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::max();
};

/**
 * Reads entries of a state that may hold anything. Everything throws Failure('invalid') with the entry's name when it
 * is missing, of another kind or length, not finite, or out of range.
 */
class StateReader {
 public:
  explicit StateReader(const State& state) : state_(state) {}

  double number(const std::string& name, Range range = {}) const;
  /// A whole number, at most 2^31 - 1.
  size_t count(const std::string& name, size_t least, size_t most) const;
  const std::vector<double>& numbers(const std::string& name, size_t length, Range range = {}) const;
  const std::vector<int32_t>& integers(const std::string& name, size_t length, int32_t least, int32_t most) const;
  /// Of an array entry of either kind.
  size_t length(const std::string& name) const;

 private:
  const Plain& entry(const std::string& name) const;
  const State& state_;
};

/// For what only the caller can know to be wrong in an entry.
[[noreturn]] void refuse_entry(const std::string& name, const std::string& why);

/// Adds the entries of a part as `<prefix>.<name>`.
void put_part(State& state, std::string_view prefix, State part);
/// The entries that put_part() added, under their own names.
State part_of(const State& state, std::string_view prefix);

}  // namespace quern::anomaly
