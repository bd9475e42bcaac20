#include "encoder_source.hpp"

#include <string>
#include <vector>

#include "../encoder/limits.hpp"
#include "arguments.hpp"

namespace quern::binding {
namespace {

using encoder::Activation;
using encoder::DenseSource;
using encoder::HeadStepSource;
using encoder::LayerSource;
using encoder::MatrixSource;
using encoder::NormSource;

bool is_floats(const Napi::Value& value) {
  return value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_float32_array;
}

size_t count(const Napi::Value& value, const std::string& name) {
  const int32_t given = integer(value, name);
  if (given < 0) throw Failure("invalid", name + " is " + std::to_string(given) + "; allowed is 0 or more.");
  return static_cast<size_t>(given);
}

Activation activation(const Napi::Value& value, const std::string& name, std::initializer_list<Activation> allowed) {
  const std::string given = text(value, name);
  std::string names;
  for (const Activation one : allowed) {
    const char* known = one == Activation::kNone       ? "none"
                        : one == Activation::kGelu     ? "gelu"
                        : one == Activation::kGeluTanh ? "gelu_tanh"
                        : one == Activation::kRelu     ? "relu"
                                                       : "tanh";
    if (given == known) return one;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  throw Failure("invalid", name + " is '" + given + "'; allowed are " + names + ".");
}

/// The items of an array, of which there may be `most`.
template <class Each>
void each_of(const Napi::Value& value, const std::string& name, size_t most, Each each) {
  if (!value.IsArray()) throw Failure("invalid", name + " must be an array.");
  const auto array = value.As<Napi::Array>();
  if (array.Length() > most)
    throw Failure("too_large", name + " has " + std::to_string(array.Length()) + " items; allowed are " +
                                   std::to_string(most) + ".");
  for (uint32_t i = 0; i < array.Length(); ++i) each(array.Get(i), name + "[" + std::to_string(i) + "]");
}

/// Reads weights in place. Getters of what is read may transfer arrays that were read before: they are looked at again
/// at the end.
class Reader {
 public:
  encoder::EncoderSource weights(const Napi::Value& value) {
    encoder::EncoderSource source = read(value);
    for (const Seen& seen : seen_)
      if (seen.array.As<Napi::TypedArray>().ElementLength() != seen.count)
        throw Failure("invalid", seen.name + " was transferred while the weights were read.");
    return source;
  }

 private:
  struct Seen {
    Napi::Value array;
    size_t count;
    std::string name;
  };

  template <typename Item>
  std::span<const Item> view(const Napi::Value& value, napi_typedarray_type type, const std::string& name,
                             const char* required) {
    if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
      throw Failure("invalid", name + " must be " + required + ".");
    const auto array = value.As<Napi::TypedArrayOf<Item>>();
    const size_t count = array.ElementLength();
    // A transferred array has no items, and maybe no memory.
    if (count == 0) return {};
    seen_.push_back({value, count, name});
    return {array.Data(), count};
  }

  std::span<const float> floats(const Napi::Value& value, const std::string& name) {
    return view<float>(value, napi_float32_array, name, "a Float32Array");
  }

  std::span<const float> floats_or_none(const Napi::Value& value, const std::string& name) {
    return value.IsUndefined() ? std::span<const float>() : floats(value, name);
  }

  std::span<const int32_t> ints(const Napi::Value& value, const std::string& name) {
    return view<int32_t>(value, napi_int32_array, name, "an Int32Array");
  }

  /// `from` has scales beside its weights where these are bytes.
  void read_bytes(const Napi::Object& from, const std::string& name, MatrixSource& matrix) {
    const Napi::Value weights = from.Get("weights");
    const bool is_signed = weights.IsTypedArray() && weights.As<Napi::TypedArray>().TypedArrayType() == napi_int8_array;
    if (is_signed) {
      const std::span<const int8_t> bytes = view<int8_t>(weights, napi_int8_array, name, "");
      matrix.quantised.bytes = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
    } else {
      matrix.quantised.bytes =
          view<uint8_t>(weights, napi_uint8_array, name + ".weights", "a Float32Array, Int8Array or Uint8Array");
    }
    matrix.quantised.is_signed = is_signed;
    matrix.quantised.scales = floats(from.Get("scales"), name + ".scales");
    if (matrix.quantised.scales.empty()) throw Failure("invalid", name + ".scales is empty.");
    if (!from.Get("zeroPoints").IsUndefined())
      matrix.quantised.zeros = ints(from.Get("zeroPoints"), name + ".zeroPoints");
  }

  DenseSource dense(const Napi::Value& value, const std::string& name) {
    const Napi::Object from = object(value, name);
    DenseSource source;
    source.inputs = count(from.Get("inputs"), name + ".inputs");
    source.outputs = count(from.Get("outputs"), name + ".outputs");
    source.bias = floats_or_none(from.Get("bias"), name + ".bias");
    if (is_floats(from.Get("weights"))) {
      source.weights.floats = floats(from.Get("weights"), name + ".weights");
      return source;
    }
    read_bytes(from, name, source.weights);
    source.input_scale = floats_or_none(from.Get("inputScale"), name + ".inputScale");
    return source;
  }

  NormSource norm(const Napi::Value& value, const std::string& name) {
    const Napi::Object from = object(value, name);
    return {floats(from.Get("weight"), name + ".weight"), floats(from.Get("bias"), name + ".bias")};
  }

  LayerSource layer(const Napi::Value& value, const std::string& name) {
    const Napi::Object from = object(value, name);
    const auto part = [&](const char* key) { return dense(from.Get(key), name + "." + key); };
    const auto part_norm = [&](const char* key) { return norm(from.Get(key), name + "." + key); };
    return {part("query"),
            part("key"),
            part("value"),
            part("output"),
            part("up"),
            part("down"),
            part_norm("attentionNorm"),
            part_norm("outputNorm")};
  }

  HeadStepSource head_step(const Napi::Value& value, const std::string& name) {
    using Kind = HeadStepSource::Kind;
    const Napi::Object from = object(value, name);
    if (!from.Get("take").IsUndefined()) {
      const std::string take = text(from.Get("take"), name + ".take");
      if (take != "first" && take != "mean")
        throw Failure("invalid", name + ".take is '" + take + "'; allowed are first and mean.");
      return {take == "first" ? Kind::kTakeFirst : Kind::kTakeMean, {}, Activation::kNone};
    }
    return {Kind::kDense, dense(from.Get("dense"), name + ".dense"),
            activation(from.Get("activation"), name + ".activation",
                       {Activation::kNone, Activation::kTanh, Activation::kGelu, Activation::kRelu})};
  }

  encoder::EncoderSource read(const Napi::Value& value) {
    const Napi::Object from = object(value, "weights");
    encoder::EncoderSource source;
    if (is_floats(from.Get("words")))
      source.words.floats = floats(from.Get("words"), "words");
    else
      read_bytes(object(from.Get("words"), "words"), "words", source.words);
    source.positions = floats(from.Get("positions"), "positions");
    source.types = floats_or_none(from.Get("types"), "types");
    source.norm = norm(from.Get("norm"), "norm");
    each_of(from.Get("layers"), "layers", encoder::kMostLayers,
            [&](const Napi::Value& item, const std::string& name) { source.layers.push_back(layer(item, name)); });
    each_of(from.Get("head"), "head", encoder::kMostHeadSteps,
            [&](const Napi::Value& item, const std::string& name) { source.head.push_back(head_step(item, name)); });
    return source;
  }

  std::vector<Seen> seen_;
};

}  // namespace

encoder::Shape encoder_shape(const Napi::Value& value) {
  const Napi::Object from = object(value, "shape");
  const auto size = [&](const char* name) { return count(from.Get(name), name); };
  encoder::Shape shape{};
  shape.width = size("width");
  shape.layers = size("layers");
  shape.heads = size("heads");
  shape.inner = size("inner");
  shape.vocabulary = size("vocabulary");
  shape.positions = size("positions");
  shape.types = size("types");
  shape.first_position = size("firstPosition");
  shape.epsilon = static_cast<float>(number(from.Get("epsilon"), "epsilon"));
  shape.activation =
      activation(from.Get("activation"), "activation", {Activation::kGelu, Activation::kGeluTanh, Activation::kRelu});
  return shape;
}

encoder::EncoderSource encoder_source(const Napi::Value& value) {
  return Reader().weights(value);
}

}  // namespace quern::binding
