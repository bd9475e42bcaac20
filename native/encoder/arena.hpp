#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace quern::encoder {

/// Memory that is taken piece by piece and freed at once. Pieces begin at cache lines and are zeros.
class Arena {
 public:
  template <typename T>
  std::span<T> take(size_t count) {
    return {reinterpret_cast<T*>(bytes(count * sizeof(T))), count};
  }
  /// Of the pieces.
  size_t used() const noexcept { return used_; }

 private:
  struct Release {
    void operator()(std::byte* block) const;
  };
  std::byte* bytes(size_t count);

  std::vector<std::unique_ptr<std::byte[], Release>> blocks_;
  size_t left_ = 0;
  std::byte* next_ = nullptr;
  size_t used_ = 0;
};

}  // namespace quern::encoder
