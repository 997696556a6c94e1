// A second thread that sleeps until the end of a row, so that the process counts as one with threads.
#pragma once
#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace tarn::bench {

class IdleThread {
 public:
  IdleThread() {
    pthread_barrier_init(&end_, nullptr, 2);
    const auto sleep = [](void* barrier) -> void* {
      pthread_barrier_wait(static_cast<pthread_barrier_t*>(barrier));
      return nullptr;
    };
    if (pthread_create(&thread_, nullptr, sleep, &end_) != 0) {
      std::fputs("bench: cannot start a thread\n", stderr);
      std::_Exit(1);
    }
  }
  ~IdleThread() {
    pthread_barrier_wait(&end_);
    pthread_join(thread_, nullptr);
    pthread_barrier_destroy(&end_);
  }
  IdleThread(const IdleThread&) = delete;
  IdleThread& operator=(const IdleThread&) = delete;

 private:
  pthread_barrier_t end_;
  pthread_t thread_;
};

}  // namespace tarn::bench
