// Leaks in code that has gone, or that no file has, when the program ends.
// usage: code_that_goes closed PLUGIN PLUGIN    loaded, run and closed one after the other
//        code_that_goes deleted PLUGIN          its file is deleted once it is loaded
//        code_that_goes replaced PLUGIN OTHER   OTHER takes its place
//        code_that_goes jit                     code made at run time, named in /tmp/perf-PID.map
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void* open_plugin(const char* file) {
  void* const plugin = dlopen(file, RTLD_NOW);
  if (plugin != nullptr) return plugin;
  std::puts(dlerror());
  std::exit(1);
}

void* run_of(void* plugin) { return dlsym(plugin, "run"); }

void run(void* plugin) { reinterpret_cast<void (*)()>(run_of(plugin))(); }

void run_and_close(const char* file, void*& place) {
  void* const plugin = open_plugin(file);
  if (place == nullptr) place = run_of(plugin);
  if (run_of(plugin) != place) std::puts("elsewhere");
  run(plugin);
  dlclose(plugin);
}

// void f(unsigned long bytes, void* malloc): calls malloc.
constexpr unsigned char kCode[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x08, 0xc3};

void run_made_code() {
  void* const code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(code, kCode, sizeof kCode);
  mprotect(code, 4096, PROT_READ | PROT_EXEC);
  const std::string names = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::FILE* const file = std::fopen(names.c_str(), "w");
  std::fprintf(file, "%zx %zx LazyCompile:~made app.js:7\n", reinterpret_cast<std::size_t>(code),
               sizeof kCode);
  std::fclose(file);
  using Made = void (*)(std::size_t bytes, void* (*allocate)(std::size_t));
  for (int i = 0; i < 50; ++i) reinterpret_cast<Made>(code)(1234, std::malloc);
}

[[gnu::noinline]] void clear_dead_stack() {
  volatile char bytes[20000];
  for (volatile char& byte : bytes) byte = 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string how = count > 1 ? words[1] : "";
  void* place = nullptr;
  if (how == "closed") {
    for (int i = 2; i < count; ++i) run_and_close(words[i], place);
  } else if (how == "deleted" || how == "replaced") {
    void* const plugin = open_plugin(words[2]);
    if (how == "deleted" ? unlink(words[2]) != 0 : std::rename(words[3], words[2]) != 0) return 1;
    run(plugin);
  } else {
    run_made_code();
  }
  clear_dead_stack();
  return 0;
}
