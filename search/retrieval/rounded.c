/* The inner loops of exact.py: exact inner products of whole numbers, and those of rows in half precision. And those of
 * search/engine/matching.py and search/index/freshness.py. */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* out[r] = sum over k of rows[r][k] * query[k]; the caller scales the query so that no sum overflows. */
void inner_products(const int8_t *rows, const int16_t *query, int32_t *out, int64_t count, int64_t dim) {
    for (int64_t r = 0; r < count; r++) {
        const int8_t *row = rows + r * dim;
        int32_t sum = 0;
        for (int64_t k = 0; k < dim; k++) sum += row[k] * query[k];
        out[r] = sum;
    }
}

/* A finite number of half precision: the bits of exponent and fraction, moved to their places, are it divided by 2^112. */
static inline float single(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7FFF) << 13;
    float found;
    memcpy(&found, &bits, 4);
    return (half & 0x8000 ? -0x1p112f : 0x1p112f) * found;
}

#define SUMS 16

/* out[i] = sum over k of vectors[rows[i]][k] * query[k], summed in the same order for every row. */
void half_products(const uint16_t *vectors, const int64_t *rows, const float *query, float *out, int64_t count, int64_t dim) {
    for (int64_t i = 0; i < count; i++) {
        const uint16_t *row = vectors + rows[i] * dim;
        float sums[SUMS] = {0}, sum = 0;
        int64_t k = 0;
        for (; k + SUMS <= dim; k += SUMS)
            for (int j = 0; j < SUMS; j++) sums[j] += single(row[k + j]) * query[k + j];
        for (; k < dim; k++) sum += single(row[k]) * query[k];
        for (int j = 0; j < SUMS; j++) sum += sums[j];
        out[i] = sum;
    }
}

typedef struct {
    double *weights;
    int64_t *lengths, *firsts;
} chains;

static void improve(chains all, int64_t own, int64_t before, double weight) {
    weight += all.weights[before];
    if (weight <= all.weights[own]) return;
    all.weights[own] = weight, all.lengths[own] = all.lengths[before] + 1, all.firsts[own] = all.firsts[before];
}

/* The best passage that ends at each place of each word, as matching.py's `ending` has it: those of word w are
 * keys[starts[w]] to keys[starts[w + 1]], ascending. limits: BEFORE, APART, PUT_IN, NEAREST. */
void link_words(const int64_t *keys, const int64_t *starts, const int64_t *place, const int64_t *values, const double *weight,
                const double *gap, const int64_t *limits, double *weights, int64_t *lengths, int64_t *firsts, int64_t words) {
    chains all = {weights, lengths, firsts};
    for (int64_t w = 0; w < words; w++) {
        for (int64_t i = starts[w]; i < starts[w + 1]; i++) weights[i] = weight[w], lengths[i] = 1, firsts[i] = i;
        for (int64_t o = w > limits[0] ? w - limits[0] : 0; o < w; o++) {
            int64_t apart = place[w] - place[o], begin = starts[o], end = starts[o + 1], exact = begin, next = begin;
            int64_t most = o < w - 1 || values[w] > values[o] ? apart + limits[2] : apart == 1 ? 2 : 0;
            if (apart > limits[1] || begin == end) continue;
            for (int64_t i = starts[w]; i < starts[w + 1]; i++) {
                while (exact < end && keys[exact] < keys[i] - apart) exact++;
                while (next < end && keys[next] < keys[i]) next++;
                if (exact < end && keys[exact] == keys[i] - apart) improve(all, i, exact, weight[w]);
                for (int64_t p = next - 1; most && p >= begin && p >= next - limits[3] && keys[i] - keys[p] <= most; p--)
                    improve(all, i, p, weight[w] - *gap);
            }
        }
    }
}

#ifdef __APPLE__
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#endif

/* Five numbers of each name in `names`, which end with NULs, in the opened folder `root`, as tree_stamps.py's `stamp_of`
 * takes them; hows: 0 itself, 1 what it leads to, 2 only its kind. */
void take_stamps(const char *names, const int64_t *hows, int64_t *out, int64_t count, int root) {
    const int64_t second = 1000000000;
    for (int64_t i = 0; i < count; i++, names += strlen(names) + 1, out += 5) {
        struct stat now;
        memset(out, 0, 5 * sizeof *out);
        if (fstatat(root, names, &now, hows[i] == 1 ? 0 : AT_SYMLINK_NOFOLLOW)) continue;
        if (hows[i] == 2) out[0] = now.st_mode & S_IFMT;
        else {
            out[0] = now.st_mode, out[1] = now.st_ino, out[2] = now.st_size;
            out[3] = now.st_mtim.tv_sec * second + now.st_mtim.tv_nsec;
            out[4] = now.st_ctim.tv_sec * second + now.st_ctim.tv_nsec;
        }
    }
}
