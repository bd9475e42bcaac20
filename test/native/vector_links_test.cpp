#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "vector_fixture.hpp"
#include "vectors/codes.hpp"
#include "vectors/linker.hpp"
#include "vectors/reach.hpp"

namespace quern::vectors {
namespace {

/// How many places the entry leads to on the lowest level.
size_t reached(const Links& links) {
  std::vector<bool> met(links.size());
  std::vector<uint32_t> ahead{links.entry()};
  met[links.entry()] = true;
  size_t count = 0;
  for (; !ahead.empty(); ++count) {
    const uint32_t place = ahead.back();
    ahead.pop_back();
    for (const uint32_t next : links.list(place, 0)) {
      if (next == kNoPlace) break;
      if (!met[next]) ahead.push_back(next);
      met[next] = true;
    }
  }
  return count;
}

void link(Links& links, uint32_t from, std::vector<uint32_t> to) {
  const auto list = links.list(from, 0);
  std::ranges::fill(std::ranges::copy(to, list.begin()).out, list.end(), kNoPlace);
}

TEST(VectorLinks, EveryPlaceOfAParallelBuildIsReached) {
  constexpr size_t kRows = 8'000, kDimensions = 16;
  const IndexOptions options{
      .dimensions = kDimensions, .metric = Metric::kL2, .storage = Storage::kF32, .connectivity = 4, .scan_below = 0};
  const std::vector<float> points = clustered(kRows, kDimensions, 3);
  Codes codes(options);
  const std::vector<float> centre(kDimensions);
  codes.set_centre(centre);
  codes.reserve(kRows);
  for (uint32_t row = 0; row < kRows; ++row) codes.set(row, row_of(points, row, kDimensions));
  Links links(options.connectivity);
  links.append(kRows);
  Linker linker(codes, links, 32);
  ASSERT_TRUE(link_all(linker, links, 2, [] { return false; }));
  EXPECT_LT(reached(links), kRows) << "the test needs places that get lost";
  reach_all(links);
  EXPECT_EQ(reached(links), kRows);
}

TEST(VectorLinks, LostPlacesAreInsertedWithoutLosingOthers) {
  // Room for 4: the lists of 0 and 1 are full, 6 knows 1, 7 and 8 know each other alone.
  Links links(2);
  links.append(9);
  links.enter_at(0);
  link(links, 0, {1, 2, 3, 4});
  link(links, 1, {0, 2, 3, 5});
  for (const uint32_t place : {2u, 3u, 4u, 5u}) link(links, place, {0});
  link(links, 6, {1, 0, 2, 3});
  link(links, 7, {8});
  link(links, 8, {7});
  EXPECT_EQ(reached(links), 6u);
  reach_all(links);
  EXPECT_EQ(reached(links), 9u);
}

}  // namespace
}  // namespace quern::vectors
