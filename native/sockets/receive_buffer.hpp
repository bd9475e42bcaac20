#pragma once

#include <cstdint>

namespace quern {

/// Lets each connection that this process accepts on a TCP port hold `bytes` unread, twice that on Linux, which counts
/// what holds them too. False where no listener of the port is found, or the system (Windows) has no such way.
bool limit_receive_buffers(uint16_t port, int bytes) noexcept;

}  // namespace quern
