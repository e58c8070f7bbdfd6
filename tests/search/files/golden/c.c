/*
 * A ring of bytes between a reader and a writer.
 */
#include "ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RING_MIN 16
#define RING_NEXT(ring, place) (((place) + 1) % (ring)->size)
#ifdef _WIN32
#define RING_EXPORT __declspec(dllexport)
#else
#define RING_EXPORT
#endif

/* What reading has come to. */
enum ring_state { RING_OPEN, RING_CLOSED, RING_FAILED };

/**
 * A ring; its members are private.
 */
struct ring {
  unsigned char *bytes;
  size_t size, read, write;
  enum ring_state state;
};

typedef struct ring ring_t;

/* Called with each byte. */
typedef int (*ring_fn)(ring_t *ring, unsigned char byte, void *data);

typedef struct {
  ring_t *ring;
  size_t left;
} ring_view;

static const size_t default_size = 4096;
static int count_of_rings;
extern int ring_debug;

static int grow(ring_t *ring, size_t size);

/**
 * Makes a ring of at least `size` bytes.
 *
 * Returns NULL if there is no memory.
 */
RING_EXPORT ring_t *ring_new(size_t size) {
  ring_t *ring = calloc(1, sizeof(*ring));
  if (ring == NULL)
    return NULL;
  if (grow(ring, size < RING_MIN ? default_size : size) != 0) {
    free(ring);
    return NULL;
  }
  count_of_rings++;
  return ring;
}

// Writes one byte.
// Returns -1 if there is no room.
int ring_put(ring_t *ring, unsigned char byte)
{
  size_t next = RING_NEXT(ring, ring->write);
  if (next == ring->read)
    return -ENOBUFS;
  ring->bytes[ring->write] = byte;
  ring->write = next;
  return 0;
}

/* Calls `fn` with every byte, until it returns nonzero. */
int ring_each(ring_t *ring, ring_fn fn, void *data) {
  int err = 0;

  while (ring->read != ring->write && err == 0) {
    err = fn(ring, ring->bytes[ring->read], data);
    ring->read = RING_NEXT(ring, ring->read);
  }
  return err;
}

static int grow(ring_t *ring, size_t size) {
  unsigned char *bytes = realloc(ring->bytes, size);
#if defined(RING_TRACE)
  trace("grow %zu", size);
#endif
  if (bytes == NULL) {
    ring->state = RING_FAILED;
    return -ENOMEM;
  }
  ring->bytes = bytes;
  ring->size = size;
  return 0;
}

/* The function that frees a ring. */
void (*ring_deleter(const ring_t *ring))(void *) {
  return ring->bytes ? ring_free : free;
}

#ifdef _WIN32
static unsigned long pause_for(int ms) { Sleep(ms); return 0; }
#else
static unsigned long pause_for(int ms) { return usleep(ms * 1000); }
#endif
