// The thread behind a VectorIndex, which makes, extends and cleans up its graph.
#include <algorithm>
#include <mutex>
#include <numeric>
#include <system_error>
#include <utility>

#include "index.hpp"

namespace quern::vectors {
namespace {

/// Rows after the graph that are worth the thread's waking up; fewer are scanned with every search.
constexpr size_t kTailRows = 128;
/// Dead rows are dropped when they are so many, and more than a quarter.
constexpr size_t kLeastDead = 1024;
constexpr size_t kDeadShare = 4;
/// Rows that are copied per hold of the lock.
constexpr uint32_t kCopiedPerHold = 2048;

bool many_dead(const Rows& rows) {
  return rows.dead_count() >= kLeastDead && rows.dead_count() * kDeadShare > rows.count();
}

/// Copies live rows, from `next` on and at most `most` of them looked at; `origin` gets their rows before.
void copy_live(const Rows& from, Rows& to, std::vector<uint32_t>& origin, uint32_t& next, size_t most) {
  const size_t end = std::min(from.count(), next + most);
  for (; next < end; ++next) {
    if (from.dead(next)) continue;
    to.append(from, next);
    origin.push_back(next);
  }
}

}  // namespace

VectorIndex::Job VectorIndex::next_job() const {
  if (broken_) return Job::kNone;
  const std::shared_lock lock(lock_);
  const Rows& rows = state_->rows;
  if (many_dead(rows)) return Job::kCompact;
  if (rows.live_count() <= options_.scan_below) return Job::kNone;
  const size_t tail = rows.count() - state_->linked;
  // Beside a small graph a new one is sooner done: nobody waits for it.
  if (!state_->graph || tail > state_->linked) return Job::kBuild;
  return tail >= kTailRows ? Job::kExtend : Job::kNone;
}

void VectorIndex::wake() {
  if (stopping_ || next_job() == Job::kNone) return;
  const std::lock_guard lock(builder_mutex_);
  wanted_ = true;
  if (!builder_.joinable() && !stopping_) {
    try {
      builder_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      broken_ = true;
      wanted_ = false;
    }
  }
  builder_wakes_.notify_one();
}

void VectorIndex::run() {
  std::unique_lock lock(builder_mutex_);
  while (true) {
    builder_wakes_.wait(lock, [this] { return wanted_ || stopping_; });
    if (stopping_) break;
    wanted_ = false;
    busy_ = true;
    lock.unlock();
    try {
      for (Job job = next_job(); job != Job::kNone && !stopping_; job = next_job()) {
        if (job == Job::kExtend)
          extend();
        else if (job == Job::kBuild)
          build_graph();
        else
          compact();
      }
    } catch (const std::exception&) {
      // A graph that is half linked is not searched.
      const std::lock_guard exclusive(lock_);
      broken_ = true;
      state_->graph.reset();
      state_->linked = 0;
      publish_stats();
    }
    lock.lock();
    busy_ = false;
    builder_rests_.notify_all();
  }
  builder_rests_.notify_all();
}

void VectorIndex::settle() {
  std::unique_lock lock(builder_mutex_);
  builder_rests_.wait(lock, [this] { return (!wanted_ && !busy_) || stopping_; });
}

void VectorIndex::stop() {
  const std::lock_guard once(stop_mutex_);
  {
    const std::lock_guard lock(builder_mutex_);
    stopping_ = true;
  }
  builder_wakes_.notify_all();
  builder_rests_.notify_all();
  if (builder_.joinable()) builder_.join();
}

void VectorIndex::extend() {
  const uint64_t epoch = epoch_;
  while (true) {
    // One row per hold: a search waits for a fraction of a millisecond.
    const std::lock_guard lock(lock_);
    State& state = *state_;
    if (given_up(epoch) || !state.graph || state.linked >= state.rows.count()) return;
    const auto row = static_cast<uint32_t>(state.linked);
    if (!state.rows.dead(row)) state.graph->add(scoring_, state.rows, row);
    ++state.linked;
    publish_stats();
  }
}

void VectorIndex::build_graph() {
  const uint64_t epoch = epoch_;
  auto graph = std::make_shared<Graph>(options_);
  // Rows never change, so that the places and the dead marks of this moment suffice.
  std::vector<uint32_t> live;
  size_t count = 0;
  const RowBlocks blocks = [&] {
    const std::shared_lock lock(lock_);
    const Rows& rows = state_->rows;
    count = rows.count();
    live.reserve(rows.live_count());
    for (uint32_t row = 0; row < count; ++row)
      if (!rows.dead(row)) live.push_back(row);
    return RowBlocks(rows);
  }();
  if (!graph->build(scoring_, blocks, live, [&] { return given_up(epoch); })) return;
  const std::lock_guard lock(lock_);
  if (given_up(epoch)) return;
  std::swap(state_->graph, graph);
  state_->linked = count;
  publish_stats();
}

void VectorIndex::compact() {
  const uint64_t epoch = epoch_;
  auto fresh = std::make_shared<State>(options_);
  std::vector<uint32_t> origin;
  uint32_t next = 0;
  const auto copy = [&] {
    for (bool more = true; more && !given_up(epoch);) {
      const std::shared_lock lock(lock_);
      copy_live(state_->rows, fresh->rows, origin, next, kCopiedPerHold);
      more = next < state_->rows.count();
    }
  };
  copy();
  if (fresh->rows.count() > options_.scan_below) {
    fresh->graph = std::make_shared<Graph>(options_);
    fresh->linked = fresh->rows.count();
    std::vector<uint32_t> all(fresh->linked);
    std::iota(all.begin(), all.end(), 0);
    if (!fresh->graph->build(scoring_, fresh->rows, all, [&] { return given_up(epoch); })) return;
    copy();
  }
  const std::lock_guard lock(lock_);
  if (given_up(epoch)) return;
  copy_live(state_->rows, fresh->rows, origin, next, state_->rows.count());
  for (uint32_t row = 0; row < origin.size(); ++row)
    if (state_->rows.dead(origin[row])) fresh->rows.kill(row);
  std::swap(state_, fresh);
  publish_stats();
}

}  // namespace quern::vectors
