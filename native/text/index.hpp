#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "options.hpp"
#include "segment_writer.hpp"
#include "snapshot.hpp"

namespace quern::text {

/// Figures of an index.
struct IndexStats {
  uint64_t documents, words, terms, segments, dead, bytes;
};

/**
 * Finds texts by their words. Any thread may call anything at any time: searches see the snapshot that was there when
 * they began, and one writer at a time makes the next. Each batch becomes a segment; segments of a like size are merged
 * by eights, and one is written anew when a third of it has gone.
 */
class TextIndex {
 public:
  explicit TextIndex(const IndexOptions& options);

  const IndexOptions& options() const { return options_; }
  /// All or nothing. Replaces what has the same id; the last of equal ids counts. Throws Failure('too_large').
  void add(std::span<const Document> documents);
  /// Returns how many there were.
  uint64_t remove(std::span<const uint32_t> ids);
  Hits search(std::string_view query, const SearchOptions& options) const;
  IndexStats stats() const;

  void save(const std::string& path, uint64_t generation) const;
  /// Replaces the contents when, and only when, it was loaded.
  LoadOutcome load(const std::string& path, uint64_t generation);

 private:
  std::shared_ptr<const Snapshot> snapshot() const;
  void publish(Snapshot next);
  void merge();

  const IndexOptions options_;
  mutable std::mutex pointer_;  ///< held for a moment
  std::shared_ptr<const Snapshot> current_;
  std::mutex writing_;
};

}  // namespace quern::text
