#include <gtest/gtest.h>

#include "text/analyzer.hpp"
#include "text/query.hpp"
#include "text/unicode.hpp"

namespace quern::text {
namespace {

/// The terms in order: `position:term`, wholes marked with `=`.
std::string terms(std::string_view text, Language language = Language::kNone, bool query = false) {
  Analyzer analyzer(language);
  std::string all;
  analyzer.analyze(text, query, [&](const Token& token) {
    all +=
        (all.empty() ? "" : " ") + std::to_string(token.position) + (token.whole ? "=" : ":") + std::string(token.term);
  });
  return all;
}

struct Case {
  const char* text;
  const char* terms;
};

TEST(Analyzer, CutsWordsInManyScripts) {
  const Case cases[] = {
      {"", ""},
      {" \t\n.,;!?()[]", ""},
      {"Hello, World!", "0:hello 1:world"},
      {"\u00c9COLE \u00e9cole e\u0301cole", "0:ecole 1:ecole 2:ecole"},
      {"Stra\u00dfe STRASSE \u00d8re \u0141\u00f3d\u017a \u00c6on \u0153uf",
       "0:strasse 1:strasse 2:ore 3:lodz 4:aeon 5:oeuf"},
      {"\uff26\uff35\uff2c\uff2c \uff11\uff12", "0:full 1:12"},
      {"\ufb01ne \u2460 x\u00b2", "0:fine 1:1 2:x 3:2 2=x2"},
      {"\u0130stanbul \u0131\u015f\u0131k", "0:istanbul 1:isik"},
      {"\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "0:\u03c3\u03b9\u03c3\u03c5\u03c6\u03bf\u03c3"},
      {"\u041c\u041e\u0421\u041a\u0412\u0410 \u0451\u0436", "0:\u043c\u043e\u0441\u043a\u0432\u0430 1:\u0435\u0436"},
      {"\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "0:\u05e9\u05dc\u05d5\u05dd"},
      {"\u0645\u064f\u062d\u064e\u0645\u0640\u0640\u062f", "0:\u0645\u062d\u0645\u062f"},
      {"\u0939\u093f\u0928\u094d\u0926\u0940", "0:\u0939\u093f\u0928\u094d\u0926\u0940"},
      {"\u1240\u1245 \u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8",
       "0:\u1240\u1245 1:\u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8"},
      {"\u6771\u4eac\u90fd", "0:\u6771\u4eac 1:\u4eac\u90fd 2:\u90fd"},
      {"\u732bcat", "0:\u732b 1:cat"},
      {"\uff76\uff9e\u30ac\u30ab\u3099", "0:\u30ac\u30ac 1:\u30ac\u30ac 2:\u30ac"},
      {"\ud55c\uae00 \u1112\u1161\u11ab\u1100\u1173\u11af", "0:\ud55c\uae00 1:\uae00 2:\ud55c\uae00 3:\uae00"},
      {"\u0e01\u0e34\u0e19", "0:\u0e01\u0e34\u0e19 1:\u0e19"},
      {"so\u00adft zero\u200bwidth", "0:soft 1:zerowidth"},
      {"ok \U0001f642\U0001f680!", "0:ok 1:\U0001f642 2:\U0001f680"},
      {"\U0001d573\U0001d58e \U00010400", "0:hi 1:\U00010428"},
      {"a\xff\xc3 b", "0:a 1:b"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(terms(text), wanted) << text;
}

TEST(Analyzer, TakesIdentifiersApartAndKeepsThemWhole) {
  const Case cases[] = {
      {"foo_bar", "0:foo 1:bar 0=foobar"},
      {"__init__ x", "0:init 1:x"},
      {"foo__bar", "0:foo 1:bar 0=foobar"},
      {"fooBar", "0:foo 1:bar 0=foobar"},
      {"HTTPServer2", "0:http 1:server 2:2 0=httpserver2"},
      {"v1.2.3", "0:v 1:1 2:2 3:3 0=v1.2.3"},
      {"E-1234", "0:e 1:1234 0=e1234"},
      {"2024-01-15", "0:2024 1:01 2:15 0=2024-01-15"},
      {"C++ C# c+ f#x", "0:c 0=c++ 1:c 1=c# 2:c 3:f 4:x"},
      {"end. Next.", "0:end 1:next"},
      {"a--b -x", "0:a 1:b 2:x"},
      {"well-known", "0:well 1:known 0=wellknown"},
      {"O'Brien", "0:o 1:brien 0=obrien"},
      {"Hello iPhone", "0:hello 1:i 2:phone 1=iphone"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(terms(text), wanted) << text;
}

TEST(Analyzer, StemsEnglish) {
  EXPECT_EQ(terms("Running dogs", Language::kEnglish), "0:run 1:dog");
  EXPECT_EQ(terms("the dog's don't we'll", Language::kEnglish), "0:the 1:dog 2:dont 3:well");
  EXPECT_EQ(terms("runningDogs", Language::kEnglish), "0:run 1:dog 0=runningdog");
  EXPECT_EQ(terms("Running", Language::kNone), "0:running");
}

TEST(Analyzer, CutsWhatIsTooLong) {
  Analyzer analyzer(Language::kNone);
  size_t longest = 0;
  std::string word;
  for (int i = 0; i < 1000; ++i) word += "\u00fe\u0436";
  const uint32_t length =
      analyzer.analyze(word, false, [&](const Token& token) { longest = std::max(longest, token.term.size()); });
  EXPECT_LE(longest, kMaxTermBytes);
  EXPECT_GT(length, 10u);
}

TEST(Analyzer, ReadsOnlyWellFormedBytes) {
  const char* const broken[] = {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                "\xf8", "\xe2\x82", "\xf0\x9f\x99"};
  for (const char* bytes : broken) {
    size_t at = 0;
    EXPECT_EQ(decode(bytes, at), char32_t{0xfffd});
    EXPECT_GT(at, 0u);
  }
  for (char32_t code = 1; code < 0x110000; code += code < 0xd7f0 ? 13 : 257) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string text;
    encode(code, text);
    size_t at = 0;
    ASSERT_EQ(decode(text, at), code);
    ASSERT_EQ(at, text.size());
  }
}

TEST(Analyzer, FoldsWhatIsFoldedToItself) {
  for (char32_t code = 1; code < 0x30000; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string text, once;
    encode(code, text);
    Folded folded;
    for (FoldingReader reader(text); reader.next(folded);) encode(folded.code, once);
    std::string twice;
    for (FoldingReader reader(once); reader.next(folded);) encode(folded.code, twice);
    ASSERT_EQ(once, twice) << std::hex << static_cast<uint32_t>(code);
  }
}

TEST(Query, SaysWhatItIsUnderstoodAs) {
  const auto clauses = parse_query("+alpha -\"two words\" beta beta gam", false, true, Language::kEnglish);
  ASSERT_EQ(clauses.size(), 4u);
  EXPECT_EQ(clauses[0].occur, Occur::kMust);
  EXPECT_EQ(clauses[1].kind, ClauseKind::kPhrase);
  EXPECT_EQ(clauses[1].occur, Occur::kNot);
  EXPECT_EQ(clauses[1].terms, (std::vector<std::string>{"two", "word"}));
  EXPECT_EQ(clauses[2].count, 2u);
  EXPECT_EQ(clauses[3].kind, ClauseKind::kPrefix);
  EXPECT_EQ(clauses[3].terms.front(), "gam");
}

}  // namespace
}  // namespace quern::text
