#include "checked_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "../base/failure.hpp"
#include "crc32c.hpp"

namespace quern {
namespace {

constexpr size_t kBufferBytes = 256 * kPageBytes;

/// The first page, as it lies on the disk (little-endian, as are all platforms that Quern runs on).
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t sections;
  uint64_t generation;
  uint64_t file_bytes;
  uint64_t pages;  ///< of sections, after this one; the table of their checksums follows them
  uint32_t table_checksum;
  uint32_t fact_bytes;
  struct {
    uint64_t offset;
    uint64_t size;
  } section[kMostSections];
  std::byte facts[kMostFactBytes];
  std::byte nothing[kPageBytes - 48 - 16 * kMostSections - kMostFactBytes - 4];
  uint32_t checksum;  ///< of all before it
};
static_assert(sizeof(Header) == kPageBytes);

constexpr size_t kHeaderChecked = offsetof(Header, checksum);

LoadOutcome corrupt(std::string reason) {
  return {LoadState::kCorrupt, std::move(reason)};
}

/// A file descriptor that closes itself.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

[[noreturn]] void unreadable(const std::string& path, const char* action) {
  throw Failure("unavailable", path + " cannot be " + action + ": " + std::strerror(errno) + ".");
}

}  // namespace

CheckedWriter::CheckedWriter(std::string path, const FileKind& kind, uint64_t generation)
    : path_(std::move(path)), temporary_(path_ + ".tmp"), kind_(kind), generation_(generation) {
  buffer_.reserve(kBufferBytes);
  file_ = ::open(temporary_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (file_ < 0) fail("created");
}

CheckedWriter::~CheckedWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void CheckedWriter::fail(const char* action) const {
  const int reason = errno;
  const bool full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
  throw Failure(full ? "disk_full" : "unavailable",
                temporary_ + " cannot be " + action + ": " + std::strerror(reason) + ".");
}

void CheckedWriter::put(const void* bytes, size_t size, uint64_t offset) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::pwrite(file_, at, size, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("written");
    at += count;
    offset += static_cast<uint64_t>(count);
    size -= static_cast<size_t>(count);
  }
}

void CheckedWriter::flush() {
  for (size_t i = 0; i < buffer_.size(); i += kPageBytes) checksums_.push_back(crc32c(buffer_.data() + i, kPageBytes));
  put(buffer_.data(), buffer_.size(), kPageBytes + written_ - buffer_.size());
  buffer_.clear();
}

void CheckedWriter::fill_page() {
  const size_t missing = (kPageBytes - written_ % kPageBytes) % kPageBytes;
  buffer_.resize(buffer_.size() + missing);
  written_ += missing;
  if (buffer_.size() == kBufferBytes) flush();
}

void CheckedWriter::section() {
  fill_page();
  if (sections_.size() == kMostSections) throw Failure("internal", "An index file has no room for another section.");
  sections_.push_back({kPageBytes + written_, 0});
}

void CheckedWriter::write(const void* bytes, size_t size) {
  const auto* at = static_cast<const std::byte*>(bytes);
  sections_.back().size += size;
  while (size > 0) {
    const size_t count = std::min(size, kBufferBytes - buffer_.size());
    buffer_.insert(buffer_.end(), at, at + count);
    at += count;
    size -= count;
    written_ += count;
    if (buffer_.size() == kBufferBytes) flush();
  }
}

void CheckedWriter::finish(std::span<const std::byte> facts) {
  if (facts.size() > kMostFactBytes) throw Failure("internal", "The facts of an index file are too large.");
  fill_page();
  flush();
  const size_t table_bytes = checksums_.size() * sizeof(uint32_t);
  put(checksums_.data(), table_bytes, kPageBytes + written_);
  Header header{};
  std::memcpy(header.magic, kind_.magic, sizeof(header.magic));
  header.version = kind_.version;
  header.sections = static_cast<uint32_t>(sections_.size());
  header.generation = generation_;
  header.file_bytes = kPageBytes + written_ + table_bytes;
  header.pages = checksums_.size();
  header.table_checksum = crc32c(checksums_.data(), table_bytes);
  header.fact_bytes = static_cast<uint32_t>(facts.size());
  for (size_t i = 0; i < sections_.size(); ++i) header.section[i] = {sections_[i].offset, sections_[i].size};
  if (!facts.empty()) std::memcpy(header.facts, facts.data(), facts.size());
  header.checksum = crc32c(&header, kHeaderChecked);
  put(&header, sizeof(header), 0);
  if (::fsync(file_) != 0) fail("synced");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("renamed");
  ::close(std::exchange(file_, -1));
  // The rename is on the disk only with its folder; the file itself is whole either way.
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const Descriptor directory{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC)};
  if (directory.number >= 0) ::fsync(directory.number);
}

LoadOutcome CheckedFile::open(const std::string& path, const FileKind& kind, uint64_t generation,
                              std::shared_ptr<const CheckedFile>& file) {
  const Descriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (descriptor.number < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {LoadState::kMissing, path + " does not exist."};
    unreadable(path, "opened");
  }
  struct stat status {};
  if (::fstat(descriptor.number, &status) != 0) unreadable(path, "examined");
  if (!S_ISREG(status.st_mode)) return corrupt(path + " is not a file.");
  const auto size = static_cast<size_t>(status.st_size);
  if (size < kPageBytes) return corrupt(path + " has " + std::to_string(size) + " bytes, less than a header.");
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
  if (mapped == MAP_FAILED) unreadable(path, "mapped");
  std::shared_ptr<CheckedFile> opened(new CheckedFile(static_cast<const std::byte*>(mapped), size));
  LoadOutcome outcome = opened->verify(kind, generation);
  if (outcome.state == LoadState::kLoaded)
    file = std::move(opened);
  else
    outcome.reason = path + outcome.reason;
  return outcome;
}

CheckedFile::~CheckedFile() {
  ::munmap(const_cast<std::byte*>(bytes_), size_);
}

LoadOutcome CheckedFile::verify(const FileKind& kind, uint64_t generation) {
  Header header;
  std::memcpy(&header, bytes_, sizeof(header));
  if (std::memcmp(header.magic, kind.magic, sizeof(header.magic)) != 0) return corrupt(" is a file of another kind.");
  if (header.checksum != crc32c(bytes_, kHeaderChecked)) return corrupt(" has a damaged header.");
  if (header.version != kind.version)
    return {LoadState::kStale,
            " has layout " + std::to_string(header.version) + ", this is layout " + std::to_string(kind.version) + "."};
  if (header.generation != generation)
    return {LoadState::kStale, " is of generation " + std::to_string(header.generation) + ", wanted is " +
                                   std::to_string(generation) + "."};
  if (header.file_bytes != size_)
    return corrupt(" has " + std::to_string(size_) + " bytes instead of " + std::to_string(header.file_bytes) + ".");
  if (header.pages > size_ / kPageBytes || header.sections > kMostSections || header.fact_bytes > kMostFactBytes ||
      size_ != kPageBytes + header.pages * (kPageBytes + sizeof(uint32_t)))
    return corrupt(" has a header that contradicts itself.");
  const std::byte* table = bytes_ + kPageBytes * (1 + header.pages);
  if (crc32c(table, header.pages * sizeof(uint32_t)) != header.table_checksum)
    return corrupt(" has damaged checksums.");
  ::madvise(const_cast<std::byte*>(bytes_), size_, MADV_SEQUENTIAL);
  for (size_t page = 0; page < header.pages; ++page) {
    uint32_t wanted;
    std::memcpy(&wanted, table + page * sizeof(wanted), sizeof(wanted));
    if (crc32c(bytes_ + kPageBytes * (1 + page), kPageBytes) != wanted)
      return corrupt(" is damaged at byte " + std::to_string(kPageBytes * (1 + page)) + ".");
  }
  ::madvise(const_cast<std::byte*>(bytes_), size_, MADV_NORMAL);
  const uint64_t end = kPageBytes * (1 + header.pages);
  for (size_t i = 0; i < header.sections; ++i) {
    const auto [offset, size] = header.section[i];
    if (offset % kPageBytes != 0 || offset < kPageBytes || offset > end || size > end - offset)
      return corrupt(" has a section outside of itself.");
    sections_.emplace_back(bytes_ + offset, size);
  }
  facts_ = {bytes_ + offsetof(Header, facts), header.fact_bytes};
  return {};
}

}  // namespace quern
