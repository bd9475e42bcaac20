#include "pass.hpp"

#include <algorithm>

namespace quern::encoder {
namespace {

/// The most of something over the products of the layers.
template <class Of>
size_t most_of(const std::vector<PackedLayer>& layers, Of of) {
  size_t most = 0;
  for (const PackedLayer& layer : layers)
    for (const PackedDense* dense : {&layer.query, &layer.key, &layer.value, &layer.output, &layer.up, &layer.down})
      most = std::max(most, of(*dense));
  return most;
}

/// And over those of the head.
template <class Of>
size_t most_of(const std::vector<PackedStep>& head, Of of) {
  size_t most = 0;
  for (const PackedStep& step : head)
    for (const PackedDense& dense : step.dense) most = std::max(most, of(dense));
  return most;
}

/// The most rows of a tile that goes through some products.
template <class Products>
size_t tile_rows(const EncoderKernels& kernels, const Products& products) {
  const auto other = [](const PackedDense& dense) -> size_t { return dense.kind() != PackedDense::Kind::kBytes; };
  return most_of(products, other) == 0 ? kernels.byte_rows : kernels.tile_rows;
}

}  // namespace

Pass::Pass(const PackedEncoder& encoder, const EncoderKernels& kernels, Team& team, size_t tokens, size_t longest)
    : encoder_(encoder),
      kernels_(kernels),
      team_(team),
      tokens_(tokens),
      longest_(longest),
      layer_tile_(tile_rows(kernels, encoder.layers)),
      head_tile_(tile_rows(kernels, encoder.head)),
      next_heads_(encoder.layers.size()) {
  const Shape& shape = encoder.shape;
  const auto lines = [&](size_t width) {
    const size_t step = padded(width, kDepthStep);
    return Lines{arena_.take<float>(tokens * step).data(), step};
  };
  states_ = lines(shape.width);
  queries_ = lines(heads_line(shape));
  keys_ = lines(heads_line(shape));
  values_ = lines(heads_line(shape));
  mixed_ = lines(heads_line(shape));
  inner_ = lines(shape.inner);
  if (!encoder.head.empty()) {
    size_t widest = shape.width;
    for (const PackedStep& step : encoder.head)
      for (const PackedDense& dense : step.dense) widest = std::max(widest, dense.panels() * kPanel);
    for (Lines& buffer : head_) buffer = lines(widest);
  }
  take_rows(encoder);
  for (size_t thread = 0; thread < team.size(); ++thread)
    scratch_.push_back(arena_.take<float>(attention_scratch(longest, head_line(shape))));
}

void Pass::take_rows(const PackedEncoder& encoder) {
  using Kind = PackedDense::Kind;
  const auto most = [&](auto number) {
    return std::max(most_of(encoder.layers, number), most_of(encoder.head, number));
  };
  const size_t floats =
      most([](const PackedDense& dense) { return dense.kind() == Kind::kFloats ? dense.depth() : 0; });
  const size_t words = most([](const PackedDense& dense) { return dense.words(); });
  size_t used = 1;
  for (const PackedLayer& layer : encoder.layers) used = std::max({used, layer.key_rows + 1, layer.value_rows + 1});
  for (size_t i = 0; i < used; ++i) {
    prepared_[i].floats = arena_.take<float>(tokens_ * floats);
    prepared_[i].words = arena_.take<uint32_t>(tokens_ * words);
    prepared_[i].scales = arena_.take<float>(words > 0 ? tokens_ : 0);
    prepared_[i].terms = arena_.take<ByteRow>(words > 0 ? tokens_ : 0);
  }
  for (size_t thread = 0; thread < team_.size(); ++thread)
    lines_.push_back(arena_.take<uint32_t>(kernels_.byte_rows * padded(words, kLane)));
}

void Pass::run(const Slice& slice) {
  texts_.clear();
  size_t first = 0;
  for (const int32_t length : slice.lengths) {
    texts_.push_back({first, static_cast<size_t>(length)});
    first += static_cast<size_t>(length);
  }
  tiles_ = Tiles::of(first, layer_tile_);
  for (std::atomic<size_t>& next : next_heads_) next.store(0, std::memory_order_relaxed);
  team_.run([&](size_t thread) { go(thread, slice); });
}

void Pass::go(size_t thread, const Slice& slice) {
  embed(thread, slice);
  for (size_t i = 0; i < encoder_.layers.size(); ++i) layer(thread, i);
  head(thread, slice);
}

Pass::Range Pass::share(size_t thread, size_t count) const {
  return {thread * count / team_.size(), (thread + 1) * count / team_.size()};
}

Pass::Range Pass::own_rows(size_t thread, Tiles tiles) const {
  const Range own = share(thread, tiles.count);
  return {tiles.first(own.first), tiles.first(own.last)};
}

void Pass::embed(size_t thread, const Slice& slice) {
  const Shape& shape = encoder_.shape;
  const Range rows = own_rows(thread, tiles_);
  for (const Text& text : texts_) {
    const size_t last = std::min(rows.last, text.first + text.tokens);
    for (size_t row = std::max(rows.first, text.first); row < last; ++row) {
      float* const to = states_.values + row * states_.step;
      std::fill(to, to + states_.step, 0.0f);
      encoder_.words.add(static_cast<size_t>(slice.ids[row]), to);
      encoder_.positions.add(shape.first_position + row - text.first, to);
      if (shape.types > 0) encoder_.types.add(slice.types.empty() ? 0 : static_cast<size_t>(slice.types[row]), to);
    }
  }
  norm(rows, states_, encoder_.norm);
}

void Pass::norm(Range rows, Lines lines, const PackedNorm& norm) {
  for (size_t row = rows.first; row < rows.last; ++row)
    kernels_.norm(lines.values + row * lines.step, norm.width, norm.weight.data(), norm.bias.data(),
                  encoder_.shape.epsilon);
}

void Pass::prepare(size_t thread, Tiles tiles, Lines rows, const PackedDense& product, const PreparedRows& to) {
  const Range own = share(thread, tiles.count);
  for (size_t tile = own.first; tile < own.last; ++tile)
    product.prepare(kernels_, tiles, tile, {rows.values, rows.step}, to, lines_[thread]);
}

void Pass::multiply(size_t thread, Tiles tiles, const Multiplication& step) {
  const Range own = share(thread, step.product.panels());
  step.product.multiply(kernels_, tiles, step.rows,
                        {step.to.values, step.to.step, step.add, nullptr, step.activation, own.first, own.last});
}

bool Pass::firsts_after(size_t layers) const {
  return layers == encoder_.layers.size() && !encoder_.head.empty() &&
         encoder_.head.front().kind == HeadStepSource::Kind::kTakeFirst;
}

Pass::Rows Pass::rows_of(bool firsts, size_t tile_rows) const {
  return {firsts ? head_[0] : states_, Tiles::of(firsts ? texts_.size() : tiles_.rows, tile_rows)};
}

void Pass::layer(size_t thread, size_t which) {
  const PackedLayer& layer = encoder_.layers[which];
  const bool firsts = firsts_after(which + 1);
  const Rows left = rows_of(firsts, layer_tile_);
  prepare(thread, tiles_, states_, layer.query, prepared_[0]);
  if (layer.key_rows == 1) prepare(thread, tiles_, states_, layer.key, prepared_[1]);
  if (layer.value_rows == 2) prepare(thread, tiles_, states_, layer.value, prepared_[2]);
  team_.meet();
  if (firsts)
    pool(thread, HeadStepSource::Kind::kTakeFirst, states_, left.lines);
  else
    multiply(thread, tiles_, {prepared_[0], layer.query, queries_});
  multiply(thread, tiles_, {prepared_[layer.key_rows], layer.key, keys_});
  multiply(thread, tiles_, {prepared_[layer.value_rows], layer.value, values_});
  team_.meet();
  if (firsts) {
    prepare(thread, left.tiles, left.lines, layer.query, prepared_[0]);
    team_.meet();
    multiply(thread, left.tiles, {prepared_[0], layer.query, queries_});
    team_.meet();
  }
  attend(thread, next_heads_[which], firsts);
  team_.meet();
  transform(thread, layer, left);
}

void Pass::transform(size_t thread, const PackedLayer& layer, Rows rows) {
  const auto& [states, tiles] = rows;
  prepare(thread, tiles, mixed_, layer.output, prepared_[0]);
  team_.meet();
  multiply(thread, tiles, {prepared_[0], layer.output, states, true});
  team_.meet();
  norm(own_rows(thread, tiles), states, layer.attention_norm);
  prepare(thread, tiles, states, layer.up, prepared_[0]);
  team_.meet();
  multiply(thread, tiles, {prepared_[0], layer.up, inner_, false, encoder_.shape.activation});
  team_.meet();
  prepare(thread, tiles, inner_, layer.down, prepared_[0]);
  team_.meet();
  multiply(thread, tiles, {prepared_[0], layer.down, states, true});
  team_.meet();
  norm(own_rows(thread, tiles), states, layer.output_norm);
}

void Pass::attend(size_t thread, std::atomic<size_t>& next_head, bool firsts) {
  const size_t heads = encoder_.shape.heads, size = head_line(encoder_.shape);
  for (size_t next; (next = next_head.fetch_add(1, std::memory_order_relaxed)) < heads * texts_.size();) {
    const Text& text = texts_[next / heads];
    const size_t column = next % heads * size, at = text.first * queries_.step + column;
    const size_t asked = (firsts ? next / heads : text.first) * queries_.step + column;
    kernels_.attend({queries_.values + asked, keys_.values + at, values_.values + at, queries_.step,
                     firsts ? 1 : text.tokens, text.tokens, size, mixed_.values + asked, mixed_.step,
                     scratch_[thread].data()});
  }
}

void Pass::pool(size_t thread, HeadStepSource::Kind kind, Lines from, Lines to) {
  const Range texts = share(thread, texts_.size());
  for (size_t i = texts.first; i < texts.last; ++i) {
    const size_t tokens = kind == HeadStepSource::Kind::kTakeMean ? texts_[i].tokens : 1;
    const float* row = from.values + texts_[i].first * from.step;
    float* const out = to.values + i * to.step;
    std::copy_n(row, from.step, out);
    for (size_t token = 1; token < tokens; ++token) {
      row += from.step;
      for (size_t column = 0; column < from.step; ++column) out[column] += row[column];
    }
    for (size_t column = 0; column < from.step; ++column) out[column] /= static_cast<float>(tokens);
  }
}

void Pass::head(size_t thread, const Slice& slice) {
  const size_t done = firsts_after(encoder_.layers.size()) ? 1 : 0;
  auto [rows, tiles] = rows_of(done == 1, head_tile_);
  size_t next = done;
  team_.meet();
  for (const PackedStep& step : std::span(encoder_.head).subspan(done)) {
    if (step.kind == HeadStepSource::Kind::kDense) {
      prepare(thread, tiles, rows, step.dense.front(), prepared_[0]);
      team_.meet();
      multiply(thread, tiles, {prepared_[0], step.dense.front(), head_[next], false, step.activation});
    } else {
      pool(thread, step.kind, rows, head_[next]);
      tiles = Tiles::of(texts_.size(), head_tile_);
    }
    rows = head_[next];
    next = 1 - next;
    team_.meet();
  }
  const Range own = own_rows(thread, tiles);
  for (size_t row = own.first; row < own.last; ++row)
    std::copy_n(rows.values + row * rows.step, encoder_.outputs, slice.results + row * encoder_.outputs);
}

}  // namespace quern::encoder
