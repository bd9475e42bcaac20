#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace quern::vectors {

/// Lets every other thread go before this one, from now on: a search gets three quarters of a core that it shares with
/// it. A wish only.
inline void give_way() {
#ifdef __linux__
  constexpr int kNice = 5;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
#endif
}

/// Threads that make a graph: half of the processor, and at least what two cores give.
inline size_t building_threads() {
  constexpr size_t kMost = 16;
  const size_t cores = std::thread::hardware_concurrency();
  return std::clamp<size_t>(cores / 2, std::min<size_t>(2, std::max<size_t>(1, cores)), kMost);
}

}  // namespace quern::vectors
