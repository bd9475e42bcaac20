#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "slabs.hpp"

namespace quern::vectors {

constexpr uint32_t kNoPlace = UINT32_MAX;
constexpr size_t kMostLevels = 32;

/**
 * The links of a navigable graph: every place has a list of neighbours on each of its levels, the lowest one with twice
 * the room. A list that is not full ends with kNoPlace.
 */
class Links {
 public:
  explicit Links(size_t connectivity);

  size_t size() const { return levels_.size(); }
  size_t bytes() const;
  size_t level(uint32_t place) const { return levels_[place]; }
  size_t top() const { return entry_ == kNoPlace ? 0 : level(entry_); }
  /// Where every way begins; kNoPlace while nothing is linked.
  uint32_t entry() const { return entry_; }
  void enter_at(uint32_t place) { entry_ = place; }

  size_t room(size_t level) const { return level == 0 ? 2 * connectivity_ : connectivity_; }
  std::span<uint32_t> list(uint32_t place, size_t level) const {
    if (level == 0) return {reinterpret_cast<uint32_t*>(lowest_.at(place)), 2 * connectivity_};
    return {reinterpret_cast<uint32_t*>(upper_.at(first_[place] + static_cast<uint32_t>(level) - 1)), connectivity_};
  }
  /// Asks for the lowest list of a place, which is read soon.
  void prefetch(uint32_t place) const;

  /// Places with empty lists at the end; their levels follow from their numbers. Throws std::bad_alloc.
  void append(size_t places);

  using Sink = std::function<void(const void*, size_t)>;
  void write(const Sink& sink) const;
  /// Takes what write() gave for so many places. False when it would lead out of them.
  bool read(std::span<const std::byte> bytes, size_t places);

 private:
  void append_place(size_t level);

  size_t connectivity_;
  uint32_t entry_ = kNoPlace;
  std::vector<uint8_t> levels_;
  std::vector<uint32_t> first_;  ///< of the lists above the lowest, the number of the first
  size_t upper_lists_ = 0;
  Slabs lowest_;
  Slabs upper_;
};

}  // namespace quern::vectors
