#include "sockets/connections.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace {

/// What one datagram to a Unix socket of this name holds; the name begins with `@` where it is abstract.
std::string received(const std::string& name, const std::string& text) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path, name.data(), name.size());
  if (name[0] == '@') at.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&at), size), 0);
  EXPECT_TRUE(quern::send_datagram(name, text));
  char into[64];
  const ssize_t count = ::recv(socket, into, sizeof into, MSG_DONTWAIT);
  ::close(socket);
  return count < 0 ? "" : std::string(into, static_cast<size_t>(count));
}

TEST(Connections, SendDatagramsToPathsAndAbstractNames) {
  const std::string path = ::testing::TempDir() + "quern-datagram-" + std::to_string(::getpid());
  EXPECT_EQ(received(path, "READY=1"), "READY=1");
  ::unlink(path.c_str());
  EXPECT_EQ(received("@quern-datagram-" + std::to_string(::getpid()), "STOPPING=1"), "STOPPING=1");
}

TEST(Connections, SendNothingWhereNobodyListens) {
  EXPECT_FALSE(quern::send_datagram("/nowhere/socket", "READY=1"));
  EXPECT_FALSE(quern::send_datagram("", "READY=1"));
  EXPECT_FALSE(quern::send_datagram(std::string(200, 'x'), "READY=1"));
}

}  // namespace
