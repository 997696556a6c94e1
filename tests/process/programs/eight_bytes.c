/* A library that takes eight bytes of the static thread-local storage of a process. */
__thread long eight_bytes __attribute__((tls_model("initial-exec"))) = 8;
long touch_eight_bytes(void) { return eight_bytes++; }
