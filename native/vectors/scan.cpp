#include "scan.hpp"

#include <bit>
#include <cstring>

namespace quern::vectors {
namespace {

/// Estimates are rescored this many times the results, and at least this many.
constexpr size_t kCandidatesPerResult = 4;
constexpr size_t kLeastCandidates = 48;
/// Rows whose memory is asked for ahead of their comparison.
constexpr uint32_t kAhead = 6;

void prefetch(const std::byte* row, size_t bytes) {
#if defined(__GNUC__)
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(row + i);
#endif
}

/// Calls `visit` with every live row from `first` on that the filter allows.
template <typename Visit>
void each_row(const Rows& rows, const Filter& filter, uint32_t first, Visit&& visit) {
  // From the first row on the ids of a filter are the shorter way; the few rows of the end are looked at one by one.
  if (filter.all || first > 0) {
    for (auto row = first; row < rows.count(); ++row) {
      // The memory is the limit; without this a scan takes a third longer.
      if (row + kAhead < rows.count()) prefetch(rows.codes(row + kAhead), rows.shape().codes);
      if (!rows.dead(row) && filter.allows(rows.id(row))) visit(row);
    }
    return;
  }
  std::vector<uint32_t> waiting;
  waiting.reserve(kAhead + 64);
  const auto drain = [&](size_t keep) {
    size_t done = 0;
    for (; done + keep < waiting.size(); ++done) visit(waiting[done]);
    waiting.erase(waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(done));
  };
  for (size_t at = 0; at < filter.bits.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, filter.bits.data() + at, std::min<size_t>(8, filter.bits.size() - at));
    for (; word != 0; word &= word - 1) {
      const uint64_t id = at * 8 + static_cast<uint64_t>(std::countr_zero(word));
      if (id > UINT32_MAX) break;
      const uint32_t row = rows.find(static_cast<uint32_t>(id));
      if (row == kNoRow) continue;
      prefetch(rows.codes(row), rows.shape().codes);
      waiting.push_back(row);
    }
    drain(kAhead);
  }
  drain(0);
}

}  // namespace

size_t candidates_for(size_t k) {
  return std::max(k * kCandidatesPerResult, kLeastCandidates);
}

size_t Filter::count() const {
  size_t sum = 0;
  size_t at = 0;
  for (; at + 8 <= bits.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, bits.data() + at, 8);
    sum += static_cast<size_t>(std::popcount(word));
  }
  for (; at < bits.size(); ++at) sum += static_cast<size_t>(std::popcount(bits[at]));
  return sum;
}

std::vector<Hit> rescore(const Scoring& scoring, const Rows& rows, const Query& query, size_t k,
                         std::span<const uint32_t> found) {
  const auto fetch = [&](uint32_t row) {
    if (scoring.coded())
      prefetch(reinterpret_cast<const std::byte*>(rows.exact(row)), rows.shape().exact);
    else
      prefetch(rows.codes(row), rows.shape().codes);
  };
  Best best(k);
  for (size_t i = 0; i < std::min<size_t>(kAhead, found.size()); ++i) fetch(found[i]);
  for (size_t i = 0; i < found.size(); ++i) {
    if (i + kAhead < found.size()) fetch(found[i + kAhead]);
    best.offer({scoring.score(query, rows, found[i]), rows.id(found[i]), found[i]});
  }
  return best.take();
}

std::vector<Hit> scan(const Scoring& scoring, const Rows& rows, const Query& query, const ScanOptions& options,
                      size_t& scanned) {
  const bool estimated = scoring.coded() && !options.exact;
  Best best(estimated ? candidates_for(options.k) : options.k);
  each_row(rows, options.filter, options.first, [&](uint32_t row) {
    ++scanned;
    const float score = estimated ? scoring.rough(query, rows, row) : scoring.score(query, rows, row);
    best.offer({score, rows.id(row), row});
  });
  std::vector<Hit> hits = best.take();
  if (!estimated) return hits;
  std::vector<uint32_t> found;
  for (const Hit& hit : hits) found.push_back(hit.row);
  return rescore(scoring, rows, query, options.k, found);
}

}  // namespace quern::vectors
