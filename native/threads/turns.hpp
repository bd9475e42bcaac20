#pragma once

namespace quern {

/// Lets every other thread go before the calling one and those that it begins, from now on: a search gets three
/// quarters of a core that it shares with it. A wish only.
void give_way() noexcept;

/**
 * Lets the calling thread and those that it begins run only where no other thread of its control group wants the core,
 * from now on: whatever wakes there runs at once (SCHED_IDLE). Where all cores are taken it gets three parts of a
 * thousand of one. For work that nobody waits for, that can be stopped, and that holds no lock which others want. A
 * wish only: gives way where Linux forbids it, and does nothing elsewhere.
 */
void stand_back() noexcept;

/**
 * What a thread that stands back calls often while it computes: offers its core every 0.1 ms, or at the first call
 * after that. Linux 6.6 and later (EEVDF) else let it run until the next tick, up to 4 ms, where all others have had
 * more than their share. After an offer that took long, since the cores are full, it runs on for 4 ms. Other threads
 * return at once, and so do those that such a thread began.
 */
void let_others_go() noexcept;

/**
 * Asks that the calling thread run in turns of 0.5 instead of some 3 ms: it then gets a core sooner when it wakes
 * beside threads that compute, and no larger share of it (EEVDF, a custom slice by sched_setattr, Linux 6.12). For a
 * thread that mostly waits and needs less than a turn at a time: beside one that computes in short turns, others wait
 * longer, and at the end of its turn even a thread that stands back gets the core, until the next tick. Threads and
 * processes that it begins have turns of the usual length. False where the system has no such thing or forbids it, and
 * where the process has a favoured nice, which its children would lose; an older Linux may accept it without effect.
 */
bool take_short_turns() noexcept;

}  // namespace quern
