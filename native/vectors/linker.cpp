#include "linker.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

#include "../threads/turns.hpp"

namespace quern::vectors {
namespace {

/// Chosen places that are compared at once.
constexpr size_t kAtOnce = 8;

}  // namespace

Linker::Linker(const Codes& codes, Links& links, size_t effort)
    : codes_(codes), links_(links), effort_(effort), locks_(std::make_unique<std::mutex[]>(kLocks)) {}

std::span<const uint32_t> Linker::read(uint32_t place, size_t level, std::vector<uint32_t>& copy) const {
  const auto list = links_.list(place, level);
  const std::lock_guard lock(lock_of(place));
  copy.assign(list.begin(), list.end());
  return copy;
}

void Linker::choose(std::span<const Near> sorted, size_t most, std::vector<uint32_t>& chosen) const {
  chosen.clear();
  float distances[kAtOnce];
  for (const Near near : sorted) {
    if (chosen.size() >= most) return;
    const CodedQuery candidate = codes_.at(place_of(near));
    const float limit = distance_of(near);
    bool good = true;
    for (size_t first = 0; good && first < chosen.size(); first += kAtOnce) {
      const size_t some = std::min(kAtOnce, chosen.size() - first);
      codes_.compare(candidate, chosen.data() + first, some, distances);
      for (size_t i = 0; i < some; ++i) good = good && distances[i] >= limit;
    }
    if (good) chosen.push_back(place_of(near));
  }
}

void Linker::link_back(uint32_t from, uint32_t to, size_t level) {
  const std::lock_guard lock(lock_of(from));
  const auto list = links_.list(from, level);
  const auto end = std::ranges::find(list, kNoPlace);
  if (end != list.end()) {
    *end = to;
    return;
  }
  thread_local std::vector<uint32_t> places, chosen;
  thread_local std::vector<Near> sorted;
  thread_local std::vector<float> distances;
  places.assign(list.begin(), list.end());
  places.push_back(to);
  distances.resize(places.size());
  const CodedQuery centre = codes_.at(from);
  codes_.compare(centre, places.data(), places.size(), distances.data());
  sorted.clear();
  for (size_t i = 0; i < places.size(); ++i) sorted.push_back(near_of(distances[i], places[i]));
  std::ranges::sort(sorted);
  choose(sorted, list.size(), chosen);
  std::ranges::fill(std::ranges::copy(chosen, list.begin()).out, list.end(), kNoPlace);
}

void Linker::link(uint32_t place, Walker& walker) {
  const size_t level = links_.level(place);
  if (links_.entry() == kNoPlace) return links_.enter_at(place);
  thread_local std::vector<uint32_t> copy, chosen;
  const CodedQuery query = codes_.at(place);
  const size_t top = links_.top();
  Near at = near_place(codes_, query, links_.entry());
  for (size_t above = top; above > level; --above)
    at = descend(
        codes_, query, at, [&](uint32_t next) { return read(next, above, copy); }, walker);
  const size_t shared = std::min(level, top) + 1;
  for (size_t below = shared; below-- > 0;) {
    walker.met.begin(links_.size());
    const Level around{[&](uint32_t next) { return read(next, below, copy); },
                       [&](uint32_t next) {
                         if (below == 0) links_.prefetch(next);
                       },
                       [](uint32_t) { return true; }};
    walk(codes_, query, at, effort_, around, walker);
    std::ranges::sort(walker.found);
    at = walker.found.front();
    choose(walker.found, links_.room(1), chosen);
    std::ranges::copy(chosen, links_.list(place, below).begin());
  }
  // From below: whoever comes to the place on one level can go on.
  for (size_t above = 0; above < shared; ++above) {
    const auto list = links_.list(place, above);
    chosen.assign(list.begin(), std::ranges::find(list, kNoPlace));
    for (const uint32_t neighbour : chosen) link_back(neighbour, place, above);
  }
  if (level > top) links_.enter_at(place);
}

bool link_all(Linker& linker, Links& links, size_t threads, const std::function<bool()>& given_up) {
  // The highest place first: then the entry never moves.
  uint32_t highest = 0;
  for (uint32_t place = 1; place < links.size(); ++place)
    if (links.level(place) > links.level(highest)) highest = place;
  links.enter_at(highest);
  std::atomic<uint32_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr thrown;
  const auto work = [&] {
    give_way();
    try {
      Walker walker;
      for (uint32_t place = next++; place < links.size() && !stop; place = next++) {
        if (given_up()) stop = true;
        if (place != highest && !stop) linker.link(place, walker);
      }
    } catch (...) {
      if (!stop.exchange(true)) thrown = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    while (others.size() + 1 < threads) others.emplace_back(work);
  } catch (const std::system_error&) {
    // Fewer threads take longer.
  }
  work();
  for (std::thread& other : others) other.join();
  if (thrown) std::rethrow_exception(thrown);
  return !stop;
}

}  // namespace quern::vectors
