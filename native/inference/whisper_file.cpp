#include "whisper_file.hpp"

#include <array>
#include <limits>
#include <unordered_map>
#include <vector>

#include "../base/failure.hpp"

namespace quern {
namespace {

constexpr uint32_t kMagic = 0x67676d6c;
/// The engine adds multiples of this to the number of a quantised file's type.
constexpr int32_t kVersionFactor = 1000;
constexpr int32_t kAudioContext = 1500;
constexpr int32_t kSpectrum = 201;
constexpr int32_t kWidthLimit = 4096;
constexpr int32_t kLayerLimit = 64;
constexpr int32_t kTextContextLimit = 4096;
constexpr uint32_t kWordLimit = 1024;
constexpr int kNameLimit = 64;
constexpr int32_t kF32 = 0;
constexpr int32_t kF16 = 1;

struct Type {
  int32_t file;   ///< as the head of a file counts
  int32_t id;     ///< as ggml counts
  int32_t block;  ///< values
  int32_t bytes;  ///< of a block
};
/// The types in which Whisper files are written.
constexpr std::array<Type, 12> kTypes{{{0, kF32, 1, 4},
                                       {1, kF16, 1, 2},
                                       {2, 2, 32, 18},
                                       {3, 3, 32, 20},
                                       {7, 8, 32, 34},
                                       {8, 6, 32, 22},
                                       {9, 7, 32, 24},
                                       {10, 10, 256, 84},
                                       {11, 11, 256, 110},
                                       {12, 12, 256, 144},
                                       {13, 13, 256, 176},
                                       {14, 14, 256, 210}}};

const Type& type_of(int32_t id) {
  for (const Type& type : kTypes)
    if (type.id == id) return type;
  throw Failure("internal", "Type " + std::to_string(id) + " is not listed.");
}

/// A tensor that the file must have.
struct Expected {
  std::array<int32_t, 3> shape;
  int32_t type;
  bool seen = false;
};
using Tensors = std::unordered_map<std::string, Expected>;

void add_layer(Tensors& all, const std::string& at, int32_t width, int32_t type) {
  const auto normalised = [&](const std::string& name) {
    all[at + name + ".weight"] = {{width, 1, 1}, kF32};
    all[at + name + ".bias"] = {{width, 1, 1}, kF32};
  };
  const auto attention = [&](const std::string& name) {
    normalised(name + "_ln");
    for (const char* part : {".query", ".key", ".value", ".out"}) {
      all[at + name + part + ".weight"] = {{width, width, 1}, type};
      // A bias of the keys adds the same to each score, so these models have none.
      if (std::string(part) != ".key") all[at + name + part + ".bias"] = {{width, 1, 1}, kF32};
    }
  };
  normalised("mlp_ln");
  all[at + "mlp.0.weight"] = {{width, 4 * width, 1}, type};
  all[at + "mlp.0.bias"] = {{4 * width, 1, 1}, kF32};
  all[at + "mlp.2.weight"] = {{4 * width, width, 1}, type};
  all[at + "mlp.2.bias"] = {{width, 1, 1}, kF32};
  attention("attn");
  if (at.front() == 'd') attention("cross_attn");
}

Tensors tensors_of(const WhisperShape& shape) {
  const int32_t width = shape.audio_width;
  const int32_t convolution = shape.type == kF32 ? kF32 : kF16;
  Tensors all;
  all["encoder.positional_embedding"] = {{width, shape.audio_context, 1}, kF32};
  all["encoder.conv1.weight"] = {{3, shape.mels, width}, convolution};
  all["encoder.conv1.bias"] = {{1, width, 1}, kF32};
  all["encoder.conv2.weight"] = {{3, width, width}, convolution};
  all["encoder.conv2.bias"] = {{1, width, 1}, kF32};
  for (const char* name : {"encoder.ln_post", "decoder.ln"}) {
    all[std::string(name) + ".weight"] = {{width, 1, 1}, kF32};
    all[std::string(name) + ".bias"] = {{width, 1, 1}, kF32};
  }
  all["decoder.positional_embedding"] = {{width, shape.text_context, 1}, kF32};
  all["decoder.token_embedding.weight"] = {{width, shape.vocabulary, 1}, shape.type};
  for (int32_t i = 0; i < shape.audio_layers; ++i)
    add_layer(all, "encoder.blocks." + std::to_string(i) + ".", width, shape.type);
  for (int32_t i = 0; i < shape.text_layers; ++i)
    add_layer(all, "decoder.blocks." + std::to_string(i) + ".", width, shape.type);
  return all;
}

class File {
 public:
  File(std::istream& in, uint64_t size, const std::string& name) : in_(in), size_(size), name_(name) {}

  WhisperShape check() {
    if (read<uint32_t>("the first four bytes") != kMagic)
      fail("it does not begin as a Whisper model in ggml form does");
    const WhisperShape shape = head();
    filters(shape);
    vocabulary(shape);
    Tensors tensors = tensors_of(shape);
    while (at_ < size_) tensor(tensors);
    for (const auto& [name, expected] : tensors)
      if (!expected.seen) fail("tensor " + name + " is missing");
    return shape;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Failure("invalid",
                  name_ + " is not a usable Whisper model: " + reason + ". Get the file again from its source.");
  }

  [[noreturn]] void fail(const std::string& what, int64_t value, const std::string& allowed) const {
    fail(what + " is " + std::to_string(value) + "; allowed is " + allowed);
  }

  void need(uint64_t bytes, const std::string& what) {
    if (bytes > size_ - at_)
      fail("it ends at byte " + std::to_string(size_) + ", and " + what + " would need " + std::to_string(bytes) +
           " bytes from byte " + std::to_string(at_) + " on");
    at_ += bytes;
  }

  void read_into(void* to, uint64_t bytes, const std::string& what) {
    need(bytes, what);
    if (!in_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes))) fail(what + " cannot be read");
  }

  template <typename Value>
  Value read(const char* what) {
    Value value{};
    read_into(&value, sizeof value, what);
    return value;
  }

  void skip(uint64_t bytes, const std::string& what) {
    need(bytes, what);
    if (!in_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur)) fail(what + " cannot be passed over");
  }

  int32_t between(const char* what, int32_t least, int32_t most) {
    const auto value = read<int32_t>(what);
    if (value < least || value > most)
      fail(what, value, least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most));
    return value;
  }

  WhisperShape head() {
    WhisperShape shape;
    shape.vocabulary = between("n_vocab", 51864, 51866);
    shape.audio_context = between("n_audio_ctx", kAudioContext, kAudioContext);
    shape.audio_width = between("n_audio_state", 1, kWidthLimit);
    shape.audio_heads = between("n_audio_head", 1, kWidthLimit);
    shape.audio_layers = between("n_audio_layer", 1, kLayerLimit);
    shape.text_context = between("n_text_ctx", 16, kTextContextLimit);
    shape.text_width = between("n_text_state", shape.audio_width, shape.audio_width);
    shape.text_heads = between("n_text_head", 1, kWidthLimit);
    shape.text_layers = between("n_text_layer", 1, kLayerLimit);
    shape.mels = between("n_mels", 80, 128);
    if (shape.mels != 80 && shape.mels != 128) fail("n_mels", shape.mels, "80 or 128");
    for (const int32_t heads : {shape.audio_heads, shape.text_heads})
      if (shape.audio_width % heads != 0) fail("the number of heads", heads, "a divisor of n_audio_state");
    const auto file_type = read<int32_t>("ftype");
    shape.type = -1;
    for (const Type& type : kTypes)
      if (file_type >= 0 && type.file == file_type % kVersionFactor) shape.type = type.id;
    if (shape.type < 0) fail("ftype", file_type, "0 to 3 or 7 to 14, plus thousands for the version of a quantisation");
    const int32_t block = type_of(shape.type).block;
    if (shape.audio_width % block != 0)
      fail("n_audio_state", shape.audio_width, "a multiple of " + std::to_string(block) + ", the block of its type");
    return shape;
  }

  void filters(const WhisperShape& shape) {
    between("the number of mel filters", shape.mels, shape.mels);
    between("the length of a mel filter", kSpectrum, kSpectrum);
    skip(static_cast<uint64_t>(shape.mels) * kSpectrum * sizeof(float), "the mel filters");
  }

  void vocabulary(const WhisperShape& shape) {
    const int32_t words = between("the number of tokens", 1, shape.vocabulary);
    for (int32_t i = 0; i < words; ++i) {
      const auto length = read<uint32_t>("the length of a token");
      if (length > kWordLimit) fail("the length of token " + std::to_string(i), length, "0 to 1024");
      skip(length, "a token");
    }
  }

  void tensor(Tensors& tensors) {
    const int32_t dimensions = between("the number of dimensions of a tensor", 1, 3);
    const int32_t length = between("the length of a tensor's name", 1, kNameLimit);
    const auto type = read<int32_t>("the type of a tensor");
    std::array<int32_t, 3> shape{1, 1, 1};
    for (int32_t i = 0; i < dimensions; ++i) shape[i] = read<int32_t>("a dimension of a tensor");
    std::string name(static_cast<size_t>(length), '\0');
    read_into(name.data(), name.size(), "the name of a tensor");
    const auto found = tensors.find(name);
    if (found == tensors.end()) fail("it has a tensor that no model of its shape has");
    Expected& expected = found->second;
    if (expected.seen) fail("tensor " + name + " is there twice");
    expected.seen = true;
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i] != expected.shape[i])
        fail("dimension " + std::to_string(i) + " of tensor " + name, shape[i], std::to_string(expected.shape[i]));
    if (type != expected.type) fail("the type of tensor " + name, type, std::to_string(expected.type));
    const Type& form = type_of(type);
    const uint64_t values =
        static_cast<uint64_t>(shape[0]) * static_cast<uint64_t>(shape[1]) * static_cast<uint64_t>(shape[2]);
    skip(values / static_cast<uint64_t>(form.block) * static_cast<uint64_t>(form.bytes), "tensor " + name);
  }

  std::istream& in_;
  const uint64_t size_;
  const std::string& name_;
  uint64_t at_ = 0;
};

}  // namespace

WhisperShape check_whisper_file(std::istream& in, uint64_t size, const std::string& name) {
  return File(in, size, name).check();
}

}  // namespace quern
