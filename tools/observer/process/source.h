// Where the memory of an observed program is read from: a running process, a core file, a minidump, or the
// own process. Whatever a source returns is somebody else's memory at some moment: torn, forged or hostile.
// Nothing that is read is ever followed but through read() again, with bounds.
//
// Threads: read() from any thread at once; mappings() is made when the source is opened and constant since,
// until refresh().
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tarn::observer {

/// An address in the observed program. \why no pointer: nobody can dereference it by mistake.
using Address = std::uint64_t;

/// What kept a program from being observed, in one line that says what to do. `tarn` prints it and exits 1.
class ObserveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A line of /proc/PID/maps, or what a core file tells of one.
struct Mapping {
  Address start = 0, end = 0;
  std::uint64_t offset = 0;  // in the file
  bool is_readable = false, is_writable = false, is_executable = false, is_shared = false;
  std::string path;  // "" for anonymous memory; "[heap]", "[stack]", "[vdso]" as the kernel names them

  std::uint64_t bytes() const { return end - start; }
  bool contains(Address address) const { return address >= start && address < end; }
};

enum class SourceKind : std::uint8_t { kProcess, kCore, kMinidump, kOwn };

class Source {
 public:
  virtual ~Source() = default;

  /// Copies bytes from `address` on. \returns how many, from the start; fewer where memory is not there.
  virtual std::size_t read(Address address, void* into, std::size_t bytes) const = 0;

  /// By ascending addresses.
  virtual std::span<const Mapping> mappings() const = 0;
  /// Reads the mappings anew, where they may have changed. \throws ObserveError when the process has ended.
  virtual void refresh() {}

  virtual SourceKind kind() const = 0;
  /// 0: unknown.
  virtual int pid() const = 0;
  /// The program's name, as `ps` shows it; of a core file, that of the process it was.
  virtual std::string program() const = 0;

  /// Whether all of `bytes` could be read.
  bool read_all(Address address, void* into, std::size_t bytes) const {
    return read(address, into, bytes) == bytes;
  }
};

/// \throws ObserveError: no such process, no right to look (and what gives it), another architecture.
std::unique_ptr<Source> open_process(int pid);
/// \throws ObserveError: no file, no core file, another architecture.
std::unique_ptr<Source> open_core(const std::string& path);
/// \returns the registers of the threads of a core file; none where not all of them can be read.
std::vector<Address> core_file_words(const std::string& path);
/// The same for a minidump (Breakpad, Crashpad). Which memory it holds was up to who wrote it.
std::unique_ptr<Source> open_minidump(const std::string& path);
/// \throws ObserveError where /proc/self cannot be read.
std::unique_ptr<Source> open_own_process();

/// Opens a core file or a minidump, by what its first bytes say.
std::unique_ptr<Source> open_dump(const std::string& path);

}  // namespace tarn::observer
