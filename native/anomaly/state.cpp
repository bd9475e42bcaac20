#include "state.hpp"

#include <cmath>
#include <sstream>
#include <utility>

#include "../base/failure.hpp"

namespace quern::anomaly {
namespace {

std::string shown(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  return text.str();
}

void require(const std::string& name, double value, Range range) {
  if (!(value >= range.least && value <= range.most))
    refuse_entry(name, "holds " + shown(value) + "; allowed is " + shown(range.least) + " to " + shown(range.most));
}

void require_length(const std::string& name, size_t found, size_t length) {
  if (found != length)
    refuse_entry(name, "has " + std::to_string(found) + " items; needed are " + std::to_string(length));
}

}  // namespace

void refuse_entry(const std::string& name, const std::string& why) {
  throw Failure("invalid", "This is no state of an anomaly model: entry '" + name + "' " + why + ".");
}

const Plain& StateReader::entry(const std::string& name) const {
  const auto found = state_.find(name);
  if (found == state_.end()) refuse_entry(name, "is missing");
  return found->second;
}

double StateReader::number(const std::string& name, Range range) const {
  const double* value = std::get_if<double>(&entry(name));
  if (value == nullptr) refuse_entry(name, "must be a number");
  require(name, *value, range);
  return *value;
}

size_t StateReader::count(const std::string& name, size_t least, size_t most) const {
  constexpr size_t kMost = std::numeric_limits<int32_t>::max();
  const double value = number(name, {static_cast<double>(least), static_cast<double>(most < kMost ? most : kMost)});
  if (value != std::floor(value)) refuse_entry(name, "must be a whole number");
  return static_cast<size_t>(value);
}

const std::vector<double>& StateReader::numbers(const std::string& name, size_t length, Range range) const {
  const auto* values = std::get_if<std::vector<double>>(&entry(name));
  if (values == nullptr) refuse_entry(name, "must be an array of doubles");
  require_length(name, values->size(), length);
  for (const double value : *values) require(name, value, range);
  return *values;
}

const std::vector<int32_t>& StateReader::integers(const std::string& name, size_t length, int32_t least,
                                                  int32_t most) const {
  const auto* values = std::get_if<std::vector<int32_t>>(&entry(name));
  if (values == nullptr) refuse_entry(name, "must be an array of 32-bit integers");
  require_length(name, values->size(), length);
  const Range range{static_cast<double>(least), static_cast<double>(most)};
  for (const int32_t value : *values) require(name, value, range);
  return *values;
}

size_t StateReader::length(const std::string& name) const {
  const Plain& plain = entry(name);
  if (const auto* values = std::get_if<std::vector<double>>(&plain)) return values->size();
  if (const auto* values = std::get_if<std::vector<int32_t>>(&plain)) return values->size();
  refuse_entry(name, "must be an array");
}

void put_part(State& state, std::string_view prefix, State part) {
  for (auto& [name, plain] : part) state.insert_or_assign(std::string(prefix) + "." + name, std::move(plain));
}

State part_of(const State& state, std::string_view prefix) {
  const std::string start = std::string(prefix) + ".";
  State part;
  for (auto at = state.lower_bound(start); at != state.end() && at->first.starts_with(start); ++at)
    part.emplace(at->first.substr(start.size()), at->second);
  return part;
}

}  // namespace quern::anomaly
