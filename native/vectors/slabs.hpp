#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace quern::vectors {

/**
 * Records of one size by number, in large pieces of memory that never move. The pieces ask for huge pages: a search
 * jumps between records, and with small pages each jump walks the page table.
 */
class Slabs {
 public:
  explicit Slabs(size_t record_bytes);

  std::byte* at(uint32_t record) const { return slabs_[record >> shift_].get() + (record & mask_) * record_bytes_; }
  size_t record_bytes() const { return record_bytes_; }
  /// Room for so many records altogether; what they hold is not set. Throws std::bad_alloc.
  void reserve(size_t records);

 private:
  struct Release {
    void operator()(std::byte* slab) const;
  };

  size_t record_bytes_;
  uint32_t shift_ = 0;
  uint32_t mask_ = 0;
  std::vector<std::unique_ptr<std::byte[], Release>> slabs_;
};

}  // namespace quern::vectors
