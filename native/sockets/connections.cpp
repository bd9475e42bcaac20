#include "connections.hpp"

#ifndef _WIN32
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
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

/// Sets an option of every listener of a port in this process; false where there is none, or none takes it.
bool set_for_listeners(uint16_t port, int level, int option, int value) noexcept {
  const std::unique_ptr<DIR, int (*)(DIR*)> open{::opendir("/dev/fd"), ::closedir};
  if (!open) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(open.get())) {
    char* end = nullptr;
    const auto socket = static_cast<int>(std::strtol(entry->d_name, &end, 10));
    if (end == entry->d_name || *end != '\0' || !is_listening(socket) || port_of(socket) != port) continue;
    if (::setsockopt(socket, level, option, &value, sizeof value) == 0) found = true;
  }
  return found;
}

}  // namespace

bool limit_receive_buffers(uint16_t port, int bytes) noexcept {
  // What a listener has its connections have from their first byte on.
  return set_for_listeners(port, SOL_SOCKET, SO_RCVBUF, bytes);
}

size_t peek(int socket, std::span<uint8_t> into) noexcept {
  const ssize_t count = ::recv(socket, into.data(), into.size(), MSG_PEEK | MSG_DONTWAIT);
  return count > 0 ? static_cast<size_t>(count) : 0;
}

int duplicate(int socket) noexcept {
  return ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
}

bool send_datagram(std::string_view address, std::string_view text) noexcept {
  sockaddr_un to{};
  if (address.empty() || address.size() >= sizeof to.sun_path) return false;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address.data(), address.size());
  if (to.sun_path[0] == '@') to.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  if (socket < 0) return false;
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  const ssize_t sent = ::sendto(socket, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&to), size);
  ::close(socket);
  return sent == static_cast<ssize_t>(text.size());
}
#else
bool limit_receive_buffers(uint16_t, int) noexcept {
  return false;
}

size_t peek(int, std::span<uint8_t>) noexcept {
  return 0;
}

int duplicate(int) noexcept {
  return -1;
}

bool send_datagram(std::string_view, std::string_view) noexcept {
  return false;
}
#endif

#ifdef TCP_DEFER_ACCEPT
bool hold_silent_connections(uint16_t port, int seconds) noexcept {
  return set_for_listeners(port, IPPROTO_TCP, TCP_DEFER_ACCEPT, seconds);
}
#else
bool hold_silent_connections(uint16_t, int) noexcept {
  return false;
}
#endif

}  // namespace quern
