#include "state_shape.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace quern {
namespace {

constexpr size_t kWord = sizeof(uint32_t);
/// Where the number of streams stands, and after it the first number of cells.
constexpr size_t kStreams = 2 * kWord;
constexpr size_t kCells = kStreams + kWord;

uint32_t word(std::span<const uint8_t> state, size_t at) {
  uint32_t value = 0;
  std::memcpy(&value, state.data() + at, kWord);
  return value;
}

void put(std::vector<uint8_t>& state, size_t at, uint32_t value) {
  std::memcpy(state.data() + at, &value, kWord);
}

bool counts(std::span<const uint8_t> state, uint32_t streams) {
  return streams > 0 && state.size() >= kCells + streams * kWord && word(state, kStreams) == streams;
}

bool all_zero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

uint32_t plain_streams(std::span<const uint8_t> empty) {
  if (empty.size() < kCells + kWord) return 0;
  const uint32_t streams = word(empty, kStreams);
  const bool plain =
      counts(empty, streams) && empty.size() == kCells + streams * kWord && all_zero(empty.subspan(kCells));
  return plain ? streams : 0;
}

bool fold_streams(std::vector<uint8_t>& state, uint32_t streams) {
  if (!counts(state, streams)) return false;
  size_t before = 0;
  while (before + 1 < streams && word(state, kCells + before * kWord) == 0) ++before;
  const size_t after = (streams - 1 - before) * kWord;
  if (!all_zero(std::span(state).last(after))) return false;
  state.resize(state.size() - after);
  const auto first = state.begin() + static_cast<std::ptrdiff_t>(kCells);
  state.erase(first, first + static_cast<std::ptrdiff_t>(before * kWord));
  put(state, kStreams, 1);
  return true;
}

std::vector<uint8_t> unfold_streams(std::span<const uint8_t> state, uint32_t streams) {
  if (!counts(state, 1) || streams == 0) return {};
  std::vector<uint8_t> unfolded;
  unfolded.reserve(state.size() + (streams - 1) * kWord);
  unfolded.assign(state.begin(), state.end());
  // The empty streams may all come last: cells are put into the stream of the sequence that takes them.
  unfolded.resize(state.size() + (streams - 1) * kWord);
  put(unfolded, kStreams, streams);
  return unfolded;
}

}  // namespace quern
