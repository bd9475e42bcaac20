// What makes samples of samples: the resampler, time stretch, the detector of voices, and the forms of samples.
#include "audio/resampler.hpp"
#include "audio/samples.hpp"
#include "audio/time_stretch.hpp"
#include "audio/voice_activity.hpp"
#include "audio/wav.hpp"
#include "audio_fixture.hpp"

namespace quern::audio {
namespace {

std::vector<Isa> sets() {
  return best_isa() == Isa::kPortable ? std::vector{Isa::kPortable} : std::vector{Isa::kPortable, best_isa()};
}

constexpr std::pair<int, int> kRates[] = {{48000, 16000}, {44100, 16000}, {24000, 16000},
                                          {16000, 24000}, {22050, 24000}, {8000, 16000},
                                          {44101, 16000}, {11025, 16000}, {192000, 8000}};

TEST(Resampler, KeepsTonesAndDropsWhatTheLowerRateCannotHold) {
  for (const auto& [from, to] : kRates) {
    const double lower = std::min(from, to);
    Resampler kept(from, to);
    const auto samples = tone(lower * 0.3, from, 0.25);
    const auto out = passed(kept, samples);
    EXPECT_EQ(out.size(),
              (samples.size() * static_cast<size_t>(to) + static_cast<size_t>(from) - 1) / static_cast<size_t>(from));
    double error = 0;
    for (size_t i = out.size() / 4; i < out.size() * 3 / 4; ++i) {
      const double wanted = 0.5 * std::sin(2 * std::numbers::pi * lower * 0.3 * static_cast<double>(i) / to);
      error = std::max(error, std::abs(out[i] - wanted));
    }
    EXPECT_LT(error, 1e-5) << from << " to " << to;
    for (double hertz = lower * 0.501; hertz < from * 0.49; hertz += lower / 7) {
      Resampler dropped(from, to);
      EXPECT_LT(level(passed(dropped, tone(hertz, from, 0.15))), -93) << from << " to " << to << ", " << hertz << " Hz";
    }
  }
}

TEST(Resampler, GivesTheSameInAnyPiecesAndOnAnyInstructionSet) {
  for (const auto& [from, to] : kRates) {
    const auto samples = tone(700, from, 0.05);
    Resampler whole(from, to, Isa::kPortable);
    const auto expected = passed(whole, samples, samples.size());
    for (const Isa isa : sets()) {
      for (const size_t piece : {1UL, 7UL, 500UL}) {
        Resampler stream(from, to, isa);
        const auto out = passed(stream, samples, piece);
        ASSERT_EQ(out.size(), expected.size());
        for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 1e-6);
        // After the flush it begins anew.
        EXPECT_EQ(passed(stream, samples, piece), out);
      }
    }
  }
}

TEST(Resampler, LooksTwoMillisecondsAhead) {
  Resampler stream(48000, 16000);
  std::vector<float> out;
  const auto samples = tone(300, 48000, 0.1);
  stream.push(samples, out);
  EXPECT_GE(out.size() / 16000.0, 0.1 - 0.0023);
}

TEST(Resampler, RefusesRatesBeyondItsLimits) {
  for (const auto& [from, to] : {std::pair{3999, 16000}, {16000, 0}, {-1, 16000}, {16000, 192001}})
    expect_refused("invalid", "allowed is 4000 to 192000", [&] { Resampler(from, to); });
}

TEST(TimeStretch, KeepsThePitch) {
  const int rate = 24000;
  const auto samples = tone(240, rate, 1);
  for (const double speed : {0.25, 0.5, 0.8, 1.0, 1.3, 2.0, 3.0, 4.0}) {
    for (const Isa isa : sets()) {
      TimeStretch stream(rate, speed, isa);
      const auto out = passed(stream, samples);
      EXPECT_EQ(out.size(), static_cast<size_t>(std::llround(static_cast<double>(samples.size()) / speed))) << speed;
      double same = 0, power = 0;
      for (size_t i = out.size() / 4; i < out.size() * 3 / 4; ++i) {
        same += static_cast<double>(out[i]) * out[i + 100];
        power += static_cast<double>(out[i]) * out[i];
      }
      EXPECT_GT(same / power, 0.98) << speed;
      EXPECT_NEAR(level(out), 0, 0.5) << speed;
      TimeStretch again(rate, speed, isa);
      EXPECT_EQ(passed(again, samples, 33), out) << "pieces do not show";
    }
  }
  expect_refused("invalid", "speed", [] { TimeStretch(24000, 4.01); });
  expect_refused("invalid", "speed", [] { TimeStretch(24000, NAN); });
}

TEST(TimeStretch, GivesNothingForNothing) {
  TimeStretch stream(24000, 0.5);
  std::vector<float> out;
  stream.flush(out);
  EXPECT_TRUE(out.empty());
  stream.push(std::vector<float>{0.5F}, out);
  stream.flush(out);
  EXPECT_EQ(out.size(), 2U);
}

TEST(EnergyVoiceActivity, HearsWhatIsLoudAndGetsUsedToNoise) {
  EnergyVoiceActivity detector(512, 0.015F);
  std::vector<float> heard;
  detector.push(std::vector<float>(512 * 10), heard);
  detector.push(tone(200, 16000, 0.32), heard);
  ASSERT_EQ(heard.size(), 20U);
  for (size_t i = 0; i < 10; ++i) EXPECT_LT(heard[i], 0.1);
  for (size_t i = 10; i < 20; ++i) EXPECT_GT(heard[i], 0.8);
  heard.clear();
  const auto steady = tone(100, 16000, 16);
  std::vector<float> quiet;
  for (const float sample : steady) quiet.push_back(sample * 0.1F);
  for (size_t at = 0; at < quiet.size(); at += 100)
    detector.push(std::span(quiet).subspan(at, std::min<size_t>(100, quiet.size() - at)), heard);
  EXPECT_EQ(heard.size(), quiet.size() / 512);
  EXPECT_LT(heard.back(), 0.5);
  heard.clear();
  detector.push(std::vector<float>(512, NAN), heard);
  EXPECT_GT(heard[0], 0.5);
  expect_refused("invalid", "frameSamples", [] { EnergyVoiceActivity(0, 0.1F); });
  expect_refused("invalid", "threshold", [] { EnergyVoiceActivity(512, 1.0F); });
}

TEST(Samples, GoToBytesAndBack) {
  const std::vector<float> samples = {0, 0.5F, -0.5F, 1, -1, 2, -7, NAN, INFINITY, 1e-30F};
  for (const auto& [name, least] :
       {std::pair{"u8", 0.02}, {"s8", 0.02}, {"s16", 1e-4}, {"s24", 1e-6}, {"s32", 1e-6}, {"f32", 1e-9}}) {
    const Encoding encoding = encoding_of(name);
    std::vector<uint8_t> bytes(samples.size() * bytes_of(encoding));
    encode_samples(samples, encoding, bytes);
    std::vector<float> back;
    EXPECT_EQ(decode_frames(bytes, encoding, 1, back), bytes.size());
    ASSERT_EQ(back.size(), samples.size());
    for (size_t i = 0; i < back.size(); ++i) {
      const float wanted = std::isnan(samples[i]) ? 0 : std::clamp(samples[i], -1.0F, 1.0F);
      EXPECT_NEAR(back[i], wanted, least) << name << " " << i;
    }
    std::vector<float> mixed;
    EXPECT_EQ(decode_frames(std::span(bytes).first(bytes.size() - 1), encoding, 2, mixed),
              bytes.size() - 2 * bytes_of(encoding));
    EXPECT_NEAR(mixed[0], 0.25, 0.02);
    std::vector<uint8_t> narrow(bytes.size() - 1);
    expect_refused("invalid", "too short", [&] { encode_samples(samples, encoding, narrow); });
  }
  expect_refused("invalid", "encoding is \"mp3\"", [] { encoding_of("mp3"); });
  std::vector<float> logarithmic;
  decode_frames(std::vector<uint8_t>{0xff, 0x80, 0x00}, Encoding::kMulaw, 1, logarithmic);
  decode_frames(std::vector<uint8_t>{0xd5, 0xaa, 0x2a}, Encoding::kAlaw, 1, logarithmic);
  const float wanted[] = {0, 32124 / 32768.0F, -32124 / 32768.0F, 8 / 32768.0F, 32256 / 32768.0F, -32256 / 32768.0F};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(logarithmic[i], wanted[i], 1e-6) << i;
}

TEST(WavHeader, TellsSizesOrThatNobodyKnowsThem) {
  const auto whole = wav_header(24000, Encoding::kS16, 8);
  EXPECT_EQ(whole[4], 44);
  EXPECT_EQ(whole[40], 8);
  const auto stream = wav_header(24000, Encoding::kF32, std::nullopt);
  EXPECT_EQ(stream[40], 0xff);
  EXPECT_EQ(stream[20], 3);
  expect_refused("too_large", "less than 4 GiB", [] { wav_header(24000, Encoding::kS16, uint64_t{1} << 32); });
}

}  // namespace
}  // namespace quern::audio
