#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rows.hpp"
#include "scoring.hpp"

namespace quern::vectors {

/// One row that was found; rows order by score, then by id, so that equal scores always come in the same order.
struct Hit {
  float score;
  uint32_t id;
  uint32_t row;
};

inline bool better(const Hit& a, const Hit& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

/// The best hits of those offered.
class Best {
 public:
  explicit Best(size_t most) : most_(most) {}
  bool full() const { return hits_.size() == most_; }
  void offer(const Hit& hit) {
    if (full()) {
      if (most_ == 0 || !better(hit, hits_.front())) return;
      std::pop_heap(hits_.begin(), hits_.end(), better);
      hits_.back() = hit;
    } else {
      hits_.push_back(hit);
    }
    std::push_heap(hits_.begin(), hits_.end(), better);
  }
  /// Best first.
  std::vector<Hit> take() {
    std::sort(hits_.begin(), hits_.end(), better);
    return std::move(hits_);
  }

 private:
  size_t most_;
  std::vector<Hit> hits_;
};

/// Ids that may be found: bit i of byte i / 8. Ids beyond the bytes may not. No bytes at all (`null`) allow every id.
struct Filter {
  std::span<const uint8_t> bits;
  bool all = true;

  bool allows(uint32_t id) const { return all || (id / 8 < bits.size() && (bits[id / 8] >> (id % 8) & 1) != 0); }
  size_t count() const;
};

/// Which rows a scan looks at.
struct ScanOptions {
  size_t k;  ///< how many are wanted
  const Filter& filter;
  uint32_t first = 0;  ///< the first row
  bool exact = false;  ///< without estimates by codes
};

/// The best of the live rows; adds the rows that were compared to `scanned`.
std::vector<Hit> scan(const Scoring& scoring, const Rows& rows, const Query& query, const ScanOptions& options,
                      size_t& scanned);

/// The best `k` of some rows by their real scores.
std::vector<Hit> rescore(const Scoring& scoring, const Rows& rows, const Query& query, size_t k,
                         std::span<const uint32_t> found);

/// How many rows that codes found are looked at again for `k` results.
size_t candidates_for(size_t k);

}  // namespace quern::vectors
