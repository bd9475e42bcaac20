#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer.hpp"

namespace quern::text {

/// Largest text of one document.
constexpr size_t kMaxTextBytes = 16u << 20;
/// Most text, and most documents, of one add().
constexpr size_t kMaxBatchBytes = 64u << 20;
constexpr size_t kMaxBatch = 1u << 20;
constexpr size_t kMaxQueryBytes = 16u << 10;
/// Most terms that a query may come to.
constexpr size_t kMaxQueryTerms = 256;
/// Most terms that one beginning of a word stands for: the first in the order of their bytes.
constexpr size_t kMaxPrefixTerms = 1024;
constexpr uint32_t kMaxHits = 16384;
/// Parts beyond this are never merged into larger ones; keeps offsets inside a word's postings within 32 bits.
constexpr uint64_t kMaxSegmentWords = uint64_t{1} << 29;

/// How an index analyzes and scores; a saved index with other options counts as stale.
struct IndexOptions {
  Language language = Language::kEnglish;
  double k1 = 1.2;
  double b = 0.75;
};

/// Throws Failure('invalid') with what is wrong.
void check(const IndexOptions& options);

/// What a search asks for besides its words.
struct SearchOptions {
  uint32_t k = 10;
  bool all_words = false;  ///< operator 'and'
  bool prefix = false;
  bool filtered = false;
  std::vector<uint8_t> filter;  ///< bit i % 8 of byte i / 8: id i may be found
  bool exhaustive = false;      ///< scores every match, to test what is skipped otherwise
};

/// Found documents, best first; equal scores in the order of ids.
struct Hits {
  std::vector<uint32_t> ids;
  std::vector<float> scores;
  /// Documents that matched among those looked at: all when fewer than k, else at least k.
  uint64_t matched = 0;
};

}  // namespace quern::text
