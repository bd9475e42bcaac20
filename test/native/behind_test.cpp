#include "threads/behind.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sched.h>
#endif

namespace {

using namespace std::chrono_literals;
using quern::run_behind;

/// Where one job ran and what spoke for it.
struct Ran {
  std::thread::id job, after;
  int job_policy = 0, after_policy = 0;
};

int own_policy() {
#ifdef __linux__
  return ::sched_getscheduler(0);
#else
  return 0;
#endif
}

Ran run_one() {
  Ran ran;
  run_behind([&] { ran.job = std::this_thread::get_id(), ran.job_policy = own_policy(); },
             [&] { ran.after = std::this_thread::get_id(), ran.after_policy = own_policy(); })
      .get();
  return ran;
}

TEST(Behind, SpeaksAfterTheJobAndOnAnotherThread) {
  bool is_done = false, was_done = false;
  const auto job = [&] {
    std::this_thread::sleep_for(20ms);
    is_done = true;
  };
  run_behind(job, [&] { was_done = is_done; }).get();
  EXPECT_TRUE(was_done);
  const Ran ran = run_one();
  EXPECT_NE(ran.job, ran.after);
  EXPECT_NE(ran.job, std::this_thread::get_id());
}

TEST(Behind, KeepsItsThreads) {
  std::set<std::thread::id> jobs;
  for (int i = 0; i < 100; ++i) jobs.insert(run_one().job);
  // The tests before this one may have left more than one pair.
  EXPECT_LE(jobs.size(), 3U);
}

TEST(Behind, JobsDoNotWaitForOneAnother) {
  std::promise<void> goes_on;
  const std::shared_future<void> gate = goes_on.get_future().share();
  const std::future<void> first = run_behind([gate] { gate.wait(); }, [] {});
  std::future<void> second = run_behind([] {}, [] {});
  EXPECT_EQ(second.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(first.wait_for(0s), std::future_status::timeout);
  goes_on.set_value();
  EXPECT_EQ(first.wait_for(60s), std::future_status::ready);
}

TEST(Behind, LetsGoOfTheJobBeforeItSpeaks) {
  const auto held = std::make_shared<int>(1);
  long owners = 0;
  std::function<void()> job = [held] {};
  run_behind(std::move(job), [&owners, weak = std::weak_ptr(held)] { owners = weak.use_count(); }).get();
  EXPECT_EQ(owners, 1);
}

#ifdef __linux__
TEST(Behind, OnlyTheJobStandsBack) {
  bool allowed = false;
  std::thread([&] {
    const sched_param none{};
    allowed = ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
  }).join();
  if (!allowed) GTEST_SKIP() << "the system forbids it";
  const Ran ran = run_one();
  EXPECT_EQ(ran.job_policy, SCHED_IDLE);
  EXPECT_EQ(ran.after_policy, own_policy());
}
#endif

}  // namespace
