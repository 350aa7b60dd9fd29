/* Where each queue of a persistent kernel stands, in memory that the host can read while the kernel hangs.
 * C99, C++ and CUDA; no dependencies; copy it.
 *
 * Device, in block (queue) q of the kernel, by one thread:
 *     nuscope_hang_at(hang, q, task_id, NUSCOPE_HANG_WAITING);   before it polls the waits of its next entry
 *     nuscope_hang_at(hang, q, task_id, NUSCOPE_HANG_RUNNING);   when they hold
 *     nuscope_hang_at(hang, q, -1, NUSCOPE_HANG_DONE);           at the end of its queue
 *
 * Host: one nuscope_hang_queue per queue in memory that both see (cudaHostAlloc with cudaHostAllocMapped, or
 * managed memory), prepared with nuscope_hang_init before the launch. When nuscope_hang_moves has not changed
 * for as long as a step may take, save with nuscope_hang_save and run nuscope check SCHEDULE.json --hang
 * DUMP.json Copying the counters from the device while the kernel still runs needs a stream of its own
 * (cudaMemcpyAsync). */
#ifndef NUSCOPE_HANGDUMP_H
#define NUSCOPE_HANGDUMP_H

#include <stdint.h>
#include <stdio.h>

#ifdef __CUDACC__
#define NUSCOPE_HANG_BOTH static __host__ __device__ inline
#else
#define NUSCOPE_HANG_BOTH static inline
#endif

enum {
  NUSCOPE_HANG_NOT_STARTED = 0,
  NUSCOPE_HANG_WAITING = 1,
  NUSCOPE_HANG_RUNNING = 2,
  NUSCOPE_HANG_DONE = 3
};

/* 32 bytes, so that queues do not share a cache sector. Written by its queue only. */
typedef struct {
  volatile int64_t task;   /* id of the entry that is polled for or runs; -1: none */
  volatile uint32_t state; /* NUSCOPE_HANG_... */
  volatile uint32_t moves; /* grows with every call of nuscope_hang_at */
  uint32_t unused[4];
} nuscope_hang_queue;

NUSCOPE_HANG_BOTH void nuscope_hang_at(nuscope_hang_queue* hang, int queue, int64_t task, uint32_t state) {
  hang[queue].task = task;
  hang[queue].state = state;
  hang[queue].moves = hang[queue].moves + 1;
#ifdef __CUDA_ARCH__
  __threadfence_system();
#endif
}

static inline void nuscope_hang_init(nuscope_hang_queue* hang, int queues) {
  for (int q = 0; q < queues; ++q) {
    hang[q].task = -1;
    hang[q].state = NUSCOPE_HANG_NOT_STARTED;
    hang[q].moves = 0;
  }
}

/* The same number twice: nothing has moved in between. */
static inline uint64_t nuscope_hang_moves(const nuscope_hang_queue* hang, int queues) {
  uint64_t sum = 0;
  for (int q = 0; q < queues; ++q) sum += hang[q].moves;
  return sum;
}

/* Writes the dump. sms: the SM of each queue as the schedule names it, or NULL for 0, 1, 2, ...; ids: the id
 * of each counter, or NULL likewise. Returns 0, or -1 if writing failed. */
static inline int nuscope_hang_save(FILE* file, const nuscope_hang_queue* hang, int queues,
                                    const int64_t* sms, const uint32_t* counters, int count,
                                    const int64_t* ids) {
  static const char* const states[] = {"not-started", "waiting", "running", "done"};
  fprintf(file, "{\"format\": \"nuscope-hang-dump\", \"version\": 1,\n \"queues\": {");
  for (int q = 0; q < queues; ++q) {
    const int64_t task = hang[q].task;
    const uint32_t state = hang[q].state > 3 ? 0 : hang[q].state;
    fprintf(file, "%s\"%lld\": {\"task\": ", q == 0 ? "" : ", ", (long long)(sms ? sms[q] : q));
    if (task < 0) {
      fprintf(file, "null");
    } else {
      fprintf(file, "%lld", (long long)task);
    }
    fprintf(file, ", \"state\": \"%s\"}", states[state]);
  }
  fprintf(file, "},\n \"counters\": {");
  for (int c = 0; c < count; ++c)
    fprintf(file, "%s\"%lld\": %lu", c == 0 ? "" : ", ", (long long)(ids ? ids[c] : c),
            (unsigned long)counters[c]);
  fprintf(file, "}}\n");
  return ferror(file) ? -1 : 0;
}

#endif /* NUSCOPE_HANGDUMP_H */
