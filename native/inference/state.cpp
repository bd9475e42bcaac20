#include "state.hpp"

#include <cstring>
#include <utility>

#include "../storage/checked_file.hpp"

namespace quern {
namespace {

constexpr FileKind kKind{{'Q', 'U', 'E', 'R', 'N', 'K', 'V', 'S'}, 1};

/// Sections of the file, in this order.
enum Part : size_t { kTokens, kBytes, kParts };

}  // namespace

void write_state(const SequenceState& state, const std::string& path, uint64_t tag) {
  CheckedWriter file(path, kKind, tag);
  file.section();
  file.write(state.tokens.data(), state.tokens.size() * sizeof(Token));
  file.section();
  file.write(state.bytes.data(), state.bytes.size());
  file.finish({});
}

StateOutcome read_state(const std::string& path, uint64_t tag, std::shared_ptr<const SequenceState>& state) {
  std::shared_ptr<const CheckedFile> file;
  switch (CheckedFile::open(path, kKind, tag, file).state) {
    case LoadState::kMissing:
      return StateOutcome::missing;
    case LoadState::kStale:
      return StateOutcome::stale;
    case LoadState::kCorrupt:
      return StateOutcome::corrupt;
    case LoadState::kLoaded:
      break;
  }
  if (file->sections() != kParts || file->section(kTokens).size() % sizeof(Token) != 0) return StateOutcome::corrupt;
  auto read = std::make_shared<SequenceState>();
  const auto tokens = file->section(kTokens);
  read->tokens.resize(tokens.size() / sizeof(Token));
  if (!tokens.empty()) std::memcpy(read->tokens.data(), tokens.data(), tokens.size());
  const auto bytes = file->section(kBytes);
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.data());
  read->bytes.assign(from, from + bytes.size());
  state = std::move(read);
  return StateOutcome::restored;
}

void StateShelf::keep(const std::string& path, std::shared_ptr<const SequenceState> state) {
  const std::lock_guard lock(mutex_);
  states_[path] = std::move(state);
}

std::shared_ptr<const SequenceState> StateShelf::find(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(path);
  return found == states_.end() ? nullptr : found->second;
}

bool StateShelf::drop(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return states_.erase(path) > 0;
}

}  // namespace quern
