#include "inference/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace quern {
namespace {

/// A machine with a clock of its own: what a step takes there, in milliseconds.
struct Machine {
  double weights;  ///< reading the weights once
  double written;  ///< a written token
  double read;     ///< a token of a prompt
  double grows;    ///< what a token of a prompt costs more for each 1,000 that are read already

  double step(int writing, int tokens, int before) const {
    return weights + writing * written + tokens * (read + grows * before / 1000);
  }
};

constexpr Machine kSmallOnCpu{2, 0.5, 0.35, 0.05};
constexpr Machine kLargeOnCpu{200, 5, 30, 1};
constexpr Machine kGpu{1.5, 0.05, 0.04, 0.002};
constexpr Machine kMachines[] = {kSmallOnCpu, kLargeOnCpu, kGpu};

/// Reads a prompt beside so many written answers; the steps that it took, in milliseconds.
std::vector<double> read(Pace& pace, const Machine& machine, int writing, int prompt, int batch = 2048) {
  std::vector<double> steps;
  for (int before = 0; before < prompt;) {
    const int tokens = std::min({pace.prompt_tokens(writing), batch - writing, prompt - before});
    steps.push_back(machine.step(writing, tokens, before));
    pace.observe(writing, tokens, steps.back());
    before += tokens;
  }
  return steps;
}

void write(Pace& pace, const Machine& machine, int writing, int steps = 20) {
  for (int i = 0; i < steps; ++i) pace.observe(writing, 0, machine.step(writing, 0, 0));
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

TEST(Pace, KnowsNothingAtFirst) {
  EXPECT_EQ(Pace{}.prompt_tokens(0), 128);
  EXPECT_EQ(Pace{}.prompt_tokens(32), 128);
}

TEST(Pace, StepsStayWithinTheGapBesideAnswers) {
  for (const Machine& machine : kMachines) {
    for (const int writing : {1, 4, 32}) {
      Pace pace;
      write(pace, machine, writing);
      read(pace, machine, writing, 2000);
      const double alone = machine.step(writing, 0, 0);
      // Few tokens are read at once even by a machine that takes longer for them.
      const double bound = std::max({kGapMs, 3 * alone, alone + 64 * (machine.read + machine.grows * 8)});
      for (const double ms : read(pace, machine, writing, 8000)) EXPECT_LE(ms, bound * 1.15);
    }
  }
}

TEST(Pace, StepsFillTheGap) {
  for (const Machine& machine : {kSmallOnCpu, kGpu}) {
    Pace pace;
    write(pace, machine, 4);
    read(pace, machine, 4, 4000, 1 << 16);
    std::vector<double> steps = read(pace, machine, 4, 20000, 1 << 16);
    steps.pop_back();
    for (const double ms : steps) EXPECT_GE(ms, kGapMs * 0.6);
  }
}

TEST(Pace, AloneAPromptTakesLongerSteps) {
  Pace pace;
  read(pace, kSmallOnCpu, 0, 4000);
  const std::vector<double> steps = read(pace, kSmallOnCpu, 0, 8000);
  for (const double ms : steps) EXPECT_LE(ms, kAloneMs * 1.15);
  EXPECT_LE(steps.size(), 8000 * kSmallOnCpu.step(0, 1, 8000) / kAloneMs);
}

TEST(Pace, AloneReadingTheWeightsIsASmallPartOnASlowMachine) {
  Pace pace;
  write(pace, kLargeOnCpu, 1, 1);
  const std::vector<double> steps = read(pace, kLargeOnCpu, 0, 4000);
  EXPECT_LE(steps.size() * kLargeOnCpu.weights, 0.2 * sum(steps));
}

TEST(Pace, AFastMachineTakesAWholeBatch) {
  Pace pace;
  read(pace, kGpu, 4, 2000);
  EXPECT_GE(pace.prompt_tokens(4), 2048);
  EXPECT_GE(pace.prompt_tokens(0), 2048);
}

TEST(Pace, PromptsGetTwoThirdsOfTheTimeWhereWritingTakesLong) {
  for (const Machine& machine : {kLargeOnCpu, kSmallOnCpu}) {
    Pace pace;
    write(pace, machine, 32);
    read(pace, machine, 32, 500);
    double alone = 0;
    for (int before = 0; before < 2000; before += 500) alone += machine.step(0, 500, before);
    EXPECT_LE(sum(read(pace, machine, 32, 2000)), 1.8 * alone);
  }
}

TEST(Pace, OneOddStepChangesLittle) {
  Pace pace;
  read(pace, kSmallOnCpu, 4, 4000);
  const int before = pace.prompt_tokens(4);
  pace.observe(4, before, 5000);
  EXPECT_GE(pace.prompt_tokens(4), before / 2);
  pace.observe(4, before, 0.001);
  read(pace, kSmallOnCpu, 4, 4000);
  EXPECT_NEAR(pace.prompt_tokens(4), before, before / 4);
}

TEST(Pace, ShortPromptsTellLittleOfLongOnes) {
  Pace pace;
  write(pace, kLargeOnCpu, 1);
  read(pace, kLargeOnCpu, 0, 500);
  const int before = pace.prompt_tokens(0);
  for (int i = 0; i < 20; ++i) pace.observe(0, 2, kLargeOnCpu.step(0, 2, 0));
  EXPECT_NEAR(pace.prompt_tokens(0), before, before / 2);
}

TEST(Pace, FollowsAMachineThatBecomesBusy) {
  constexpr Machine kBusy{20, 5, 0.9, 0.1};
  Pace pace;
  write(pace, kSmallOnCpu, 4);
  read(pace, kSmallOnCpu, 4, 2000);
  read(pace, kBusy, 4, 1500);
  for (const double ms : read(pace, kBusy, 4, 1000)) EXPECT_LE(ms, kGapMs * 1.25);
}

}  // namespace
}  // namespace quern
