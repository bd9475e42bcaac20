#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "codes.hpp"
#include "links.hpp"

namespace quern::vectors {

/// A place with its distance in one number, which orders by distance, then by place.
using Near = uint64_t;

inline Near near_of(float distance, uint32_t place) {
  const auto bits = std::bit_cast<uint32_t>(distance);
  // As unsigned numbers, floats order by magnitude: negative ones are turned round, and go below the others.
  const uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<Near>(ordered) << 32 | place;
}
inline uint32_t place_of(Near near) {
  return static_cast<uint32_t>(near);
}
inline float distance_of(Near near) {
  const auto ordered = static_cast<uint32_t>(near >> 32);
  return std::bit_cast<float>((ordered & 0x80000000u) != 0 ? ordered & 0x7fffffffu : ~ordered);
}

/// Places that a walk has met: each holds the number of the last walk that did.
class Met {
 public:
  void begin(size_t places) {
    if (marks_.size() < places) marks_.resize(places + places / 4);
    if (++walk_ != 0) return;
    std::ranges::fill(marks_, uint8_t{0});
    walk_ = 1;
  }
  /// Whether this walk meets the place for the first time.
  bool first(uint32_t place) {
    const bool yes = marks_[place] != walk_;
    marks_[place] = walk_;
    return yes;
  }

 private:
  std::vector<uint8_t> marks_;
  uint8_t walk_ = 0;
};

/// What one thread walks with; kept between walks, for its memory.
struct Walker {
  Met met;
  std::vector<Near> ahead;  ///< a heap, the nearest first
  std::vector<Near> found;  ///< a heap, the farthest first
  std::vector<uint32_t> fresh;
  std::vector<float> distances;
  std::vector<int8_t> codes;
  size_t compared = 0;

  /// Compares the fresh places.
  void compare(const Codes& rows, const CodedQuery& query) {
    distances.resize(std::max(distances.size(), fresh.size()));
    rows.compare(query, fresh.data(), fresh.size(), distances.data());
    compared += fresh.size();
  }
};

inline Near near_place(const Codes& rows, const CodedQuery& query, uint32_t place) {
  float distance = 0;
  rows.compare(query, &place, 1, &distance);
  return near_of(distance, place);
}

/// From `at` to whichever neighbour is nearer, until none is. `read(place)` gives the neighbours.
template <typename Read>
Near descend(const Codes& rows, const CodedQuery& query, Near at, Read&& read, Walker& walker) {
  for (Near before = 0; before != at;) {
    before = at;
    walker.fresh.clear();
    for (const uint32_t place : read(place_of(at))) {
      if (place == kNoPlace) break;
      walker.fresh.push_back(place);
    }
    walker.compare(rows, query);
    for (size_t i = 0; i < walker.fresh.size(); ++i) at = std::min(at, near_of(walker.distances[i], walker.fresh[i]));
  }
  return at;
}

/// What a walk through one level asks its caller.
template <typename Read, typename Soon, typename Allowed>
struct Level {
  Read read;        ///< (place): the neighbours
  Soon soon;        ///< (place): is told whose turn may come next
  Allowed allowed;  ///< (place): whether it may be found
};
template <typename Read, typename Soon, typename Allowed>
Level(Read, Soon, Allowed) -> Level<Read, Soon, Allowed>;

/// The way through one level: walker.found gets up to `effort` allowed places near the query.
template <typename Read, typename Soon, typename Allowed>
void walk(const Codes& rows, const CodedQuery& query, Near from, size_t effort, const Level<Read, Soon, Allowed>& level,
          Walker& walker) {
  auto& met = walker.met;
  auto& ahead = walker.ahead;
  auto& found = walker.found;
  auto& fresh = walker.fresh;
  const auto& distances = walker.distances;
  const auto keep = [&](Near near) {
    if (!level.allowed(place_of(near))) return;
    if (found.size() == effort) {
      std::ranges::pop_heap(found);
      found.back() = near;
    } else {
      found.push_back(near);
    }
    std::ranges::push_heap(found);
  };
  found.clear();
  ahead.assign(1, from);
  met.first(place_of(from));
  keep(from);
  while (!ahead.empty()) {
    std::ranges::pop_heap(ahead, std::greater());
    const Near next = ahead.back();
    ahead.pop_back();
    if (found.size() == effort && next > found.front()) break;
    fresh.clear();
    for (const uint32_t place : level.read(place_of(next))) {
      if (place == kNoPlace) break;
      if (met.first(place)) fresh.push_back(place);
    }
    if (!ahead.empty()) level.soon(place_of(ahead.front()));
    walker.compare(rows, query);
    for (size_t i = 0; i < fresh.size(); ++i) {
      const Near near = near_of(distances[i], fresh[i]);
      if (found.size() == effort && near > found.front()) continue;
      ahead.push_back(near);
      std::ranges::push_heap(ahead, std::greater());
      keep(near);
    }
  }
}

}  // namespace quern::vectors
