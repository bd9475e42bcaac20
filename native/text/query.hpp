#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer.hpp"

namespace quern::text {

enum class Occur { kShould, kMust, kNot };
enum class ClauseKind { kTerm, kPrefix, kPhrase };

/// One condition of a query.
struct Clause {
  ClauseKind kind;
  Occur occur;
  std::vector<std::string>
      terms;  ///< one, or those of the phrase; of a prefix the beginning, then stems that it may belong to
  std::vector<uint32_t> positions;  ///< of a phrase, in parallel
  uint32_t count = 1;               ///< how often it was written

  bool operator==(const Clause& other) const {
    return kind == other.kind && occur == other.occur && terms == other.terms && positions == other.positions;
  }
};

/**
 * Understands "quoted phrases", +must and -not; other words are wished for, or required with `all_words`. With `prefix`
 * the last word stands for all that begin with it. Throws Failure('too_large') for more than the limits allow.
 */
std::vector<Clause> parse_query(std::string_view query, bool all_words, bool prefix, Language language);

}  // namespace quern::text
