/* The same from C: samples with the stacks that made them. */
#include <stdio.h>
#include <tarn/profile.h>
#include <tarn/tarn.h>

struct sum {
  double bytes;
  size_t stacks;
};

/* The innermost calls may be the library's own. `tarn profile PID` names all of them, from outside. */
static void add_sample(const struct tarn_sample* sample, void* context) {
  struct sum* sum = context;
  sum->bytes += sample->weight * (double)sample->bytes;
  if (sample->address_count == 0) return;
  sum->stacks += 1;
  printf("%lu bytes, with a stack of %lu calls\n", (unsigned long)sample->bytes,
         (unsigned long)sample->address_count);
}

int main(void) {
  struct sum live = {0, 0}, left = {0, 0};
  void *request, *reply;
  tarn_profile_start(1); /* every block; a server takes 512 * 1024 */
  request = tarn_allocate(100);
  reply = tarn_allocate(3000);
  if (request == NULL || reply == NULL || tarn_profile_interval() != 1) return 1;
  tarn_profile_stop();
  tarn_visit_samples(add_sample, &live);
  tarn_deallocate(request);
  tarn_deallocate(reply);
  tarn_visit_samples(add_sample, &left);
  printf("%.0f bytes were live in blocks with %lu stacks\n", live.bytes, (unsigned long)live.stacks);
  return live.bytes == 3100 && live.stacks == 2 && left.bytes == 0 && tarn_profile_interval() == 0 ? 0 : 1;
}
