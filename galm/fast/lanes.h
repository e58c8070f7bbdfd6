/* Registers of the processor, and products of small matrices that are held in them. */
#ifndef LANES_H
#define LANES_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#define BATCHED
#else
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#define BATCHED static __attribute__((unused)) /* a kernel of batches: the library of one query is without it */
#endif

/* A register of the processor, and how many of them a tile of a product may hold. */
#ifdef __AVX512F__
#define LANES 16
#define REGISTERS 16
#else
#define LANES 8
#define REGISTERS 8
#endif
typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t int_lanes __attribute__((vector_size(4 * LANES), aligned(4)));

#define INLINE static inline __attribute__((always_inline))
#define UP(n) (((n) + LANES - 1) / LANES * LANES)
#define CLAMP 1e-16f /* the square of alignment_graph.CLAMP */

INLINE lanes load(const float *from) { return *(const lanes *)from; }
INLINE void store(float *to, lanes value) { *(lanes *)to = value; }
INLINE lanes all(float value) { return value - (lanes){0}; }
INLINE lanes where_positive(lanes test, lanes value) { return (lanes)((int_lanes)value & (int_lanes)(test > 0)); }

#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (int_lanes){__VA_ARGS__})
#endif

/* The lanes of each 2 n, the second n first; and those of the lower or upper halves of two, in turn. */
#if LANES == 16
#define BY_8(v) PICK(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#define BY_4(v) PICK(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
#define BY_2(v) PICK(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
#define LOWER(a, b) PICK(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define UPPER(a, b) PICK(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#else
#define BY_4(v) PICK(v, v, 4, 5, 6, 7, 0, 1, 2, 3)
#define BY_2(v) PICK(v, v, 2, 3, 0, 1, 6, 7, 4, 5)
#define LOWER(a, b) PICK(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define UPPER(a, b) PICK(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#endif

INLINE float sum(lanes v) {
#if LANES == 16
    v += BY_8(v);
#endif
    v += BY_4(v);
    v += BY_2(v);
    return v[0] + v[1];
}

INLINE lanes larger(lanes a, lanes b) {
    int_lanes first = a > b;
    return (lanes)(((int_lanes)a & first) | ((int_lanes)b & ~first));
}

INLINE float maximum(lanes v) {
#if LANES == 16
    v = larger(v, BY_8(v));
#endif
    v = larger(v, BY_4(v));
    v = larger(v, BY_2(v));
    return v[0] > v[1] ? v[0] : v[1];
}

/* The square matrix turned: log2(LANES) times the upper half's rows are interleaved with the lower half's. */
INLINE void transpose(lanes square[LANES]) {
    for (int size = 1; size < LANES; size *= 2) {
        lanes next[LANES];
        for (int i = 0; i < LANES / 2; i++) {
            lanes a = square[i], b = square[i + LANES / 2];
            next[2 * i] = LOWER(a, b);
            next[2 * i + 1] = UPPER(a, b);
        }
        for (int i = 0; i < LANES; i++) square[i] = next[i];
    }
}

/* e^x as 2^n e^r with |r| <= ln 2 / 2, within 2 units in the last place; below -87 as at -87. */
INLINE lanes exponential(lanes x) {
    int_lanes low = x < -87.0f;
    x = (lanes)(((int_lanes)x & ~low) | ((int_lanes)all(-87.0f) & low));
    lanes n = (x * 1.44269504f + 12582912.0f) - 12582912.0f; /* 1.5 * 2^23: the sum is rounded to an integer */
    lanes r = x - n * 0.693359375f + n * 2.12194440e-4f;
    lanes y = all(1.9875691500e-4f);
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1.0f;
    return (lanes)((int_lanes)y + (__builtin_convertvector(n, int_lanes) << 23));
}

/* Softmax of row[0..n), whose room is UP(n); 0 behind. */
INLINE void softmax(float *row, int n) {
    for (int i = n; i < UP(n); i++) row[i] = -1e30f;
    lanes most = load(row), total = {0};
    for (int i = LANES; i < UP(n); i += LANES) most = larger(load(row + i), most);
    float largest = maximum(most);
    for (int i = 0; i < UP(n); i += LANES) {
        lanes e = exponential(load(row + i) - largest);
        store(row + i, e);
        total += e;
    }
    float scale = 1.0f / sum(total);
    for (int i = 0; i < UP(n); i += LANES) store(row + i, load(row + i) * scale);
    for (int i = n; i < UP(n); i++) row[i] = 0;
}

/* A small matrix: entry (j, k) at values[j * row + k * column]. */
typedef struct {
    const float *values;
    int row, column;
} matrix;

/* Row k at values + places[k] * width, or without places at values + k * width. */
typedef struct {
    const float *values;
    int width;
    const int32_t *places;
} rows;

INLINE const float *row_of(rows x, int k) { return x.values + (size_t)(x.places ? x.places[k] : k) * x.width; }

/* Columns [at, at + vectors * LANES) of out[j] = sum over k < n of a[j, k] x[k], for `m` rows held in registers; with
 * a bias relu(out[j] + bias) instead. */
INLINE void product_tile(float *out, matrix a, rows x, const float *bias, int m, int n, int at, int vectors) {
    lanes sums[8][4];
    for (int j = 0; j < m; j++)
        for (int i = 0; i < vectors; i++) sums[j][i] = bias ? load(bias + at + i * LANES) : (lanes){0};
    for (int k = 0; k < n; k++) {
        const float *row = row_of(x, k) + at;
        for (int j = 0; j < m; j++) {
            float share = a.values[j * a.row + k * a.column];
            for (int i = 0; i < vectors; i++) sums[j][i] += share * load(row + i * LANES);
        }
    }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < vectors; i++)
            store(out + j * x.width + at + i * LANES, bias ? where_positive(sums[j][i], sums[j][i]) : sums[j][i]);
}

INLINE void product_rows(float *out, matrix a, rows x, const float *bias, int m, int n) {
    int at = 0;
    for (; 4 * m <= REGISTERS && at + 4 * LANES <= x.width; at += 4 * LANES)
        product_tile(out, a, x, bias, m, n, at, 4);
    for (; 2 * m <= REGISTERS && at + 2 * LANES <= x.width; at += 2 * LANES)
        product_tile(out, a, x, bias, m, n, at, 2);
    for (; at < x.width; at += LANES) product_tile(out, a, x, bias, m, n, at, 1);
}

/* out[j] = sum over k < n of a[j, k] x[k], for j < m; with a bias relu(out[j] + bias) instead. */
INLINE void product(float *out, matrix a, rows x, const float *bias, int m, int n) {
    int j = 0;
    if (x.width <= 2 * LANES)
        for (; j + 8 <= m; j += 8, a.values += 8 * a.row) product_rows(out + j * x.width, a, x, bias, 8, n);
    for (; j + 4 <= m; j += 4, a.values += 4 * a.row) product_rows(out + j * x.width, a, x, bias, 4, n);
    if (m - j == 3) product_rows(out + j * x.width, a, x, bias, 3, n);
    if (m - j == 2) product_rows(out + j * x.width, a, x, bias, 2, n);
    if (m - j == 1) product_rows(out + j * x.width, a, x, bias, 1, n);
}

/* turned[f, k] = x[k][f] for f < width, k < n, and 0 up to the end of its rows, which are UP(n) wide. */
INLINE void turn(float *turned, rows x, int n) {
    for (int f = 0; f < x.width; f += LANES)
        for (int at = 0; at < n; at += LANES) {
            lanes square[LANES];
            for (int k = 0; k < LANES; k++) square[k] = at + k < n ? load(row_of(x, at + k) + f) : (lanes){0};
            transpose(square);
            for (int i = 0; i < LANES; i++) store(turned + (f + i) * UP(n) + at, square[i]);
        }
}

/* out[j, k] = <left[j], right[k]> for j, k < n; out's rows are UP(n) wide; `turned` has room for width * UP(n). */
INLINE void dots(float *out, const float *left, rows right, int n, float *turned) {
    turn(turned, right, n);
    matrix a = {left, right.width, 1};
    if (UP(n) == LANES) product(out, a, (rows){turned, LANES, 0}, 0, n, right.width);
    else product(out, a, (rows){turned, UP(n), 0}, 0, n, right.width);
}

static float *space(size_t floats) { return aligned_alloc(64, (4 * floats + 127) / 64 * 64); }

/* The contexts of one of several threads. */
#define MY_CONTEXTS(contexts)                                                                     \
    int me = omp_get_thread_num(), of = omp_get_num_threads(),                                    \
        c = (int)((int64_t)(contexts) * me / of), end = (int)((int64_t)(contexts) * (me + 1) / of)
#endif
