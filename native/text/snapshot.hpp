#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../storage/checked_file.hpp"
#include "options.hpp"
#include "segment.hpp"

namespace quern::text {

/// What has gone from a segment since it was made. Never changed once it is in a snapshot.
struct Tombs {
  std::vector<uint64_t> dead;     ///< bit per document
  std::vector<uint32_t> dead_df;  ///< per term, documents gone
  uint32_t count = 0;
  uint64_t words = 0;  ///< lengths of those gone
};

/// A segment and what has gone from it.
struct Part {
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const Tombs> tombs;  ///< none = nothing has gone

  uint32_t live() const { return segment->docs() - (tombs ? tombs->count : 0); }
  uint64_t words() const { return segment->words() - (tombs ? tombs->words : 0); }
  uint32_t df(uint32_t term) const { return segment->entry(term).df - (tombs ? tombs->dead_df[term] : 0); }
  bool is_dead(uint32_t doc) const { return tombs && (tombs->dead[doc / 64] >> (doc % 64) & 1) != 0; }
};

/// The whole index at one moment. Searches hold one, so that a writer disturbs none.
struct Snapshot {
  std::vector<Part> parts;
  uint64_t docs = 0;
  uint64_t words = 0;

  /// Sets docs and words.
  void count();
};

/// Writes the snapshot as it is; see CheckedWriter.
void write_snapshot(const Snapshot& snapshot, const IndexOptions& options, const std::string& path,
                    uint64_t generation);

/// Reads one; `snapshot` is set when, and only when, the outcome is kLoaded. Segments stay in the mapped file.
LoadOutcome read_snapshot(const std::string& path, uint64_t generation, const IndexOptions& options,
                          std::shared_ptr<const Snapshot>& snapshot);

}  // namespace quern::text
