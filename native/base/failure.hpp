#pragma once

#include <stdexcept>
#include <string>

namespace quern {

/// The one error of the native code: `kind` is a FailureKind of schemas/errors.ts, the text is for the caller.
class Failure : public std::runtime_error {
 public:
  Failure(const char* kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  const char* kind() const noexcept { return kind_; }

 private:
  const char* kind_;  // always a literal
};

}  // namespace quern
