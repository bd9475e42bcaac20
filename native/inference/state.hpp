#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "options.hpp"

namespace quern {

/// The KV memory of one sequence, and the tokens that it stands for.
struct SequenceState {
  std::vector<Token> tokens;
  std::vector<uint8_t> bytes;
};

/// How a state was found, or what became of it.
enum class StateOutcome {
  restored,
  present,  ///< a slot holds all of its tokens already
  missing,
  stale,  ///< of other weights or options
  corrupt,
  unfit,  ///< no idle slot has room for it
};

/// Writes a state to `path` whole or not at all; `tag` tells models and their options apart. Throws Failure 'disk_full'
/// or 'unavailable'.
void write_state(const SequenceState& state, const std::string& path, uint64_t tag);

/// Reads what write_state() wrote, every byte verified; the outcome is `restored` when, and only when, `state` is set.
StateOutcome read_state(const std::string& path, uint64_t tag, std::shared_ptr<const SequenceState>& state);

/// States kept in memory, by the path of their file. Any thread.
class StateShelf {
 public:
  void keep(const std::string& path, std::shared_ptr<const SequenceState> state);
  std::shared_ptr<const SequenceState> find(const std::string& path) const;
  /// False when it was not there.
  bool drop(const std::string& path);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const SequenceState>> states_;
};

}  // namespace quern
