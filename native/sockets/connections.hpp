#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace quern {

/// Lets each connection that this process accepts on a TCP port hold `bytes` unread, twice that on Linux, which counts
/// what holds them too. False where no listener of the port is found, or the system (Windows) has no such way.
bool limit_receive_buffers(uint16_t port, int bytes) noexcept;

/// Lets connections of a TCP port wait in the system until their first byte has come, or about `seconds` have passed.
/// False where no listener of the port is found, or the system (all but Linux) has no such way.
bool hold_silent_connections(uint16_t port, int seconds) noexcept;

/// Copies what waits to be read on a connection into `into` and leaves it there; returns how many bytes, 0 where none
/// wait or `socket` is none.
size_t peek(int socket, std::span<uint8_t> into) noexcept;

/// A second descriptor of the same connection, which stays open when the first is closed; -1 where there is none.
int duplicate(int socket) noexcept;

/// Sends one datagram to a Unix socket, given by its path or, behind an `@`, by its abstract name. False where it
/// cannot be sent, and on Windows.
bool send_datagram(std::string_view address, std::string_view text) noexcept;

}  // namespace quern
