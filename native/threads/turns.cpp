#include "turns.hpp"

#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
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

using Clock = std::chrono::steady_clock;

/// When a thread that stands back last let others go.
thread_local Clock::time_point since;
thread_local bool is_behind = false;

}  // namespace

void give_way() noexcept {
  constexpr int kNice = 5;
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  if (::getpriority(PRIO_PROCESS, thread) < kNice) ::setpriority(PRIO_PROCESS, thread, kNice);
}

void stand_back() noexcept {
  constexpr sched_param kNone{};
  if (::sched_setscheduler(0, SCHED_IDLE, &kNone) != 0) return give_way();
  is_behind = true;
  since = Clock::now();
}

void let_others_go() noexcept {
  using std::chrono::microseconds;
  constexpr microseconds kLongest{100}, kFull{20'000}, kTick{4'000};
  if (!is_behind) return;
  const Clock::time_point asked = Clock::now();
  if (asked - since < kLongest) return;
  ::sched_yield();
  since = Clock::now();
  // Where the cores are full, each call may forfeit a second: then the share that is left is taken in one piece.
  if (since - asked > kFull) since += kTick;
}

bool take_short_turns() noexcept {
  constexpr uint64_t kTurnNs = 500'000;  // Linux's own are 0.7 to 2.8 ms; it takes 0.1 to 100
  constexpr uint64_t kResetOnFork = 1;   // which takes a favoured nice from children too
  SchedulingAttributes attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return false;
  if (attributes.policy != SCHED_OTHER || attributes.nice < 0) return false;
  attributes.runtime_ns = kTurnNs;
  attributes.flags = kResetOnFork;
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}
#else
void give_way() noexcept {}

void stand_back() noexcept {}

void let_others_go() noexcept {}

bool take_short_turns() noexcept {
  return false;
}
#endif

}  // namespace quern
