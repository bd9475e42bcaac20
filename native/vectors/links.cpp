#include "links.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace quern::vectors {
namespace {

/// A number in [0, 1) that looks drawn, the same for a place every time (SplitMix64).
double drawn(uint64_t place) {
  uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
}

/// Every connectivity-th place of a level is on the next one as well.
size_t level_of(size_t place, size_t connectivity) {
  const double level = -std::log(1 - drawn(place)) / std::log(static_cast<double>(connectivity));
  return std::min(static_cast<size_t>(level), kMostLevels - 1);
}

}  // namespace

Links::Links(size_t connectivity)
    : connectivity_(connectivity),
      lowest_(2 * connectivity * sizeof(uint32_t)),
      upper_(connectivity * sizeof(uint32_t)) {}

size_t Links::bytes() const {
  return size() * (lowest_.record_bytes() + sizeof(uint8_t) + sizeof(uint32_t)) + upper_lists_ * upper_.record_bytes();
}

void Links::prefetch(uint32_t place) const {
#if defined(__GNUC__)
  const std::byte* links = lowest_.at(place);
  for (size_t i = 0; i < lowest_.record_bytes(); i += 64) __builtin_prefetch(links + i);
#else
  static_cast<void>(place);
#endif
}

void Links::append_place(size_t level) {
  const auto place = static_cast<uint32_t>(size());
  lowest_.reserve(size() + 1);
  upper_.reserve(upper_lists_ + level);
  first_.push_back(static_cast<uint32_t>(upper_lists_));
  levels_.push_back(static_cast<uint8_t>(level));
  upper_lists_ += level;
  for (size_t at = 0; at <= level; ++at) std::ranges::fill(list(place, at), kNoPlace);
}

void Links::append(size_t places) {
  levels_.reserve(std::max(size() + places, size() + size() / 2));
  first_.reserve(levels_.capacity());
  for (size_t i = 0; i < places; ++i) append_place(level_of(size(), connectivity_));
}

void Links::write(const Sink& sink) const {
  sink(&entry_, sizeof(entry_));
  sink(levels_.data(), levels_.size());
  for (uint32_t place = 0; place < size(); ++place)
    for (size_t at = 0; at <= level(place); ++at) {
      const auto links = list(place, at);
      sink(links.data(), links.size_bytes());
    }
}

bool Links::read(std::span<const std::byte> bytes, size_t places) {
  const auto take = [&bytes](void* to, size_t size) {
    if (bytes.size() < size) return false;
    std::memcpy(to, bytes.data(), size);
    bytes = bytes.subspan(size);
    return true;
  };
  std::vector<uint8_t> levels(places);
  if (!take(&entry_, sizeof(entry_)) || !take(levels.data(), places) || entry_ >= places) return false;
  if (std::ranges::max(levels) != levels[entry_] || levels[entry_] >= kMostLevels) return false;
  for (const uint8_t level : levels) {
    append_place(level);
    const auto place = static_cast<uint32_t>(size() - 1);
    for (size_t at = 0; at <= level; ++at) {
      const auto links = list(place, at);
      if (!take(links.data(), links.size_bytes())) return false;
      for (const uint32_t link : links)
        if (link != kNoPlace && (link >= places || levels[link] < at)) return false;
    }
  }
  return bytes.empty();
}

}  // namespace quern::vectors
