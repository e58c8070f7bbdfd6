/* V of every node word against every context, eqs. 7 to 9. */
#include "lanes.h"

typedef struct {
    const float *logits;     /* [words, vectors] */
    const float *nodes;      /* [words, dim] */
    const float *context;    /* [vectors, dim] */
    const float *node_norms; /* squared, [words, blocks] */
    const int32_t *offsets;  /* [contexts + 1] */
    const int32_t *places;   /* [context words], each word's vector; without places, each word has its own in order */
    int32_t contexts, words, dim, blocks, longest, threads, vectors;
} cosine_input;

/* GROUP words at a time are brought to a context, so that its words are read from the cache once for all of them. */
#define GROUP 4

typedef struct {
    float *shares, *to_shares; /* [GROUP, UP(longest)] */
    float *aligned;            /* [GROUP, dim] */
    float *norms, *values;     /* [GROUP, blocks] */
    float *cross, *turn;       /* [blocks] */
} cosine_room;

static cosine_room cosine_room_for(const cosine_input *in) {
    size_t shares = GROUP * UP(in->longest), blocks = in->blocks;
    cosine_room r = {space(shares),         space(shares),         space(GROUP * in->dim), space(GROUP * blocks),
                     space(GROUP * blocks), space(blocks),         space(blocks)};
    return r;
}

static void leave_cosines(cosine_room r) {
    free(r.shares), free(r.to_shares), free(r.aligned), free(r.norms);
    free(r.values), free(r.cross), free(r.turn);
}

/* A context, and the widths that hold in it. */
typedef struct {
    const cosine_input *in;
    int start, words, dim, blocks;
} one_context;

INLINE one_context context_of(const cosine_input *in, int c, int dim, int blocks) {
    return (one_context){in, in->offsets[c], in->offsets[c + 1] - in->offsets[c], dim, blocks};
}

INLINE void block_sums(float *out, const float *left, const float *right, int dim, int blocks) {
    if (blocks % LANES == 0) {
        for (int b = 0; b < blocks; b += LANES) {
            lanes total = {0};
            for (int at = b; at < dim; at += blocks) total += load(left + at) * load(right + at);
            store(out + b, total);
        }
        return;
    }
    for (int b = 0; b < blocks; b++) out[b] = 0;
    for (int at = 0; at < dim; at += blocks)
        for (int b = 0; b < blocks; b++) out[b] += left[at + b] * right[at + b];
}

/* Of `group` words from u on: the shares in the context's words (eq. 7), the mix Q^ of them, its norms and its
 * products with the word. */
INLINE void align(cosine_room r, one_context at, int u, int group) {
    const cosine_input *in = at.in;
    int step = UP(at.words), dim = at.dim, blocks = at.blocks;
    const int32_t *places = in->places ? in->places + at.start : 0;
    for (int i = 0; i < group; i++) {
        float *shares = r.shares + i * step;
        const float *logits = in->logits + (size_t)(u + i) * in->vectors;
        if (places)
            for (int k = 0; k < at.words; k++) shares[k] = logits[places[k]];
        else memcpy(shares, logits + at.start, 4 * at.words);
        softmax(shares, at.words);
    }
    matrix shares = {r.shares, step, 1};
    if (places) product(r.aligned, shares, (rows){in->context, dim, places}, 0, group, at.words);
    else product(r.aligned, shares, (rows){in->context + (size_t)at.start * dim, dim, 0}, 0, group, at.words);
    for (int i = 0; i < group; i++) {
        const float *aligned = r.aligned + i * dim;
        block_sums(r.norms + i * blocks, aligned, aligned, dim, blocks);
        block_sums(r.values + i * blocks, aligned, in->nodes + (size_t)(u + i) * dim, dim, blocks);
    }
}

INLINE void cosines_from(float *out, cosine_room r, one_context at, int u, int group) {
    align(r, at, u, group);
    for (int i = 0; i < group * at.blocks; i++) {
        float both = r.norms[i] * at.in->node_norms[(size_t)u * at.blocks + i];
        out[i] = r.values[i] / __builtin_sqrtf(both > CLAMP ? both : CLAMP);
    }
}

INLINE void cosines_of(float *out, cosine_room r, one_context at) {
    for (int u = 0; u < at.in->words; u += GROUP)
        cosines_from(out + (size_t)u * at.blocks, r, at, u, at.in->words - u < GROUP ? at.in->words - u : GROUP);
}

/* out: [contexts, words, blocks] */
BATCHED void cosines_forward(const cosine_input *in, float *out) {
    size_t size = (size_t)in->words * in->blocks;
#pragma omp parallel num_threads(in->threads)
    {
        cosine_room r = cosine_room_for(in);
        MY_CONTEXTS(in->contexts);
        for (; c < end; c++) {
            if (in->offsets[c] == in->offsets[c + 1]) memset(out + c * size, 0, 4 * size);
            else if (in->dim == 256 && in->blocks == 16) cosines_of(out + c * size, r, context_of(in, c, 256, 16));
            else cosines_of(out + c * size, r, context_of(in, c, in->dim, in->blocks));
        }
        leave_cosines(r);
    }
}

typedef struct {
    float *logits;  /* [words, context words] */
    float *nodes;   /* [threads, words, dim], 0 before: <Q^, g r> without the part of Q's own norm, which is */
    float *own;     /* [threads, words, blocks], 0 before: the sum of g V */
    float *context; /* [context words, dim], 0 before */
} cosine_output;

/* Of V = d r with d = <Q^, Q>, r = (|Q^|^2 |Q|^2)^(-1/2): dQ^ = g r Q - g V / |Q^|^2 Q^, and the same for Q. The first
 * takes the place of Q^; g, V and what comes of them are of one word. */
INLINE void gradient_of_aligned(cosine_room r, one_context at, cosine_output to, const float *gradient, int u, int i) {
    int dim = at.dim, blocks = at.blocks;
    const float *node = at.in->nodes + (size_t)(u + i) * dim, *norms = r.norms + i * blocks;
    float *aligned = r.aligned + i * dim, *to_node = to.nodes + (size_t)(u + i) * dim;
    for (int b = 0; b < blocks; b++) {
        size_t here = (size_t)(u + i) * blocks + b;
        float both = norms[b] * at.in->node_norms[here];
        int alive = both > CLAMP; /* below it r is constant */
        float scale = 1.0f / __builtin_sqrtf(alive ? both : CLAMP);
        float turned = alive ? gradient[here] * r.values[i * blocks + b] * scale : 0;
        r.cross[b] = gradient[here] * scale;
        r.turn[b] = turned / (norms[b] > CLAMP ? norms[b] : CLAMP);
        to.own[here] += turned;
    }
    if (blocks % LANES == 0) {
        for (int b = 0; b < blocks; b += LANES) {
            lanes cross = load(r.cross + b), turn = load(r.turn + b);
            for (int f = b; f < dim; f += blocks) {
                lanes seen = load(aligned + f);
                store(to_node + f, load(to_node + f) + cross * seen);
                store(aligned + f, cross * load(node + f) - turn * seen);
            }
        }
        return;
    }
    for (int f = 0; f < dim; f++) {
        float seen = aligned[f], cross = r.cross[f % blocks];
        to_node[f] += cross * seen;
        aligned[f] = cross * node[f] - r.turn[f % blocks] * seen;
    }
}

/* For each word w of the context: to_word += the sum of shares[i, w] aligned[i], and to_shares[i, w] = <aligned[i], w>. */
INLINE void gradient_of_words(cosine_room r, one_context at, cosine_output to, int group) {
    for (int w = 0; w < at.words; w++) {
        const float *word = at.in->context + (size_t)(at.start + w) * at.dim;
        float *to_word = to.context + (size_t)(at.start + w) * at.dim;
        lanes sums[GROUP];
        for (int i = 0; i < group; i++) sums[i] = (lanes){0};
        for (int f = 0; f < at.dim; f += LANES) {
            lanes gathered = load(to_word + f), here = load(word + f);
            for (int i = 0; i < group; i++) {
                lanes aligned = load(r.aligned + i * at.dim + f);
                gathered += r.shares[i * UP(at.words) + w] * aligned;
                sums[i] += aligned * here;
            }
            store(to_word + f, gathered);
        }
        for (int i = 0; i < group; i++) r.to_shares[i * UP(at.words) + w] = sum(sums[i]);
    }
}

/* Through the softmax of the shares. */
INLINE void gradient_of_logits(float *to_logits, const float *shares, const float *to_shares, int words) {
    float mean = 0;
    for (int w = 0; w < words; w++) mean += to_shares[w] * shares[w];
    for (int w = 0; w < words; w++) to_logits[w] = shares[w] * (to_shares[w] - mean);
}

INLINE void cosines_back(const float *gradient, cosine_room r, one_context at, cosine_output to) {
    for (int u = 0; u < at.in->words; u += GROUP) {
        int group = at.in->words - u < GROUP ? at.in->words - u : GROUP;
        align(r, at, u, group);
        for (int i = 0; i < group; i++) gradient_of_aligned(r, at, to, gradient, u, i);
        if (group == GROUP) gradient_of_words(r, at, to, GROUP);
        else gradient_of_words(r, at, to, group);
        for (int i = 0; i < group; i++) {
            int row = i * UP(at.words);
            float *to_logits = to.logits + (size_t)(u + i) * at.in->offsets[at.in->contexts] + at.start;
            gradient_of_logits(to_logits, r.shares + row, r.to_shares + row, at.words);
        }
    }
}

/* gradient: [contexts, words, blocks] */
BATCHED void cosines_backward(const cosine_input *in, const float *gradient, const cosine_output *to) {
#pragma omp parallel num_threads(in->threads)
    {
        cosine_room r = cosine_room_for(in);
        MY_CONTEXTS(in->contexts);
        cosine_output mine = *to;
        mine.nodes += (size_t)me * in->words * in->dim, mine.own += (size_t)me * in->words * in->blocks;
        for (; c < end; c++) {
            const float *g = gradient + (size_t)c * in->words * in->blocks;
            if (in->offsets[c] == in->offsets[c + 1]) continue;
            if (in->dim == 256 && in->blocks == 16) cosines_back(g, r, context_of(in, c, 256, 16), mine);
            else cosines_back(g, r, context_of(in, c, in->dim, in->blocks), mine);
        }
        leave_cosines(r);
    }
}
