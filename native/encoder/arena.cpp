#include "arena.hpp"

#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace quern::encoder {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSmallBlock = size_t{64} << 10;
constexpr std::align_val_t kAlignment{kHugePage};

size_t rounded(size_t bytes, size_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

void Arena::Release::operator()(std::byte* block) const {
  ::operator delete[](block, kAlignment);
}

std::byte* Arena::bytes(size_t count) {
  count = rounded(count, kLine);
  if (count > left_) {
    // Blocks grow with what there is, so that small arenas stay small and large ones fill whole pages.
    const size_t least = used_ < kHugePage / 4 ? kSmallBlock : 2 * kHugePage;
    const size_t size = count > least ? rounded(count, least) : least;
    blocks_.reserve(blocks_.size() + 1);
    blocks_.emplace_back(static_cast<std::byte*>(::operator new[](size, kAlignment)));
    next_ = blocks_.back().get();
    left_ = size;
#ifdef __linux__
    // A wish only; without it everything works.
    if (size >= kHugePage) static_cast<void>(::madvise(next_, size, MADV_HUGEPAGE));
#endif
  }
  std::byte* const piece = next_;
  std::memset(piece, 0, count);
  next_ += count;
  left_ -= count;
  used_ += count;
  return piece;
}

}  // namespace quern::encoder
