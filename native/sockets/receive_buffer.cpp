#include "receive_buffer.hpp"

#ifndef _WIN32
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>
#endif

namespace quern {

#ifndef _WIN32
namespace {

/// The port of a socket's own end; 0 for what is no TCP socket.
uint16_t port_of(int socket) noexcept {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

bool is_listening(int socket) noexcept {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0;
}

}  // namespace

bool limit_receive_buffers(uint16_t port, int bytes) noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir("/dev/fd"), ::closedir};
  if (!open) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(open.get())) {
    char* end = nullptr;
    const auto socket = static_cast<int>(std::strtol(entry->d_name, &end, 10));
    if (end == entry->d_name || *end != '\0' || !is_listening(socket) || port_of(socket) != port) continue;
    // What a listener has its connections have from their first byte on.
    if (::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0) found = true;
  }
  return found;
}
#else
bool limit_receive_buffers(uint16_t, int) noexcept {
  return false;
}
#endif

}  // namespace quern
