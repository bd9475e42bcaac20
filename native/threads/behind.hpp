#pragma once

#include <functional>
#include <future>

namespace quern {

/**
 * Runs `job` on a thread that stands back (`stand_back`), then `after` on one of the usual rank; what is returned is
 * ready when `after` has ended. Neither may throw. The threads are kept for the next call: making them holds the map of
 * the process's memory, for which page faults of all its threads wait. They never end by themselves, and nothing but
 * the wake of a thread is shared between a call and a job: a thread that stands back may hold no lock which others
 * want. Any number of jobs at the same time. Throws std::system_error where no thread is left.
 */
[[nodiscard]] std::future<void> run_behind(std::function<void()> job, std::function<void()> after);

}  // namespace quern
