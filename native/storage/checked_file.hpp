#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quern {

/// Unit of the checksums, and the alignment of every section.
constexpr size_t kPageBytes = 4096;
/// Most sections of one file.
constexpr size_t kMostSections = 16;
/// Most bytes of a kind's own facts in the header.
constexpr size_t kMostFactBytes = 1024;

/// What a file holds. A changed layout gets another version, and older files count as stale.
struct FileKind {
  char magic[8];
  uint32_t version;
};

/**
 * Writes a file of sections beside `path` and puts it there whole: every 4 KiB has a CRC-32C, and so have the table of
 * those and the header. Without finish() nothing changes at `path`. Throws Failure('disk_full') or ('unavailable').
 */
class CheckedWriter {
 public:
  CheckedWriter(std::string path, const FileKind& kind, uint64_t generation);
  ~CheckedWriter();
  CheckedWriter(const CheckedWriter&) = delete;
  CheckedWriter& operator=(const CheckedWriter&) = delete;

  /// Ends the section before, and begins the next one; what follows goes there.
  void section();
  void write(const void* bytes, size_t size);
  /// Completes the file, waits until the disk has it, and renames it to `path`. `facts` come back from
  /// CheckedFile::facts().
  void finish(std::span<const std::byte> facts);

 private:
  struct Section {
    uint64_t offset;
    uint64_t size;
  };
  void fill_page();
  void flush();
  void put(const void* bytes, size_t size, uint64_t offset);
  [[noreturn]] void fail(const char* action) const;

  const std::string path_;
  const std::string temporary_;
  const FileKind kind_;
  const uint64_t generation_;
  int file_ = -1;
  uint64_t written_ = 0;  ///< bytes after the header page, those in the buffer included
  std::vector<std::byte> buffer_;
  std::vector<uint32_t> checksums_;
  std::vector<Section> sections_;
};

/// How an index file was found.
enum class LoadState { kLoaded, kMissing, kStale, kCorrupt };

/// The answer of a load; the reason is empty when it was loaded.
struct LoadOutcome {
  LoadState state = LoadState::kLoaded;
  std::string reason;
};

/**
 * A file of CheckedWriter, mapped into memory, every byte of it verified before it is seen. Owned by whoever holds the
 * pointer. As with any mapping, the file must not be shortened in place while it is in use; our writers only rename.
 */
class CheckedFile {
 public:
  /// `file` is set when, and only when, the outcome is kLoaded. Throws Failure('unavailable') when the disk refuses to
  /// read.
  static LoadOutcome open(const std::string& path, const FileKind& kind, uint64_t generation,
                          std::shared_ptr<const CheckedFile>& file);
  ~CheckedFile();
  CheckedFile(const CheckedFile&) = delete;
  CheckedFile& operator=(const CheckedFile&) = delete;

  size_t sections() const { return sections_.size(); }
  /// Starts at a multiple of kPageBytes.
  std::span<const std::byte> section(size_t index) const { return sections_[index]; }
  std::span<const std::byte> facts() const { return facts_; }

 private:
  CheckedFile(const std::byte* bytes, size_t size) : bytes_(bytes), size_(size) {}
  LoadOutcome verify(const FileKind& kind, uint64_t generation);

  const std::byte* bytes_;
  size_t size_;
  std::vector<std::span<const std::byte>> sections_;
  std::span<const std::byte> facts_;
};

}  // namespace quern
