// Takes arbitrary bytes apart as WebM and as Ogg, in pieces whose sizes come from the bytes, too. Whatever they are,
// they must be refused or read without harm, and no packet is larger than was promised.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "../audio/packet_reader.hpp"
#include "../base/failure.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace quern::audio;
  if (size == 0) return 0;
  const size_t piece = size_t{bytes[0]} + 1;
  const std::span stream(bytes + 1, size - 1);
  for (const auto open : {open_webm_reader, open_ogg_reader}) {
    const auto reader = open();
    try {
      for (size_t at = 0; at < stream.size(); at += piece) {
        std::vector<StreamPart> parts;
        reader->push(stream.subspan(at, std::min(piece, stream.size() - at)), parts);
        for (const StreamPart& part : parts)
          if (part.bytes.size() > kMostPacketBytes) std::abort();
      }
    } catch (const quern::Failure&) {
    }
  }
  return 0;
}
