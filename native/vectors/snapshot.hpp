#pragma once

#include <memory>
#include <string>

#include "../storage/checked_file.hpp"
#include "index.hpp"

namespace quern::vectors {

/// What save() writes: rows never change, so that only their ids, the dead marks and the links need a copy.
struct Snapshot {
  IndexOptions options;
  RowBlocks blocks;
  std::vector<uint32_t> ids;
  std::vector<uint64_t> dead;
  std::vector<std::byte> links;
  std::vector<uint32_t> order;
  size_t linked;

  /// To be called while nobody writes.
  Snapshot(const IndexOptions& options, const State& state);
  void write(const std::string& path, uint64_t generation) const;
};

/// Reads a snapshot; `state` is set when, and only when, the outcome is kLoaded. The rows stay in the mapped file.
LoadOutcome read_snapshot(const std::string& path, uint64_t generation, const IndexOptions& options,
                          std::shared_ptr<State>& state);

}  // namespace quern::vectors
