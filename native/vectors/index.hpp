#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "../storage/checked_file.hpp"
#include "fair_lock.hpp"
#include "graph.hpp"
#include "options.hpp"
#include "planner.hpp"
#include "rows.hpp"
#include "scan.hpp"
#include "scoring.hpp"

namespace quern::vectors {

/// Settings of one search.
struct SearchOptions {
  size_t k;
  size_t effort = 64;  ///< candidates that the graph keeps; more find more of the true neighbours
  Filter filter = {};
  bool exact = false;  ///< the true neighbours by the full vectors, without graph or estimates
};

/// Found rows, best first.
struct Answer {
  std::vector<Hit> hits;
  Plan plan = Plan::kScan;
  size_t scanned = 0;  ///< rows that were compared
};

/// A moment of an index.
struct Stats {
  size_t rows;        ///< that can be found
  size_t dead;        ///< replaced or removed rows that still take room
  size_t graph_rows;  ///< that the graph knows, dead ones included
  size_t bytes;
};

/// All that a search reads.
struct State {
  explicit State(const IndexOptions& options) : rows(options) {}
  Rows rows;
  std::shared_ptr<Graph> graph;  ///< null below the crossover
  size_t linked = 0;             ///< rows before this one are in the graph or dead; later ones are scanned
};

/**
 * Vectors by id, searched by a scan or a graph. Every function may be called from any thread; a search sees each id in
 * one state. The graph is made and extended by a thread of its own, which starts with the first row that needs it.
 */
class VectorIndex {
 public:
  /// Throws Failure('invalid').
  explicit VectorIndex(const IndexOptions& options);
  ~VectorIndex();
  VectorIndex(const VectorIndex&) = delete;
  VectorIndex& operator=(const VectorIndex&) = delete;

  const IndexOptions& options() const { return options_; }

  /// `vectors` holds one row after the other. Replaces existing ids. Nothing is added when any row is refused.
  void add(std::span<const uint32_t> ids, std::span<const float> vectors);
  /// How many of the ids were there.
  size_t remove(std::span<const uint32_t> ids);
  Answer search(std::span<const float> query, const SearchOptions& options) const;
  /// The same, when it takes some hundred microseconds at most, and nobody writes.
  std::optional<Answer> search_now(std::span<const float> query, const SearchOptions& options) const;
  /// Writes what is there at this moment to a file beside `path`, then renames.
  void save(const std::string& path, uint64_t generation);
  /// Replaces everything when, and only when, it answers kLoaded.
  LoadOutcome load(const std::string& path, uint64_t generation);
  /// Waits for nobody.
  Stats stats() const;
  /// Waits until the graph holds all rows that it should; for tests and measurements.
  void settle();
  /// Ends the thread behind, which gives up what it builds. Called by the destructor too.
  void stop();

 private:
  enum class Job { kNone, kExtend, kBuild, kCompact };
  Job next_job() const;
  void wake();
  void run();
  void extend();
  void build_graph();
  void compact();
  bool given_up(uint64_t epoch) const { return stopping_ || epoch_ != epoch; }
  /// To be called under the exclusive lock, after any change.
  void publish_stats();
  Query checked(std::span<const float> query) const;
  /// Nothing when more than `most_bytes` would be read. To be called under the shared lock.
  std::optional<Answer> answer(const Query& query, const SearchOptions& options, size_t most_bytes) const;

  const IndexOptions options_;
  const Scoring scoring_;

  std::mutex writing_;  ///< one add, remove or load at a time
  std::mutex saving_;
  mutable FairLock lock_;  ///< over state_
  std::shared_ptr<State> state_;
  std::atomic<uint64_t> epoch_{0};  ///< counts loads: what is built from rows before is worthless

  // Copies for stats(), which waits for nobody.
  std::atomic<size_t> live_rows_{0}, dead_rows_{0}, graph_rows_{0}, bytes_{0};

  std::mutex builder_mutex_;
  std::condition_variable builder_wakes_;
  std::condition_variable builder_rests_;
  bool wanted_ = false;
  bool busy_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> broken_{false};  ///< there was no memory for a graph: everything is scanned
  std::mutex stop_mutex_;
  std::thread builder_;
};

}  // namespace quern::vectors
