/* The inner loops of exact.py: exact inner products of whole numbers, and those of rows in half precision. And those of
 * search/engine/{matching,file_ranking,signals}.py and search/index/freshness.py. */
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

/* What file_ranking.py's `_counted` has: terms, files, and the counts of KINDS and head, `room` apart. Each part has the
 * place of its first posting and of the one after its last, the number of its term, and whether it is the term itself;
 * those of a term follow each other. slots: of each file -1, and so again at the end. Returns how many there are. */
int64_t count_in_files(const int64_t *parts, const double *shares, const int32_t *file_of, const uint16_t *text,
                       const uint16_t *comments, const uint16_t *stem, const uint16_t *folders, const int32_t *places,
                       const int64_t *place_edges, int64_t *terms, int64_t *files, double *counts, int64_t *slots,
                       int64_t number, int64_t room, int64_t head) {
    int64_t found = 0, begun = 0;
    for (int64_t p = 0; p < number; p++) {
        const int64_t *part = parts + 4 * p;
        for (int64_t i = part[0]; i < part[1]; i++) {
            if (!part[3] && !stem[i] && !folders[i]) continue;
            int64_t own = slots[file_of[i]];
            if (own < 0) {
                own = slots[file_of[i]] = found++;
                terms[own] = part[2], files[own] = file_of[i];
                for (int k = 0; k < 5; k++) counts[k * room + own] = 0;
            }
            double *to = counts + own;
            if (part[3]) {
                int32_t first = comments[i] ? places[place_edges[i]] : 0;
                to[0] += text[i], to[room] += comments[i], to[4 * room] += (first & 1) && first < 2 * head;
            }
            to[2 * room] += shares[p] * stem[i], to[3 * room] += shares[p] * folders[i];
        }
        if (p + 1 < number && parts[4 * (p + 1) + 2] == part[2]) continue;
        for (; begun < found; begun++) slots[files[begun]] = -1;
    }
    return found;
}

/* The best score of another one of the same group, or 0 if that is more, as signals.py's `best_beside` has it; groups:
 * ascending. */
void best_of_others(const double *scores, const int64_t *groups, double *out, int64_t count) {
    for (int64_t first = 0, end; first < count; first = end) {
        double best = scores[first], second = 0;
        int64_t of_best = first;
        for (end = first + 1; end < count && groups[end] == groups[first]; end++) {
            if (scores[end] > best) second = best, best = scores[end], of_best = end;
            else if (scores[end] > second) second = scores[end];
        }
        for (int64_t i = first; i < end; i++) out[i] = i != of_best ? best : second;
        for (int64_t i = first; i < end; i++) out[i] = out[i] > 0 ? out[i] : 0;
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
