// Reads arbitrary bytes as a Whisper model. Whatever they are, they must be refused with a reason, or be one.
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>

#include "../base/failure.hpp"
#include "../inference/whisper_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace quern;
  // Behind a head that is right, so that the tensors are reached; the first byte says how much of it is taken.
  static const int32_t kHead[] = {0x67676d6c, 51864, 1500, 32, 1, 1, 16, 32, 1, 1, 80, 1, 80, 201};
  std::string text;
  if (size > 0 && bytes[0] % 4 != 0) {
    text.assign(reinterpret_cast<const char*>(kHead), sizeof kHead);
    text.append(80 * 201 * sizeof(float), '\0');
    if (bytes[0] % 4 == 2) text.append("\1\0\0\0\1\0\0\0 ", 9);
    ++bytes;
    --size;
  }
  text.append(reinterpret_cast<const char*>(bytes), size);
  std::istringstream in(text);
  try {
    check_whisper_file(in, text.size(), "fuzz");
  } catch (const Failure& failure) {
    if (std::strcmp(failure.kind(), "invalid") != 0) __builtin_trap();
  }
  return 0;
}
