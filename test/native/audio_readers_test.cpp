// What reads foreign bytes: WAV, FLAC, Ogg, WebM and AAC.
#include <algorithm>
#include <cstring>

#include "audio/aac_channel.hpp"
#include "audio/aac_decoder.hpp"
#include "audio/byte_queue.hpp"
#include "audio/ogg_writer.hpp"
#include "audio/packet_reader.hpp"
#include "audio/pcm_reader.hpp"
#include "audio/wav.hpp"
#include "audio_fixture.hpp"

namespace quern::audio {
namespace {

std::vector<float> read_all(PcmReader& reader, std::span<const uint8_t> file, size_t piece) {
  std::vector<float> all;
  const auto drain = [&] {
    for (std::vector<float> some;; some.clear()) {
      reader.read(some);
      if (some.empty()) return;
      all.insert(all.end(), some.begin(), some.end());
    }
  };
  for (size_t at = 0; at < file.size(); at += piece) {
    reader.push(file.subspan(at, std::min(piece, file.size() - at)));
    drain();
  }
  reader.end();
  drain();
  return all;
}

std::vector<uint8_t> wav_file(std::span<const float> samples, bool endless = false) {
  std::vector<uint8_t> data(samples.size() * 2);
  encode_samples(samples, Encoding::kS16, data);
  const auto header = wav_header(16000, Encoding::kS16, endless ? std::nullopt : std::optional<uint64_t>(data.size()));
  std::vector<uint8_t> file(header.begin(), header.end());
  append(file, data);
  return file;
}

TEST(WavReader, ReadsFilesAndStreamsInAnyPieces) {
  const auto samples = tone(440, 16000, 0.2);
  for (const bool endless : {false, true}) {
    auto file = wav_file(samples, endless);
    for (const size_t piece : {1UL, 5UL, 1000000UL}) {
      const auto reader = open_wav_reader();
      const auto read = read_all(*reader, file, piece);
      ASSERT_EQ(read.size(), samples.size());
      for (size_t i = 0; i < read.size(); ++i) ASSERT_NEAR(read[i], samples[i], 1e-4);
      EXPECT_EQ(reader->facts()->frames.has_value(), !endless);
    }
    if (endless) continue;
    append(file, bytes_of_hex("4c495354040000006162636400"));
    const auto reader = open_wav_reader();
    EXPECT_EQ(read_all(*reader, file, 7).size(), samples.size()) << "what follows is no sound";
  }
}

TEST(WavReader, RefusesWhatIsNoneOrCutOff) {
  const auto file = wav_file(tone(440, 16000, 0.1));
  const auto refused = [&](std::vector<uint8_t> bytes, const std::string& text) {
    expect_refused("bad_request", text, [&] { read_all(*open_wav_reader(), bytes, 50); });
  };
  for (size_t size = 0; size < 44; ++size) refused({file.begin(), file.begin() + static_cast<long>(size)}, "WAV");
  refused({file.begin(), file.end() - 100}, "100 bytes of its samples are missing");
  const auto changed = [&](size_t at, std::vector<uint8_t> with) {
    auto bytes = file;
    std::copy(with.begin(), with.end(), bytes.begin() + static_cast<long>(at));
    return bytes;
  };
  refused(changed(8, {'A'}), "RIFF and WAVE");
  refused(changed(20, {2}), "samples of kind 2");
  refused(changed(22, {0}), "0 channels");
  refused(changed(22, {200}), "200 channels");
  refused(changed(24, {0, 0, 0, 0}), "0 Hz");
  refused(changed(16, {0xff, 0xff, 0xff, 0xff}), "describes its format in 4294967295 bytes");
  refused(changed(12, {'d', 'a', 't', 'a'}), "before it says of what format");
}

/// A FLAC file of 16 bits with the given bits of frames, each after its header, with its checksum.
class FlacWriter {
 public:
  explicit FlacWriter(uint32_t channels, uint32_t frames = 0) {
    file_ = bytes_of_hex("664c614380000022");
    // 16 to 4096 samples a frame, sizes unknown, 16 kHz.
    bits(16, 16), bits(4096, 16), bits(0, 48), bits(16000, 20), bits(channels - 1, 3), bits(15, 5), bits(frames, 36);
    for (int i = 0; i < 16; ++i) bits(0, 8);
    flush();
  }
  void bits(uint64_t value, int count) {
    while (count-- > 0) {
      held_ = static_cast<uint8_t>(held_ << 1 | (value >> count & 1));
      if (++filled_ == 8) {
        waiting_.push_back(held_);
        filled_ = 0;
      }
    }
  }
  void frame(uint32_t samples, uint32_t channels) {
    bits(0xfff8, 16), bits(7, 4), bits(0, 4), bits(channels, 4), bits(4, 3), bits(0, 1), bits(0, 8),
        bits(samples - 1, 16), bits(0, 8);
  }
  void end_frame() {
    while (filled_ != 0) bits(0, 1);
    uint16_t crc = 0;
    for (const uint8_t byte : waiting_) {
      crc = static_cast<uint16_t>(crc ^ byte << 8);
      for (int bit = 0; bit < 8; ++bit) crc = static_cast<uint16_t>(crc << 1 ^ ((crc & 0x8000) != 0 ? 0x8005 : 0));
    }
    bits(crc, 16);
    flush();
  }
  const std::vector<uint8_t>& file() const { return file_; }

 private:
  void flush() {
    append(file_, waiting_);
    waiting_.clear();
  }
  std::vector<uint8_t> file_;
  std::vector<uint8_t> waiting_;
  uint8_t held_ = 0;
  int filled_ = 0;
};

TEST(FlacReader, ReadsEveryKindOfSubframe) {
  FlacWriter writer(2);
  // Left: constant 8192; right: 4 samples as they are.
  writer.frame(4, 1);
  writer.bits(0x00, 8), writer.bits(8192, 16);
  writer.bits(0x02, 8);
  for (const int value : {0, 8192, -8192, 16384}) writer.bits(static_cast<uint16_t>(value), 16);
  writer.end_frame();
  // Left and the difference: a line by a fixed predictor of order 2, and a constant of 17 bits with two wasted ones.
  writer.frame(4, 8);
  writer.bits(0x14, 8), writer.bits(100, 16), writer.bits(200, 16), writer.bits(0, 6), writer.bits(0, 4),
      writer.bits(0x3, 2);
  writer.bits(0x01, 8), writer.bits(0x1, 2), writer.bits(8, 15);
  writer.end_frame();
  // Middle and side: a linear predictor of order 1 that keeps the sample, residuals as they are; side constant -3.
  writer.frame(3, 10);
  writer.bits(0x40, 8), writer.bits(1000, 16), writer.bits(1, 4), writer.bits(0, 5), writer.bits(1, 2),
      writer.bits(0, 6), writer.bits(15, 4), writer.bits(3, 5), writer.bits(1, 3), writer.bits(0x7, 3);
  writer.bits(0x00, 8), writer.bits(0x1fffd, 17);
  writer.end_frame();
  const std::vector<double> wanted = {4096, 8192, 0, 12288, 84, 184, 284, 384, 1000.5, 1001.5, 1000.5};
  for (const size_t piece : {1UL, 13UL, 100000UL}) {
    const auto reader = open_flac_reader();
    const auto read = read_all(*reader, writer.file(), piece);
    ASSERT_EQ(read.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(read[i] * 32768, wanted[i], 1e-3) << i;
    EXPECT_EQ(reader->facts()->rate, 16000U);
  }
}

TEST(FlacReader, GivesLongSilenceInParts) {
  FlacWriter writer(1);
  for (int i = 0; i < 40; ++i) {
    writer.frame(65536, 0);
    writer.bits(0, 8), writer.bits(0, 16);
    writer.end_frame();
  }
  const auto reader = open_flac_reader();
  reader->push(writer.file());
  std::vector<float> some;
  reader->read(some);
  EXPECT_EQ(some.size(), 65536U);
}

TEST(FlacReader, RefusesWhatIsDamagedOrCutOff) {
  FlacWriter writer(1, 8);
  for (int i = 0; i < 2; ++i) {
    writer.frame(4, 0);
    writer.bits(0x02, 8), writer.bits(0x1234567812345678, 64);
    writer.end_frame();
  }
  EXPECT_EQ(read_all(*open_flac_reader(), writer.file(), 9).size(), 8U);
  for (size_t size = 0; size < writer.file().size(); ++size)
    expect_refused("bad_request", "FLAC",
                   [&] { read_all(*open_flac_reader(), std::span(writer.file()).first(size), 9); });
  for (size_t at = 50; at < writer.file().size(); ++at) {
    auto bytes = writer.file();
    bytes[at] ^= 0x10;
    expect_refused("bad_request", "FLAC", [&] { read_all(*open_flac_reader(), bytes, 9); });
  }
}

std::vector<StreamPart> parts_of(PacketReader& reader, std::span<const uint8_t> stream, size_t piece) {
  std::vector<StreamPart> parts;
  for (size_t at = 0; at < stream.size(); at += piece)
    reader.push(stream.subspan(at, std::min(piece, stream.size() - at)), parts);
  return parts;
}

std::vector<size_t> packet_sizes(const std::vector<StreamPart>& parts) {
  std::vector<size_t> sizes;
  for (const StreamPart& part : parts)
    if (part.kind == StreamPart::Kind::kPacket) sizes.push_back(part.bytes.size());
  return sizes;
}

TEST(Ogg, WritesWhatItReads) {
  OggOpusWriter writer({.serial = 7, .input_rate = 24000, .channels = 1, .pre_skip = 312});
  const std::vector<size_t> sizes = {1, 254, 255, 256, 510, 5000, 61440, 3};
  std::vector<uint8_t> stream;
  for (const size_t size : sizes) writer.push(std::vector<uint8_t>(size, static_cast<uint8_t>(size)), 960, stream);
  const size_t before = stream.size();
  writer.end(8 * 960 - 312 - 100, stream);
  EXPECT_GT(before, 300U) << "pages come before the end";
  for (const size_t piece : {1UL, 100UL, 1000000UL}) {
    const auto parts = parts_of(*open_ogg_reader(), stream, piece);
    EXPECT_EQ(packet_sizes(parts), sizes);
    EXPECT_EQ(parts.front().kind, StreamPart::Kind::kBegin);
    EXPECT_EQ(parts.front().pre_skip, 312U);
    EXPECT_EQ(parts.back().total, 8 * 960U - 312 - 100);
  }
  // A damaged page is passed over, and what stands before the first one.
  auto damaged = stream;
  damaged[before / 2] ^= 1;
  EXPECT_LT(packet_sizes(parts_of(*open_ogg_reader(), damaged, 1000)).size(), sizes.size());
  std::vector<uint8_t> late = bytes_of_hex("4f67675300");
  append(late, stream);
  EXPECT_LE(packet_sizes(parts_of(*open_ogg_reader(), late, 10)).size(), sizes.size());
  append(stream, stream);
  EXPECT_EQ(packet_sizes(parts_of(*open_ogg_reader(), stream, 77)).size(), 2 * sizes.size())
      << "a stream after a stream";
  expect_refused("invalid", "1 to 61440 bytes", [&] { writer.push({}, 960, stream); });
  expect_refused("invalid", "1 to 5760 samples", [&] { writer.push(std::vector<uint8_t>(5), 5761, stream); });
}

/// An element with its name in hexadecimal digits; without content, one of unknown size.
std::vector<uint8_t> element(std::string_view name, const std::vector<uint8_t>& content) {
  std::vector<uint8_t> bytes = bytes_of_hex(name);
  bytes.push_back(static_cast<uint8_t>(0x40 | content.size() >> 8));
  bytes.push_back(static_cast<uint8_t>(content.size()));
  append(bytes, content);
  return bytes;
}

std::vector<uint8_t> unknown(std::string_view name) {
  std::vector<uint8_t> bytes = bytes_of_hex(name);
  append(bytes, bytes_of_hex("01ffffffffffffff"));
  return bytes;
}

std::vector<uint8_t> joined(std::initializer_list<std::vector<uint8_t>> pieces) {
  std::vector<uint8_t> bytes;
  for (const auto& piece : pieces) append(bytes, piece);
  return bytes;
}

std::vector<uint8_t> text_of(std::string_view text) {
  return {text.begin(), text.end()};
}

const std::vector<uint8_t> kOpusHead = bytes_of_hex("4f707573486561640102380180bb0000000000");

/// What stands before the blocks; segment and cluster have no size, as recorders write them.
std::vector<uint8_t> webm_head(std::string_view codec = "A_OPUS") {
  const auto video = element("ae", joined({element("d7", {2}), element("83", {1}), element("86", text_of("V_VP8"))}));
  const auto sound = element("ae", joined({element("d7", {1}), element("83", {2}), element("86", text_of(codec)),
                                           element("63a2", kOpusHead), element("e1", element("9f", {2}))}));
  return joined({element("1a45dfa3", element("4282", text_of("webm"))), unknown("18538067"), element("ec", {0, 0, 0}),
                 element("1654ae6b", joined({video, sound})), unknown("1f43b675"), element("e7", {0})});
}

std::vector<uint8_t> block(std::string_view hex) {
  return element("a3", bytes_of_hex(hex));
}

TEST(Webm, ReadsBlocksWhereverTheyAreCut) {
  const auto stream =
      joined({webm_head(), block("81000080aabbcc"), block("82000080ff"),
              element("a0", element("a1", bytes_of_hex("81000000aabb"))), unknown("1f43b675"),
              // Three frames of one size, of Xiph's sizes, and of EBML's.
              block("8100000402aabbccddeeff"), block("81000002020102aabbccddeeff"), block("810000060281bfaabbccdd")});
  for (const size_t piece : {1UL, 2UL, 3UL, 11UL, 1000UL}) {
    const auto parts = parts_of(*open_webm_reader(), stream, piece);
    ASSERT_EQ(parts[0].kind, StreamPart::Kind::kBegin);
    EXPECT_EQ(parts[0].channels, 2U);
    EXPECT_EQ(parts[0].pre_skip, 312U);
    const std::vector<size_t> wanted = {3, 2, 2, 2, 2, 1, 2, 3, 1, 1, 2};
    EXPECT_EQ(packet_sizes(parts), wanted) << piece;
  }
}

TEST(Webm, BeginsAnewWithANewHeader) {
  const auto one = joined({webm_head(), block("81000080aabbcc")});
  const auto reader = open_webm_reader();
  std::vector<StreamPart> parts;
  // The first recorder is cut off in a block, and another one begins.
  reader->push(std::span(one).first(one.size() - 2), parts);
  EXPECT_EQ(parts.size(), 1U);
  reader->push(one, parts);
  EXPECT_EQ(packet_sizes(parts), std::vector<size_t>{3});
  reader->push(one, parts);
  EXPECT_EQ(packet_sizes(parts).size(), 2U);
}

TEST(Webm, RefusesWhatItCannotReadAndSkipsTheRest) {
  const auto refused = [](const std::vector<uint8_t>& stream, const std::string& text) {
    expect_refused("bad_request", text, [&] { parts_of(*open_webm_reader(), stream, 5); });
  };
  refused(webm_head("A_VORBIS"), "codec A_VORBIS; only Opus");
  refused(joined({webm_head(), block("8100")}), "damaged");
  refused(joined({webm_head(), unknown("a3")}), "damaged");
  refused(joined({webm_head(), {0, 0, 0}}), "damaged");
  refused(joined({webm_head(), block("81000006ff")}), "damaged");
  refused(joined({webm_head(), block("810000020501ffff")}), "damaged");
  refused(joined({webm_head(), bytes_of_hex("a3102000000000")}), "damaged");
  // An element of a terabyte that nobody wants costs nothing.
  const auto reader = open_webm_reader();
  std::vector<StreamPart> parts;
  reader->push(joined({webm_head(), bytes_of_hex("ec0200010000000000")}), parts);
  for (int i = 0; i < 100; ++i) reader->push(std::vector<uint8_t>(10000, 0xff), parts);
  EXPECT_EQ(parts.size(), 1U);
}

TEST(AacTables, AreCompleteCodes) {
  for (uint32_t number = 0; number <= aac::kBooks; ++number) {
    const aac::Book& book = number == 0 ? aac::scale_book() : aac::spectral_book(number);
    double sum = 0;
    size_t count = 0;
    for (size_t length = 0; length < book.counts.size(); ++length) {
      sum += book.counts[length] * std::exp2(-static_cast<double>(length + 1));
      count += book.counts[length];
    }
    EXPECT_EQ(sum, 1) << number;
    EXPECT_EQ(count, book.symbols.size());
    std::vector<uint16_t> symbols(book.symbols.begin(), book.symbols.end());
    std::sort(symbols.begin(), symbols.end());
    for (size_t i = 0; i < symbols.size(); ++i) EXPECT_EQ(symbols[i], i);
  }
  for (uint32_t rate = 0; rate < aac::kRates; ++rate) {
    EXPECT_EQ(aac::long_bands(rate).back(), 1024);
    EXPECT_EQ(aac::short_bands(rate).back(), 128);
  }
}

TEST(AacTransform, IsTheSumOfCosines) {
  for (const size_t size : {4UL, 128UL, 1024UL}) {
    std::vector<float> spectrum(size), samples(2 * size);
    for (size_t k = 0; k < size; ++k) spectrum[k] = static_cast<float>(std::sin(static_cast<double>(k * k) * 0.7));
    aac::InverseTransform(size).run(spectrum, samples);
    for (size_t n = 0; n < 2 * size; n += size / 4) {
      double sum = 0;
      for (size_t k = 0; k < size; ++k)
        sum += spectrum[k] * std::cos(std::numbers::pi / static_cast<double>(size) *
                                      (static_cast<double>(n) + 0.5 + static_cast<double>(size) / 2) *
                                      (static_cast<double>(k) + 0.5));
      EXPECT_NEAR(samples[n], sum / static_cast<double>(size), 1e-6) << size << " " << n;
    }
  }
}

TEST(AacDecoder, DecodesSilenceAndRefusesTheRest) {
  AacDecoder decoder(bytes_of_hex("1208"));
  EXPECT_EQ(decoder.rate(), 44100U);
  // One channel, gain 100, one long window without bands, no pulses, no shaping, no gain control, end.
  std::vector<float> mono;
  decoder.decode(bytes_of_hex("00c80007"), mono);
  ASSERT_EQ(mono.size(), 1024U);
  for (const float sample : mono) EXPECT_EQ(sample, 0);
  expect_refused("bad_request", "damaged", [&] { decoder.decode({}, mono); });
  expect_refused("bad_request", "of another profile", [] { AacDecoder(bytes_of_hex("0a08")); });
  expect_refused("bad_request", "960 samples", [] { AacDecoder(bytes_of_hex("120c")); });
  expect_refused("bad_request", "damaged", [] { AacDecoder(bytes_of_hex("12")); });
}

}  // namespace
}  // namespace quern::audio
