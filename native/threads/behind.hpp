#pragma once

#include <functional>
#include <future>

namespace quern {

/**
 * Runs `job` on a thread that stands back (`stand_back`), then `after`, which must be short, on one of the usual rank;
 * what is returned is ready when `after` has ended. Neither may be empty or throw. The threads are kept for the next
 * call, as many as jobs ever ran at the same time: making them holds the map of the process's memory, for which page
 * faults of all its threads wait. A thread that stands back may hold no lock that others want, so the two only wake
 * each other. Throws std::system_error where no thread is left.
 */
[[nodiscard]] std::future<void> run_behind(std::function<void()> job, std::function<void()> after);

}  // namespace quern
