#pragma once

#include <string_view>

#include "options.hpp"
#include "snapshot.hpp"

namespace quern::text {

/**
 * The best documents by BM25 as Lucene 8 and later compute it: the sum over the words of
 * ln(1 + (N - n + 0.5) / (n + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean length)), with exact lengths. N, n and
 * the mean count living documents only. A phrase counts as a word whose idf is the sum of those of its words; a prefix
 * as one word that stands wherever one of its expansions does. Block-max WAND (Ding and Suel 2011) leaves out what
 * cannot reach the first k.
 */
Hits search(const Snapshot& snapshot, const IndexOptions& index, std::string_view query, const SearchOptions& options);

}  // namespace quern::text
