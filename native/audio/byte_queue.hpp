#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../base/failure.hpp"

namespace quern::audio {

/// Bytes that came in pieces and wait to be read. Sizes in them are not to be trusted: `skip` needs no memory.
class ByteQueue {
 public:
  void push(std::span<const uint8_t> bytes) {
    const size_t passed = std::min(skipped_, bytes.size());
    skipped_ -= passed;
    if (passed == bytes.size()) return;
    // What was read is dropped when it is as much as what waits, so that each byte moves a bounded number of times.
    if (from_ >= bytes_.size() - from_) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(from_));
      from_ = 0;
    }
    bytes_.insert(bytes_.end(), bytes.begin() + static_cast<std::ptrdiff_t>(passed), bytes.end());
  }

  /// What waits.
  std::span<const uint8_t> waiting() const { return std::span(bytes_).subspan(from_); }
  size_t size() const { return bytes_.size() - from_; }

  /// Drops bytes, also such as have not come yet.
  void skip(uint64_t count) {
    const size_t here = static_cast<size_t>(std::min<uint64_t>(count, size()));
    from_ += here;
    skipped_ += static_cast<size_t>(count - here);
  }

  /// Bytes that still are to be dropped when they come.
  size_t skipping() const { return skipped_; }

  void clear() {
    bytes_.clear();
    from_ = 0;
    skipped_ = 0;
  }

 private:
  std::vector<uint8_t> bytes_;
  size_t from_ = 0;
  size_t skipped_ = 0;
};

/// A number of up to 8 bytes, the least byte first.
inline uint64_t little(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

/// The same, the greatest byte first.
inline uint64_t big(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

inline bool begins_with(std::span<const uint8_t> bytes, std::string_view name) {
  return bytes.size() >= name.size() &&
         std::equal(name.begin(), name.end(), bytes.begin(),
                    [](char one, uint8_t other) { return static_cast<uint8_t>(one) == other; });
}

}  // namespace quern::audio
