#include "os/code/faults.h"

#include <ucontext.h>

#include <atomic>
#include <csignal>

#include "base/units.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

constinit std::atomic<bool (*)(const void* address)> is_watched{nullptr};
constinit std::atomic<void (*)(std::uintptr_t address, const MemoryFault& fault)> tell_of{nullptr};

#if defined(__x86_64__)
MemoryFault fault_of(const ucontext_t& context) {
  constexpr greg_t kWasWrite = 2;  // of the processor's error code for page faults
  const greg_t* const registers = context.uc_mcontext.gregs;
  return {(registers[REG_ERR] & kWasWrite) != 0,
          {static_cast<std::uintptr_t>(registers[REG_RIP]), static_cast<std::uintptr_t>(registers[REG_RSP]),
           static_cast<std::uintptr_t>(registers[REG_RBP])}};
}
#else
// Whether it was a write stands in a record that follows the registers (ESR_EL1, bit 6).
MemoryFault fault_of(const ucontext_t& context) {
  constexpr std::uint32_t kSyndromeMagic = 0x45535201;
  constexpr std::uint64_t kWasWrite = 1 << 6;
  MemoryFault fault{false, {context.uc_mcontext.pc, context.uc_mcontext.sp, context.uc_mcontext.regs[29]}};
  const auto* record = reinterpret_cast<const _aarch64_ctx*>(context.uc_mcontext.__reserved);
  for (; record->magic != 0 && record->size != 0;
       record = reinterpret_cast<const _aarch64_ctx*>(reinterpret_cast<const char*>(record) + record->size))
    if (record->magic == kSyndromeMagic)
      fault.is_write = (reinterpret_cast<const std::uint64_t*>(record + 1)[0] & kWasWrite) != 0;
  return fault;
}
#endif

// Each is in front of the action that it has found. A program that sets its own in front of one, and hands on
// to it or puts it back later, comes to the action that was behind that one: no call goes round in a circle.
// Where all have been used, the program's action stays as it is.
constexpr unsigned kHandlers = 8;
struct sigaction behind[kHandlers];
constinit std::atomic<unsigned> used{0};
constinit std::atomic<bool> is_being_set{false};

// The instruction faults again; what was sent must be sent again.
void end_by_default(int signal, const siginfo_t& info) {
  struct sigaction by_default {};
  sigaction(signal, &by_default, nullptr);
  if (info.si_code <= 0) syscall6(SYS_tgkill, syscall6(SYS_getpid), syscall6(SYS_gettid), signal);
}

void hand_on(const struct sigaction& to, int signal, siginfo_t* info, void* context) {
  if (to.sa_handler == SIG_IGN && info->si_code <= 0) return;
  if (to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN) return end_by_default(signal, *info);
  if ((to.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    struct sigaction by_default {};
    sigaction(signal, &by_default, nullptr);
  }
  to.sa_sigaction(signal, info, context);  // one of one argument does not look at the others
}

template <unsigned kHandler>
void on_fault(int signal, siginfo_t* info, void* context) {
  // Of a fault: what is sent has no address.
  if (info->si_code > 0 && is_watched.load(std::memory_order_relaxed)(info->si_addr))
    tell_of.load(std::memory_order_relaxed)(address_of(info->si_addr),
                                            fault_of(*static_cast<const ucontext_t*>(context)));
  hand_on(behind[kHandler], signal, info, context);
}

using Handler = void (*)(int, siginfo_t*, void*);
constexpr Handler kHandlerOf[kHandlers] = {on_fault<0>, on_fault<1>, on_fault<2>, on_fault<3>,
                                           on_fault<4>, on_fault<5>, on_fault<6>, on_fault<7>};

bool is_ours(const struct sigaction& action) {
  for (const Handler handler : kHandlerOf)
    if (action.sa_sigaction == handler) return true;
  return false;
}

// A program may have put it back by signal(), which forgets that it takes more arguments.
void set_again(struct sigaction ours) {
  if ((ours.sa_flags & SA_SIGINFO) != 0) return;
  ours.sa_flags |= SA_SIGINFO;
  sigaction(SIGSEGV, &ours, nullptr);
}

// The program's own mask holds, and what it wishes about stacks and nested calls.
void set_in_front_of(const struct sigaction& now) {
  const unsigned handler = used.load(std::memory_order_relaxed);
  if (handler == kHandlers) return;
  behind[handler] = now;
  struct sigaction ours = now, replaced{};
  const bool has_handler = now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
  ours.sa_sigaction = kHandlerOf[handler];
  ours.sa_flags =
      SA_SIGINFO | (has_handler ? now.sa_flags & (SA_NODEFER | SA_RESTART | SA_ONSTACK) : SA_ONSTACK);
  used.store(handler + 1, std::memory_order_relaxed);
  // Another thread may have set an action meanwhile.
  if (sigaction(SIGSEGV, &ours, &replaced) == 0 && !is_ours(replaced)) behind[handler] = replaced;
}

}  // namespace

void watch_faults(bool (*owns)(const void* address),
                  void (*tell)(std::uintptr_t address, const MemoryFault& fault)) {
  is_watched.store(owns, std::memory_order_relaxed);
  tell_of.store(tell, std::memory_order_relaxed);
  if (is_being_set.exchange(true, std::memory_order_acquire)) return;
  struct sigaction now {};
  if (sigaction(SIGSEGV, nullptr, &now) == 0) is_ours(now) ? set_again(now) : set_in_front_of(now);
  is_being_set.store(false, std::memory_order_release);
}

}  // namespace tarn::internal::os
