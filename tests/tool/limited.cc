// A program whose memory is known: limited [WORD...] does what each word says, in their order.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <iostream>
#include <string_view>
#include <thread>
#include <vector>

#if defined(WITH_OWN_MALLOC)  // which stands before tarn's
extern "C" {
void* __libc_malloc(std::size_t size);
void __libc_free(void* block);
void* malloc(std::size_t size) { return __libc_malloc(size); }
void free(void* block) { __libc_free(block); }
}
#endif

namespace {

std::vector<int> ended_by_a_destructor(10'000);

void act(std::string_view word, char** rest) {
  if (word == "hello") {
    std::printf("hello\n");
    std::cout << "hello\n";
  } else if (word == "wide") {
    std::fputws(L"hello\nhello\n", stdout);
  } else if (word == "unsync") {
    std::ios::sync_with_stdio(false);
    std::cout << "hello\nhello\n";
  } else if (word == "close") {
    std::fclose(stdout);
  } else if (word == "swap") {
    stdout = stderr;
  } else if (word == "own_buffer") {
    std::setvbuf(stdout, static_cast<char*>(std::malloc(1000)), _IOFBF, 1000);
  } else if (word == "read") {
    static_cast<void>(std::getchar());
  } else if (word == "peak") {
    std::free(std::malloc(4 << 20));
  } else if (word == "lose") {
    static_cast<void>(std::malloc(1000));
  } else if (word == "calls") {
    for (int i = 0; i < 1000; ++i) std::free(std::malloc(100));
  } else if (word == "thread") {
    std::thread([] { std::free(std::malloc(100)); }).join();
  } else if (word == "throw") {
    try {
      throw 1;
    } catch (int) {
    }
  } else if (word == "fork") {
    if (fork() != 0)
      wait(nullptr);
    else
      act("lose", rest), std::exit(0);
  } else if (word == "exec") {
    execv("/proc/self/exe", rest);
  }
}

}  // namespace

int main(int, char** words) {
  while (*++words != nullptr) act(*words, words);
  return 0;
}
