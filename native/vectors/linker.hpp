#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "codes.hpp"
#include "links.hpp"
#include "walk.hpp"

namespace quern::vectors {

/// Links coded places (HNSW, Malkov and Yashunin 2016). Several threads may link different places at the same time, as
/// long as the entry stays where it is.
class Linker {
 public:
  Linker(const Codes& codes, Links& links, size_t effort);

  /// Links a place that has empty lists. Above the entry it becomes the entry.
  void link(uint32_t place, Walker& walker);

 private:
  /// One for many places.
  std::mutex& lock_of(uint32_t place) const { return locks_[place % kLocks]; }
  /// Copies the neighbours of a place while nobody writes them.
  std::span<const uint32_t> read(uint32_t place, size_t level, std::vector<uint32_t>& copy) const;
  /// Of places in order of their distance to a centre, those that are no nearer to any chosen before.
  void choose(std::span<const Near> sorted, size_t most, std::vector<uint32_t>& chosen) const;
  void link_back(uint32_t from, uint32_t to, size_t level);

  static constexpr size_t kLocks = 1024;
  const Codes& codes_;
  Links& links_;
  const size_t effort_;
  std::unique_ptr<std::mutex[]> locks_;
};

/**
 * Links all places of `links`, with `threads` threads that give way to others. False when `given_up` said so, which is
 * asked between places, by any thread.
 */
bool link_all(Linker& linker, Links& links, size_t threads, const std::function<bool()>& given_up);

}  // namespace quern::vectors
