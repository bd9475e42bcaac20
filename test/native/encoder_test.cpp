#include "encoder/encoder.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/failure.hpp"
#include "encoder/limits.hpp"
#include "encoder_fixture.hpp"

namespace quern::encoder {
namespace {

constexpr Shape kShape{.width = 48,
                       .layers = 2,
                       .heads = 3,
                       .inner = 80,
                       .vocabulary = 50,
                       .positions = 600,
                       .types = 2,
                       .first_position = 0,
                       .epsilon = 1e-5f,
                       .activation = Activation::kGelu};

struct Ragged {
  std::vector<int32_t> ids, lengths, types;
};

Ragged ragged(const Shape& shape, const std::vector<int32_t>& lengths) {
  Ragged texts{{}, lengths, {}};
  for (const int32_t length : lengths)
    for (int32_t i = 0; i < length; ++i) {
      texts.ids.push_back((i * 7 + length) % static_cast<int32_t>(shape.vocabulary));
      texts.types.push_back(shape.types > 1 && i > length / 2 ? 1 : 0);
    }
  return texts;
}

/// The largest difference to the pass in double precision, and the least cosine of a row with its own.
struct Distance {
  double largest = 0;
  double cosine = 1;
};

Distance distance(const RandomEncoder& model, const Ragged& texts, const std::vector<float>& found) {
  Distance seen;
  size_t token = 0, at = 0;
  for (const int32_t length : texts.lengths) {
    const auto first = static_cast<std::ptrdiff_t>(token), last = static_cast<std::ptrdiff_t>(token) + length;
    for (const auto& row : model.pass({texts.ids.begin() + first, texts.ids.begin() + last},
                                      {texts.types.begin() + first, texts.types.begin() + last})) {
      double dot = 0, own = 0, other = 0;
      for (const double wanted : row) {
        const double value = at < found.size() ? found[at] : NAN;
        ++at;
        // A comparison that NaN fails.
        if (!(std::abs(value - wanted) <= seen.largest)) seen.largest = std::abs(value - wanted);
        dot += value * wanted;
        own += value * value;
        other += wanted * wanted;
      }
      const double cosine = dot / std::sqrt(own * other);
      if (!(cosine >= seen.cosine)) seen.cosine = cosine;
    }
    token += static_cast<size_t>(length);
  }
  EXPECT_EQ(at, found.size());
  return seen;
}

class EncoderTest : public testing::TestWithParam<Isa> {
 protected:
  Distance of(const RandomEncoder& model, const std::vector<int32_t>& lengths, size_t threads = 1) {
    Encoder encoder(model.shape, model.source, threads, GetParam());
    const Ragged texts = ragged(model.shape, lengths);
    const std::vector<float> found = encoder.run({texts.ids, texts.lengths, texts.types});
    EXPECT_EQ(found, encoder.run({texts.ids, texts.lengths, texts.types})) << "a second run";
    return distance(model, texts, found);
  }
};

INSTANTIATE_TEST_SUITE_P(Sets, EncoderTest, testing::ValuesIn(isas()));

TEST_P(EncoderTest, FollowsTheEquationsForTextsOfAnyLength) {
  const RandomEncoder model(kShape, {});
  const Distance seen = of(model, {1, 5, 13, 1, 14, 15, 27, 33, 2, 100, 3});
  EXPECT_LT(seen.largest, 0.01);
  EXPECT_GT(seen.cosine, 0.999999);
  EXPECT_LT(of(model, {1}).largest, 0.01);
  EXPECT_LT(of(model, {512, 7, 40}).largest, 0.01) << "longer than a slice";
}

TEST_P(EncoderTest, FollowsThemForOddShapes) {
  Shape odd = kShape;
  odd.width = 35;
  odd.heads = 5;
  odd.inner = 33;
  odd.types = 0;
  odd.first_position = 2;
  odd.activation = Activation::kGeluTanh;
  EXPECT_GT(of(RandomEncoder(odd, {}), {3, 1, 20}).cosine, 0.999999);
  Shape deep = kShape;
  deep.width = 400;
  deep.heads = 8;
  deep.inner = 450;
  deep.activation = Activation::kRelu;
  EXPECT_GT(of(RandomEncoder(deep, {}), {9, 17}).cosine, 0.999999);
  Shape one = kShape;
  one.width = one.heads = one.inner = one.layers = one.vocabulary = one.types = 1;
  of(RandomEncoder(one, {}), {4, 1});
}

TEST_P(EncoderTest, KeepsFloatsThatShortsCannotHold) {
  RandomEncoder::Options large;
  large.shorts = false;
  const RandomEncoder model(kShape, large);
  EXPECT_LT(of(model, {4, 19}).largest, 1e-3);
  const Encoder shorts(kShape, RandomEncoder(kShape, {}).source, 1), floats(kShape, model.source, 1);
  EXPECT_GT(floats.bytes(), shorts.bytes());
}

TEST_P(EncoderTest, ShortsHoldWeightsOfAnySize) {
  Shape linear = kShape;
  linear.activation = Activation::kRelu;
  RandomEncoder model(linear, {});
  const size_t bytes = Encoder(linear, model.source, 1).bytes();
  // One product's numbers are far beyond halves, the next one's far below; what comes of both is as before.
  const auto times = [](std::span<const float> numbers, float factor) {
    for (const float& number : numbers) const_cast<float&>(number) *= factor;
  };
  for (const LayerSource& layer : model.source.layers) {
    times(layer.up.weights.floats, 1e9f);
    times(layer.up.bias, 1e9f);
    times(layer.down.weights.floats, 1e-9f);
    times(layer.query.weights.floats, 1e-12f);
    times(layer.query.bias, 1e-12f);
    times(layer.key.weights.floats, 1e12f);
    times(layer.key.bias, 1e12f);
  }
  EXPECT_GT(of(model, {3, 20}).cosine, 0.999999);
  EXPECT_EQ(Encoder(linear, model.source, 1).bytes(), bytes) << "and they are shorts all the same";
}

TEST_P(EncoderTest, NumbersThatAreNoneReachTheResults) {
  const std::vector<int32_t> ids{1, 2, 3}, lengths{3};
  for (const int place : {0, 1, 2, 3}) {
    RandomEncoder model(kShape, {});
    model.add_dense(48, 9, Activation::kRelu);
    auto& layer = model.source.layers[0];
    const std::span<const float> spoilt = place == 0   ? layer.value.bias
                                          : place == 1 ? layer.up.weights.floats
                                          : place == 2 ? layer.query.weights.floats
                                                       : model.source.head.back().dense.bias;
    const_cast<float&>(spoilt[3]) = NAN;
    const std::vector<float> results = Encoder(kShape, model.source, 1, GetParam()).run({ids, lengths, {}});
    // A bias of the head spoils its own column alone.
    for (size_t i = 0; i < results.size(); ++i)
      ASSERT_EQ(std::isnan(results[i]), place != 3 || i % 9 == 3) << place << " " << i;
  }
}

TEST_P(EncoderTest, BytesFollowTheEquationsOfTheirNumbers) {
  // Weights of all sizes leave rows seven bits there.
  const double least = GetParam() == Isa::kAvx2 ? 0.999 : 0.9995;
  for (int mask = 0; mask < 8; ++mask) {
    RandomEncoder::Options options;
    options.bytes = true;
    options.is_signed = (mask & 1) == 0;
    options.zeros = (mask & 2) != 0;
    options.own_scales = (mask & 4) != 0;
    RandomEncoder model(kShape, options);
    EXPECT_GT(of(model, {1, 6, 30}).cosine, least) << mask;
    model.take(HeadStepSource::Kind::kTakeFirst);
    EXPECT_GT(of(model, {1, 6, 30, 2}, 3).cosine, least) << mask;
  }
}

TEST_P(EncoderTest, ProductsOfTheSameRowsMayHaveBytesOfDifferentSizes) {
  RandomEncoder::Options options;
  options.bytes = true;
  RandomEncoder model(kShape, options);
  for (const LayerSource& layer : model.source.layers)
    for (const uint8_t& byte : layer.query.weights.quantised.bytes)
      const_cast<uint8_t&>(byte) = static_cast<uint8_t>(static_cast<int8_t>(byte) / 2);
  EXPECT_GT(of(model, {1, 6, 30}).cosine, 0.999);
  model.take(HeadStepSource::Kind::kTakeFirst);
  EXPECT_GT(of(model, {1, 6, 30}, 2).cosine, 0.999);
}

TEST_P(EncoderTest, ThreadsChangeNothing) {
  RandomEncoder::Options bytes;
  bytes.bytes = true;
  for (const auto& options : {RandomEncoder::Options{}, bytes}) {
    RandomEncoder model(kShape, options), firsts(kShape, options);
    model.add_dense(48, 9, Activation::kTanh);
    firsts.take(HeadStepSource::Kind::kTakeFirst);
    const Ragged texts = ragged(kShape, {1, 40, 9, 300});
    for (const RandomEncoder* each : {&model, &firsts}) {
      const auto run = [&](size_t threads) {
        return Encoder(kShape, each->source, threads, GetParam()).run({texts.ids, texts.lengths, texts.types});
      };
      for (const size_t threads : {2u, 3u, 7u}) EXPECT_EQ(run(1), run(threads)) << threads;
    }
  }
}

TEST_P(EncoderTest, HeadsTakeTheFirstTokenTheMeanOrEveryOne) {
  using Kind = HeadStepSource::Kind;
  for (const Kind kind : {Kind::kTakeFirst, Kind::kTakeMean}) {
    RandomEncoder pooled(kShape, {});
    pooled.take(kind);
    EXPECT_LT(of(pooled, {300, 2}).largest, 0.01);
    pooled.add_dense(48, 48, Activation::kTanh);
    pooled.add_dense(48, 1, Activation::kNone);
    EXPECT_LT(of(pooled, {3, 1, 90, 200, 30}, 2).largest, 0.01);
    RandomEncoder late(kShape, {});
    late.add_dense(48, 70, Activation::kGelu);
    late.take(kind);
    EXPECT_LT(of(late, {3, 8}).largest, 0.01);
  }
  RandomEncoder labels(kShape, {});
  labels.add_dense(48, 5, Activation::kRelu);
  EXPECT_LT(of(labels, {3, 33}).largest, 0.01);
}

TEST_P(EncoderTest, HeadsOfFloatsStandOnLayersOfBytes) {
  RandomEncoder::Options bytes;
  bytes.bytes = true;
  for (const bool shorts : {true, false}) {
    RandomEncoder::Options options;
    options.shorts = shorts;
    RandomEncoder model(kShape, bytes), floats(kShape, options);
    floats.take(HeadStepSource::Kind::kTakeFirst);
    floats.add_dense(48, 40, Activation::kNone);
    model.source.head = floats.source.head;
    // More texts than a tile of either kind has rows.
    EXPECT_GT(of(model, std::vector<int32_t>(31, 2)).cosine, 0.99) << shorts;
  }
}

void expect_failure(const std::function<void()>& call, const std::string& kind, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown: " << part;
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), kind);
    EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
  }
}

TEST(EncoderLimitsTest, RefusesWhatDoesNotFit) {
  const RandomEncoder model(kShape, {});
  Encoder encoder(kShape, model.source, 1);
  using Numbers = std::vector<int32_t>;
  const auto run = [&](const Numbers& ids, const Numbers& lengths, const Numbers& types = {}) {
    return [&encoder, ids, lengths, types] { encoder.run({ids, lengths, types}); };
  };
  expect_failure(run({50}, {1}), "invalid", "ids holds 50; allowed is 0 to 49");
  expect_failure(run({-1}, {1}), "invalid", "ids holds -1");
  expect_failure(run({1, 2}, {1}), "invalid", "lengths add up to 1 tokens, ids has 2");
  expect_failure(run({}, {0}), "invalid", "lengths holds 0; allowed is 1 to 600");
  expect_failure(run(Numbers(601), {601}), "invalid", "lengths holds 601");
  expect_failure(run({1}, {INT32_MIN}), "invalid", "lengths holds -2147483648");
  expect_failure(run({1}, {1}, {2}), "invalid", "types holds 2; allowed is 0 to 1");
  expect_failure(run({1}, {1}, {0, 0}), "invalid", "types has 2 numbers, ids 1");
  expect_failure(run(Numbers(kMostTokens + 1), {}), "too_large", "65537 tokens");
  EXPECT_TRUE(encoder.run({}).empty());
  encoder.stop();
  expect_failure(run({1}, {1}), "unavailable", "ends");

  const auto open = [&](auto change) {
    return [&model, change] {
      Shape shape = kShape;
      EncoderSource source = model.source;
      change(shape, source);
      Encoder(shape, source, 1);
    };
  };
  using S = Shape;
  using W = EncoderSource;
  expect_failure(open([](S& s, W&) { s.width = 0; }), "invalid", "width is 0; allowed is 1 to 8192");
  expect_failure(open([](S& s, W&) { s.heads = 5; }), "invalid", "width is 48, which 5 heads cannot share");
  expect_failure(open([](S& s, W&) { s.first_position = 600; }), "invalid", "firstPosition is 600");
  expect_failure(open([](S& s, W&) { s.epsilon = NAN; }), "invalid", "epsilon");
  expect_failure(open([](S&, W& w) { w.layers.pop_back(); }), "invalid", "weights have 1 layers, the shape 2");
  expect_failure(open([](S&, W& w) { w.words.floats = w.words.floats.subspan(1); }), "invalid",
                 "words has 2399 numbers");
  expect_failure(open([](S&, W& w) { w.layers[1].up.outputs = 81; }), "invalid", "layers[1].up is [48, 81]");
  expect_failure(open([](S&, W& w) { w.layers[0].key.bias = w.layers[0].key.bias.subspan(1); }), "invalid",
                 "layers[0].key.bias has 47 numbers");
  expect_failure(open([](S&, W& w) { w.norm.bias = {}; }), "invalid", "norm.bias has 0 numbers");
  const HeadStepSource first{HeadStepSource::Kind::kTakeFirst, {}, Activation::kNone};
  expect_failure(open([&](S&, W& w) { w.head = {first, first}; }), "invalid", "head[1] takes tokens a second time");
}

}  // namespace
}  // namespace quern::encoder
