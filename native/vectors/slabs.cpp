#include "slabs.hpp"

#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace quern::vectors {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
/// A slab has at least so many bytes; so little is lost when the last one stays nearly empty.
constexpr size_t kLeastBytes = size_t{2} << 20;
constexpr std::align_val_t kAlignment{kHugePage};

}  // namespace

Slabs::Slabs(size_t record_bytes) : record_bytes_(record_bytes) {
  while (record_bytes_ << shift_ < kLeastBytes) ++shift_;
  mask_ = (uint32_t{1} << shift_) - 1;
}

void Slabs::Release::operator()(std::byte* slab) const {
  ::operator delete[](slab, kAlignment);
}

void Slabs::reserve(size_t records) {
  const size_t bytes = ((record_bytes_ << shift_) + kHugePage - 1) / kHugePage * kHugePage;
  while (slabs_.size() << shift_ < records) {
    slabs_.reserve(slabs_.size() + 1);
    slabs_.emplace_back(static_cast<std::byte*>(::operator new[](bytes, kAlignment)));
#ifdef __linux__
    // A wish only; without it everything works.
    static_cast<void>(::madvise(slabs_.back().get(), bytes, MADV_HUGEPAGE));
#endif
  }
}

}  // namespace quern::vectors
