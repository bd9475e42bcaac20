#include "turns.hpp"

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#endif

namespace quern {

#ifdef __linux__
namespace {

/// What sched_setattr(2) reads; its first form, which every Linux since 3.14 knows.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

/// Changes how the calling thread is scheduled: `nice` at least, turns of 0.1 ms. The flag says whether threads and
/// processes that it begins start anew.
bool reschedule(int32_t nice, uint64_t flags) noexcept {
  constexpr uint64_t kTurnNs = 100'000;  // the least that Linux takes
  SchedulingAttributes attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return false;
  if (attributes.policy != SCHED_OTHER) return false;
  attributes.nice = std::max(attributes.nice, nice);
  attributes.runtime_ns = kTurnNs;
  attributes.flags = flags;
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

}  // namespace

void give_way() noexcept {
  constexpr int32_t kNice = 5;
  // Who wakes beside it need not wait for the end of a long turn.
  reschedule(kNice, 0);
}

bool take_short_turns() noexcept {
  constexpr int32_t kMostFavoured = -20;
  constexpr uint64_t kResetOnFork = 1;
  return reschedule(kMostFavoured, kResetOnFork);
}
#else
void give_way() noexcept {}

bool take_short_turns() noexcept {
  return false;
}
#endif

}  // namespace quern
