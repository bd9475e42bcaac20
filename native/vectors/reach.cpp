#include "reach.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace quern::vectors {
namespace {

/// The places that the entry leads to.
class Reached {
 public:
  explicit Reached(const Links& links) : links_(links), marks_(links.size(), false) {}

  bool has(uint32_t place) const { return marks_[place]; }

  /// Adds a place and all that it leads to.
  void add(uint32_t place) {
    marks_[place] = true;
    ahead_.push_back(place);
    while (!ahead_.empty()) {
      const uint32_t next = ahead_.back();
      ahead_.pop_back();
      for (const uint32_t neighbour : links_.list(next, 0)) {
        if (neighbour == kNoPlace) break;
        if (marks_[neighbour]) continue;
        marks_[neighbour] = true;
        ahead_.push_back(neighbour);
      }
    }
  }

 private:
  const Links& links_;
  std::vector<bool> marks_;
  std::vector<uint32_t> ahead_;
};

/// Puts a place that nothing leads to between another one and its last neighbour, so that no way is lost.
void insert(const Links& links, uint32_t after, uint32_t place) {
  const auto list = links.list(after, 0);
  const auto end = std::ranges::find(list, kNoPlace);
  if (end != list.end()) {
    *end = place;
    return;
  }
  const uint32_t moved = std::exchange(list.back(), place);
  const auto own = links.list(place, 0);
  if (std::ranges::find(own, moved) != own.end()) return;
  const auto free = std::ranges::find(own, kNoPlace);
  *(free == own.end() ? own.end() - 1 : free) = moved;
}

}  // namespace

void reach_all(Links& links) {
  Reached reached(links);
  reached.add(links.entry());
  std::vector<uint32_t> lost;
  for (uint32_t place = 0; place < links.size(); ++place)
    if (!reached.has(place)) lost.push_back(place);
  while (!lost.empty()) {
    const size_t before = lost.size();
    std::erase_if(lost, [&](uint32_t place) {
      if (reached.has(place)) return true;
      const auto own = links.list(place, 0);
      const auto near = std::ranges::find_if(own, [&](uint32_t next) { return next != kNoPlace && reached.has(next); });
      if (near == own.end()) return false;
      insert(links, *near, place);
      reached.add(place);
      return true;
    });
    if (lost.size() < before) continue;
    // A group that knows nobody outside.
    insert(links, links.entry(), lost.back());
    reached.add(lost.back());
  }
}

}  // namespace quern::vectors
