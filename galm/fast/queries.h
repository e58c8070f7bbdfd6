/* The scores of one query and some methods, eqs. 7 to 13: each word is compared with a context once. */
#include "cosines.h"
#include "convolutions.h"
#include "readings.h"
#include <pthread.h>
#include <signal.h>

/* Lists of words, each of which may be a graph. */
typedef struct {
    const float *vectors;   /* of the distinct words, [distinct, dim] */
    const float *norms;     /* of their blocks, squared, [distinct, blocks] */
    const int32_t *places;  /* each word's vector, [words] */
    const int32_t *offsets; /* list g has the words offsets[g] to offsets[g + 1], [lists + 1] */
    const float *edges;     /* E of the first layer, [cells]; null where no graphs are needed, as the next two */
    const int64_t *cells;   /* those of list g are from cells[g] on, [lists + 1] */
    const float *shares;    /* of each word in the mean of its list, [words] */
    int32_t distinct, lists;
} word_lists;

typedef struct {
    word_lists query, words, names;              /* the query is one list; of the methods all words, and those of names */
    const float *query_weights, *code_weights;   /* W^T and b of each layer, then of the head, then its w and its bias */
    int32_t dim, blocks, width, layers, count;
    int32_t helped; /* whether there is a processor for another thread */
} query_input;

/* Words as nodes, and what they are compared with; logits and values are known of a word once it was met. */
typedef struct {
    cosine_input in;
    cosine_room room;
    float *values; /* V of the words in the first context, [words, blocks] */
    char *met;
} comparison;

static comparison comparison_of(const word_lists *nodes, const word_lists *with, int longest, const query_input *in, size_t values,
                                int met) {
    cosine_input own = {space((size_t)nodes->distinct * with->distinct), nodes->vectors, with->vectors, nodes->norms, with->offsets,
                        with->places, with->lists, nodes->distinct, in->dim, in->blocks, longest, 1, with->distinct};
    return (comparison){own, cosine_room_for(&own), space(values * in->blocks), calloc(met + 1, 1)};
}

static void leave_comparison(comparison c) { free((float *)c.in.logits), leave_cosines(c.room), free(c.values), free(c.met); }

/* The logits of up to GROUP nodes from u on with one vector. */
INLINE void logits_of(comparison *c, int u, int group, int w, int dim) {
    const float *word = c->in.context + (size_t)w * dim, *nodes = c->in.nodes + (size_t)u * dim;
    lanes sums[GROUP];
    for (int i = 0; i < group; i++) sums[i] = (lanes){0};
    for (int f = 0; f < dim; f += LANES) {
        lanes here = load(word + f);
        for (int i = 0; i < group; i++) sums[i] += load(nodes + (size_t)i * dim + f) * here;
    }
    for (int i = 0; i < group; i++) ((float *)c->in.logits)[(size_t)(u + i) * c->in.vectors + w] = sum(sums[i]);
}

/* V of all of the query's words in the words of a method. */
INLINE void of_query_words(comparison *c, const word_lists *words, int row, int dim, int blocks) {
    for (int k = words->offsets[row]; k < words->offsets[row + 1]; k++) {
        int w = words->places[k], u = 0;
        if (c->met[w]) continue;
        c->met[w] = 1;
        for (; u + GROUP <= c->in.words; u += GROUP) logits_of(c, u, GROUP, w, dim);
        for (; u < c->in.words; u++) logits_of(c, u, 1, w, dim);
    }
    if (words->offsets[row] == words->offsets[row + 1]) memset(c->values, 0, sizeof(float) * c->in.words * blocks);
    else cosines_of(c->values, c->room, context_of(&c->in, row, dim, blocks));
}

/* V of the words of a name in the query. */
INLINE void of_name_words(comparison *c, const word_lists *names, int row, int dim, int blocks) {
    for (int k = names->offsets[row]; k < names->offsets[row + 1]; k++) {
        int w = names->places[k];
        if (c->met[w]) continue;
        c->met[w] = 1;
        for (int i = 0; i < c->in.vectors; i++) logits_of(c, w, 1, i, dim);
        cosines_from(c->values + (size_t)w * blocks, c->room, context_of(&c->in, 0, dim, blocks), w, 1);
    }
}

typedef struct {
    float *states, *below, *next;
    graph_room graphs;
} score_room;

static int longest_of(const word_lists *lists, const int32_t *rows, int count) {
    int longest = 1;
    for (int i = 0; i < count; i++) {
        int row = rows ? rows[i] : i, n = lists->offsets[row + 1] - lists->offsets[row];
        longest = n > longest ? n : longest;
    }
    return longest;
}

static score_room score_room_for(int longest, int width) {
    size_t states = (size_t)longest * width;
    return (score_room){space(states), space(states), space(states), graph_room_for(&(graph_input){.longest = longest, .width = width})};
}

static void leave_scores(score_room r) { free(r.states), free(r.below), free(r.next), leave_graphs(r.graphs); }

/* The score of one graph, by V of each of the distinct words. */
INLINE float score_of(const float *values, score_room r, const word_lists *lists, int list, const float *weights, int blocks,
                      int width, int layers) {
    int first = lists->offsets[list], n = lists->offsets[list + 1] - first, from = blocks;
    for (int j = 0; j < n; j++) memcpy(r.states + j * blocks, values + (size_t)lists->places[first + j] * blocks, 4 * blocks);
    for (int layer = 0; layer < layers; layer++) {
        product(r.below, (matrix){r.states, from, 1}, (rows){weights, width, 0}, 0, n, from);
        weights += from * width;
        matrix edges = {lists->edges + lists->cells[list], n, 1};
        if (layer) edges = own_edges(r.graphs, (rows){r.states, from, 0}, n, 1, 1);
        product(r.next, edges, (rows){r.below, width, 0}, weights, n, n);
        float *free_now = r.states;
        r.states = r.next, r.next = free_now, from = width, weights += width;
    }
    product(r.below, (matrix){r.states, from, 1}, (rows){weights, width, 0}, 0, n, from);
    const float *bias = weights + from * width, *readout = bias + width;
    float total = 0;
    for (int j = 0; j < n; j++) {
        lanes read = {0};
        for (int f = 0; f < width; f += LANES)
            read += load(readout + f) * hyperbolic_tangent(load(r.below + j * width + f) + load(bias + f));
        total += lists->shares[first + j] * (sum(read) + readout[width]);
    }
    return total;
}

/* The vectors of a method's words are brought to the cache while another method is scored. */
INLINE void fetch_words(const word_lists *words, int row, int dim) {
    for (int k = words->offsets[row]; k < words->offsets[row + 1]; k++)
        for (int f = 0; f < dim; f += LANES) __builtin_prefetch(words->vectors + (size_t)words->places[k] * dim + f, 0, 2);
}

INLINE void scores_of(const query_input *in, const int32_t *rows, float *out, int count, comparison *query, comparison *names,
                      score_room r, int dim, int blocks, int width) {
    for (int i = 0; i < count; i++) {
        if (i + 1 < count) fetch_words(&in->words, rows[i + 1], dim);
        of_query_words(query, &in->words, rows[i], dim, blocks);
        of_name_words(names, &in->names, rows[i], dim, blocks);
        out[i] = score_of(query->values, r, &in->query, 0, in->query_weights, blocks, width, in->layers) +
                 score_of(names->values, r, &in->names, rows[i], in->code_weights, blocks, width, in->layers);
    }
}

/* Methods of which threads take SHARE at a time: one that helps from the beginning, and at the end the caller. The one
 * that helps may begin when all are scored: then it leaves what `in` leads to alone. The last one frees this. */
#define SHARE 32
typedef struct shared_work {
    query_input in;
    const int32_t *rows;
    float *out;
    int taken, done, threads;
    struct shared_work *next;
} shared_work;

static void *take_shares(void *given) {
    shared_work *work = given;
    const query_input *in = &work->in;
    int first = __atomic_fetch_add(&work->taken, SHARE, __ATOMIC_ACQ_REL);
    if (first < in->count) {
        int asked = longest_of(&in->query, 0, 1), named = longest_of(&in->names, work->rows, in->count);
        int longest = longest_of(&in->words, work->rows, in->count);
        comparison query = comparison_of(&in->query, &in->words, longest, in, in->query.distinct, in->words.distinct);
        comparison names = comparison_of(&in->names, &in->query, asked, in, in->names.distinct, in->names.distinct);
        score_room r = score_room_for(asked > named ? asked : named, in->width > in->blocks ? in->width : in->blocks);
        do {
            const int32_t *rows = work->rows + first;
            int count = in->count - first < SHARE ? in->count - first : SHARE;
            if (in->dim == 256 && in->blocks == 16 && in->width == 16)
                scores_of(in, rows, work->out + first, count, &query, &names, r, 256, 16, 16);
            else scores_of(in, rows, work->out + first, count, &query, &names, r, in->dim, in->blocks, in->width);
            first = __atomic_fetch_add(&work->taken, SHARE, __ATOMIC_ACQ_REL);
            __atomic_fetch_add(&work->done, count, __ATOMIC_ACQ_REL);
        } while (first < in->count);
        leave_comparison(query), leave_comparison(names), leave_scores(r);
    }
    return 0;
}

static void left_by_one(shared_work *work) {
    if (__atomic_sub_fetch(&work->threads, 1, __ATOMIC_ACQ_REL) == 0) free(work);
}

/* The thread that helps waits for the next work, so that none is started for each. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t given;
    shared_work *first, **end;
    int waits;
} helper = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, &helper.first, 0};

static void *help(void *unused) {
    for (;;) {
        pthread_mutex_lock(&helper.lock);
        while (!helper.first) pthread_cond_wait(&helper.given, &helper.lock);
        shared_work *work = helper.first;
        if (!(helper.first = work->next)) helper.end = &helper.first;
        pthread_mutex_unlock(&helper.lock);
        take_shares(work);
        left_by_one(work);
    }
    return unused;
}

/* A process that was forked has no such thread, and its copy of the lock may be held. */
static void without_helper(void) {
    pthread_mutex_init(&helper.lock, 0);
    pthread_cond_init(&helper.given, 0);
    helper.first = 0, helper.end = &helper.first, helper.waits = 0;
}

/* Whether the thread is there. It takes no signals: those are for the threads of the program that loads this. */
static int helper_waits(void) {
    static int told_of_forks = 0;
    if (helper.waits) return 1;
    sigset_t all, before;
    pthread_t other;
    if (!told_of_forks) told_of_forks = !pthread_atfork(0, 0, without_helper);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    helper.waits = told_of_forks && !pthread_create(&other, 0, help, 0);
    pthread_sigmask(SIG_SETMASK, &before, 0);
    if (helper.waits) pthread_detach(other);
    return helper.waits;
}

/* Begins to score the methods `rows`; out: [count]. What it is given must remain until the end. */
void *query_scores_begin(const query_input *in, const int32_t *rows, float *out) {
    shared_work *work = malloc(sizeof *work);
    *work = (shared_work){*in, rows, out, 0, 0, 1, 0};
    if (!in->helped || in->count < SHARE) return work;
    pthread_mutex_lock(&helper.lock);
    if (helper_waits()) {
        work->threads = 2;
        *helper.end = work, helper.end = &work->next;
        pthread_cond_signal(&helper.given);
    }
    pthread_mutex_unlock(&helper.lock);
    return work;
}

/* Scores what is left; then all are. */
void query_scores_end(shared_work *work) {
    take_shares(work);
    while (__atomic_load_n(&work->done, __ATOMIC_ACQUIRE) < work->in.count) sched_yield();
    left_by_one(work);
}
