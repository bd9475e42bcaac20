#include "index.hpp"

#include <algorithm>
#include <utility>

#include "../base/failure.hpp"
#include "snapshot.hpp"

namespace quern::vectors {

VectorIndex::VectorIndex(const IndexOptions& options)
    : options_((check(options), options)), scoring_(options), state_(std::make_shared<State>(options)) {
  publish_stats();
}

VectorIndex::~VectorIndex() {
  stop();
}

void VectorIndex::publish_stats() {
  const Rows& rows = state_->rows;
  live_rows_ = rows.live_count();
  dead_rows_ = rows.dead_count();
  graph_rows_ = state_->graph ? state_->graph->size() : 0;
  bytes_ = rows.bytes() + (state_->graph ? state_->graph->bytes() : 0);
}

Stats VectorIndex::stats() const {
  return {.rows = live_rows_, .dead = dead_rows_, .graph_rows = graph_rows_, .bytes = bytes_};
}

void VectorIndex::add(std::span<const uint32_t> ids, std::span<const float> vectors) {
  /// Rows written per hold of the lock: searches wait some microseconds.
  constexpr size_t kRowsPerHold = 64;
  const size_t dimensions = options_.dimensions;
  if (vectors.size() != ids.size() * dimensions)
    throw Failure("invalid", "vectors holds " + std::to_string(vectors.size()) + " numbers; " +
                                 std::to_string(ids.size()) + " ids of " + std::to_string(dimensions) +
                                 " dimensions need " + std::to_string(ids.size() * dimensions) + ".");
  std::vector<Query> rows;
  rows.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i)
    rows.push_back(scoring_.query(vectors.subspan(i * dimensions, dimensions), "Row " + std::to_string(i)));
  {
    const std::lock_guard writing(writing_);
    std::vector<Half> half;
    for (size_t first = 0; first < ids.size(); first += kRowsPerHold) {
      const std::lock_guard lock(lock_);
      for (size_t i = first; i < std::min(first + kRowsPerHold, ids.size()); ++i)
        state_->rows.append(ids[i], scoring_.encode(rows[i], half));
      publish_stats();
    }
  }
  wake();
}

size_t VectorIndex::remove(std::span<const uint32_t> ids) {
  size_t removed = 0;
  {
    const std::lock_guard writing(writing_);
    const std::lock_guard lock(lock_);
    for (const uint32_t id : ids) removed += state_->rows.remove(id) ? 1 : 0;
    publish_stats();
  }
  wake();
  return removed;
}

Query VectorIndex::checked(std::span<const float> query) const {
  if (query.size() != options_.dimensions)
    throw Failure("invalid", "The query has " + std::to_string(query.size()) + " numbers; this index has " +
                                 std::to_string(options_.dimensions) + " dimensions.");
  return scoring_.query(query, "The query");
}

Answer VectorIndex::search(std::span<const float> query, const SearchOptions& options) const {
  const Query prepared = checked(query);
  const std::shared_lock lock(lock_);
  return *answer(prepared, options, SIZE_MAX);
}

std::optional<Answer> VectorIndex::search_now(std::span<const float> query, const SearchOptions& options) const {
  const Query prepared = checked(query);
  const std::shared_lock lock(lock_, std::try_to_lock);
  if (!lock.owns_lock() || best_isa() == Isa::kPortable) return std::nullopt;
  return answer(prepared, options, kBriefBytes);
}

std::optional<Answer> VectorIndex::answer(const Query& query, const SearchOptions& options, size_t most_bytes) const {
  const Rows& rows = state_->rows;
  const Graph* graph = state_->graph.get();
  const size_t live = rows.live_count();
  const size_t allowed = options.filter.all ? live : std::min(live, options.filter.count());
  Answer answer;
  const bool worth = graph != nullptr && live > options_.scan_below;
  answer.plan = plan({live, allowed, worth ? graph->size() : 0, options.k, options.exact});
  if (answer.plan == Plan::kGraph) {
    const size_t effort = std::max(options.effort, options.k);
    const auto linked = static_cast<uint32_t>(state_->linked);
    if (graph->expected_bytes(effort) + (rows.count() - linked) * rows.shape().codes > most_bytes) return std::nullopt;
    std::vector<uint32_t> found = graph->search(rows, query, effort, options.filter, answer.scanned);
    if (found.size() > candidates_for(options.k)) found.resize(candidates_for(options.k));
    Best best(options.k);
    for (const Hit& hit : rescore(scoring_, rows, query, options.k, found)) best.offer(hit);
    for (const Hit& hit : scan(scoring_, rows, query, {options.k, options.filter, linked, true}, answer.scanned))
      best.offer(hit);
    answer.hits = best.take();
    if (answer.hits.size() >= std::min(options.k, allowed)) return answer;
    // The allowed rows lie where the graph did not go.
    answer.plan = Plan::kScan;
  }
  if (allowed * (rows.shape().codes + rows.shape().exact) > most_bytes) return std::nullopt;
  answer.hits = scan(scoring_, rows, query, {options.k, options.filter, 0, options.exact}, answer.scanned);
  return answer;
}

void VectorIndex::save(const std::string& path, uint64_t generation) {
  const std::lock_guard saving(saving_);
  const Snapshot snapshot = [this] {
    const std::shared_lock lock(lock_);
    return Snapshot(options_, *state_);
  }();
  snapshot.write(path, generation);
}

LoadOutcome VectorIndex::load(const std::string& path, uint64_t generation) {
  const std::lock_guard writing(writing_);
  std::shared_ptr<State> read;
  LoadOutcome outcome = read_snapshot(path, generation, options_, read);
  if (outcome.state != LoadState::kLoaded) return outcome;
  {
    const std::lock_guard lock(lock_);
    std::swap(state_, read);
    ++epoch_;
    publish_stats();
  }
  wake();
  return outcome;
}

}  // namespace quern::vectors
