#include "inference/state.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace quern {
namespace {

class StateTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("quern-state-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "one.kvstate").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::string path_;
  std::shared_ptr<const SequenceState> read_;
};

TEST_F(StateTest, ComesBackAsItWas) {
  SequenceState state{{1, 2, 3}, std::vector<uint8_t>(10'000, 7)};
  write_state(state, path_, 42);
  ASSERT_EQ(read_state(path_, 42, read_), StateOutcome::restored);
  EXPECT_EQ(read_->tokens, state.tokens);
  EXPECT_EQ(read_->bytes, state.bytes);
}

TEST_F(StateTest, TellsWhyItDoesNot) {
  EXPECT_EQ(read_state(path_, 42, read_), StateOutcome::missing);
  write_state({{1}, std::vector<uint8_t>(100, 7)}, path_, 42);
  EXPECT_EQ(read_state(path_, 43, read_), StateOutcome::stale);
  const auto size = std::filesystem::file_size(path_);
  for (const uintmax_t at : {uintmax_t{0}, uintmax_t{4096}, size - 1}) {
    write_state({{1}, std::vector<uint8_t>(100, 7)}, path_, 42);
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 1));
    file.close();
    EXPECT_NE(read_state(path_, 42, read_), StateOutcome::restored) << at;
  }
  write_state({{1}, std::vector<uint8_t>(100, 7)}, path_, 42);
  std::filesystem::resize_file(path_, size / 2);
  EXPECT_EQ(read_state(path_, 42, read_), StateOutcome::corrupt);
  EXPECT_EQ(read_, nullptr);
}

TEST_F(StateTest, TheShelfKeepsAndDrops) {
  StateShelf shelf;
  EXPECT_EQ(shelf.find(path_), nullptr);
  shelf.keep(path_, std::make_shared<SequenceState>());
  EXPECT_NE(shelf.find(path_), nullptr);
  EXPECT_TRUE(shelf.drop(path_));
  EXPECT_FALSE(shelf.drop(path_));
}

}  // namespace
}  // namespace quern
