#include "threads/turns.hpp"

#include <gtest/gtest.h>

#include <thread>

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace {

/// Policy, nice and turn of the calling thread, as sched_getattr(2) gives them.
struct Schedule {
  uint32_t policy = 0;
  int32_t nice = 0;
  uint64_t turn_ns = 0;

  bool operator==(const Schedule&) const = default;
};

Schedule own_schedule() {
  std::array<uint64_t, 6> words{};
  EXPECT_EQ(::syscall(SYS_sched_getattr, 0, words.data(), sizeof words, 0), 0);
  return {static_cast<uint32_t>(words[0] >> 32), static_cast<int32_t>(words[2]), words[3]};
}

/// On a thread of its own, which a test cannot change for others.
template <typename Work>
void aside(Work work) {
  std::thread(work).join();
}

TEST(Turns, ShortOnesAreTheThreadsOwn) {
  aside([] {
    const Schedule usual = own_schedule();
    if (!quern::take_short_turns()) GTEST_SKIP() << "the system forbids it, or the nice is negative";
    const Schedule mine = own_schedule();
    EXPECT_EQ(mine.policy, usual.policy);
    EXPECT_EQ(mine.nice, usual.nice);
    // An older Linux has no turns to ask for.
    EXPECT_EQ(mine.turn_ns, usual.turn_ns == 0 ? 0 : 500'000U);
    aside([&] { EXPECT_EQ(own_schedule(), usual); });
  });
}

TEST(Turns, StandingBackIsForIdleCores) {
  bool allowed = false;
  aside([&] {
    const sched_param none{};
    allowed = ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
  });
  if (!allowed) GTEST_SKIP() << "the system forbids it";
  aside([] {
    quern::stand_back();
    EXPECT_EQ(own_schedule().policy, static_cast<uint32_t>(SCHED_IDLE));
    aside([] { EXPECT_EQ(own_schedule().policy, static_cast<uint32_t>(SCHED_IDLE)); });
  });
}

TEST(Turns, GivingWayKeepsThePolicy) {
  aside([] {
    const Schedule usual = own_schedule();
    quern::give_way();
    EXPECT_EQ(own_schedule().policy, usual.policy);
    EXPECT_EQ(own_schedule().nice, std::max(5, usual.nice));
  });
}

}  // namespace
#endif
