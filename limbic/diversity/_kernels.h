/* The float32 reductions of the contract, one function each.
 *
 * Sixteen accumulators start at +0; element i is folded into accumulator i % 16, in ascending i, by
 * one rounded multiply and one rounded add; at the end the accumulators are added left to right,
 * starting at +0. A vector of 16 lanes *is* the 16 accumulators, so the order is kept by every
 * instruction set that the compiler may split the vector into.
 *
 * The tail of a row (dim % 16 elements) is folded as a vector padded with zeros: an accumulator is
 * never -0 (a sum of opposite numbers rounds to +0), so adding the padding's +0 changes no bit.
 */
#ifndef LIMBIC_DIVERSITY_KERNELS_H
#define LIMBIC_DIVERSITY_KERNELS_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#define LANES 16

#if defined(__GNUC__) || defined(__clang__)
typedef float lanes_t __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
#define LOAD(address) (*(const lanes_t *)(address))
#define ZERO ((lanes_t){0})
#define MUL(x, y) ((x) * (y))
#define ADD(x, y) ((x) + (y))
#define SUB(x, y) ((x) - (y))
#define SPREAD(v) ((lanes_t){v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v})
#else
typedef struct { float lane[LANES]; } lanes_t;
static inline lanes_t LOAD(const float *address) { lanes_t x; memcpy(&x, address, sizeof x); return x; }
static const lanes_t ZERO = {{0}};
static inline lanes_t MUL(lanes_t x, lanes_t y) { for (int l = 0; l < LANES; l++) x.lane[l] *= y.lane[l]; return x; }
static inline lanes_t ADD(lanes_t x, lanes_t y) { for (int l = 0; l < LANES; l++) x.lane[l] += y.lane[l]; return x; }
static inline lanes_t SUB(lanes_t x, lanes_t y) { for (int l = 0; l < LANES; l++) x.lane[l] -= y.lane[l]; return x; }
static inline lanes_t SPREAD(float v) { lanes_t x; for (int l = 0; l < LANES; l++) x.lane[l] = v; return x; }
#endif

static inline float sum_lanes(lanes_t accumulators)
{
    float lane[LANES];
    float total = 0.0f;
    memcpy(lane, &accumulators, sizeof lane);
    for (int l = 0; l < LANES; l++) total += lane[l];
    return total;
}

/* The elements from `start` on, padded with zeros. */
static inline lanes_t load_tail(const float *row, ptrdiff_t start, ptrdiff_t dim)
{
    float padded[LANES] = {0};
    memcpy(padded, row + start, (size_t)(dim - start) * sizeof(float));
    return LOAD(padded);
}

static inline float dot_product(const float *x, const float *y, ptrdiff_t dim)
{
    lanes_t acc = ZERO;
    ptrdiff_t whole = dim - dim % LANES;
    for (ptrdiff_t c = 0; c < whole; c += LANES) acc = ADD(acc, MUL(LOAD(x + c), LOAD(y + c)));
    if (whole < dim) acc = ADD(acc, MUL(load_tail(x, whole, dim), load_tail(y, whole, dim)));
    return sum_lanes(acc);
}

static inline float squared_distance(const float *x, const float *y, ptrdiff_t dim)
{
    lanes_t acc = ZERO;
    ptrdiff_t whole = dim - dim % LANES;
    for (ptrdiff_t c = 0; c < whole; c += LANES) {
        lanes_t t = SUB(LOAD(x + c), LOAD(y + c));
        acc = ADD(acc, MUL(t, t));
    }
    if (whole < dim) {
        lanes_t t = SUB(load_tail(x, whole, dim), load_tail(y, whole, dim));
        acc = ADD(acc, MUL(t, t));
    }
    return sum_lanes(acc);
}

/* Four rows at once against one: the loads of x are shared and four chains of additions run beside
 * each other. Each of the four sums keeps its own order. */
static inline void dot_product_4(const float *x, const float *y, ptrdiff_t stride, ptrdiff_t dim, float *out)
{
    lanes_t a0 = ZERO, a1 = ZERO, a2 = ZERO, a3 = ZERO;
    const float *y1 = y + stride, *y2 = y1 + stride, *y3 = y2 + stride;
    ptrdiff_t whole = dim - dim % LANES;
    for (ptrdiff_t c = 0; c < whole; c += LANES) {
        lanes_t xc = LOAD(x + c);
        a0 = ADD(a0, MUL(xc, LOAD(y + c)));
        a1 = ADD(a1, MUL(xc, LOAD(y1 + c)));
        a2 = ADD(a2, MUL(xc, LOAD(y2 + c)));
        a3 = ADD(a3, MUL(xc, LOAD(y3 + c)));
    }
    if (whole < dim) {
        lanes_t xc = load_tail(x, whole, dim);
        a0 = ADD(a0, MUL(xc, load_tail(y, whole, dim)));
        a1 = ADD(a1, MUL(xc, load_tail(y1, whole, dim)));
        a2 = ADD(a2, MUL(xc, load_tail(y2, whole, dim)));
        a3 = ADD(a3, MUL(xc, load_tail(y3, whole, dim)));
    }
    out[0] = sum_lanes(a0);
    out[1] = sum_lanes(a1);
    out[2] = sum_lanes(a2);
    out[3] = sum_lanes(a3);
}

static inline void squared_distance_4(const float *x, const float *y, ptrdiff_t stride, ptrdiff_t dim, float *out)
{
    lanes_t a0 = ZERO, a1 = ZERO, a2 = ZERO, a3 = ZERO;
    const float *y1 = y + stride, *y2 = y1 + stride, *y3 = y2 + stride;
    ptrdiff_t whole = dim - dim % LANES;
    for (ptrdiff_t c = 0; c < whole; c += LANES) {
        lanes_t xc = LOAD(x + c), t;
        t = SUB(xc, LOAD(y + c));  a0 = ADD(a0, MUL(t, t));
        t = SUB(xc, LOAD(y1 + c)); a1 = ADD(a1, MUL(t, t));
        t = SUB(xc, LOAD(y2 + c)); a2 = ADD(a2, MUL(t, t));
        t = SUB(xc, LOAD(y3 + c)); a3 = ADD(a3, MUL(t, t));
    }
    if (whole < dim) {
        lanes_t xc = load_tail(x, whole, dim), t;
        t = SUB(xc, load_tail(y, whole, dim));  a0 = ADD(a0, MUL(t, t));
        t = SUB(xc, load_tail(y1, whole, dim)); a1 = ADD(a1, MUL(t, t));
        t = SUB(xc, load_tail(y2, whole, dim)); a2 = ADD(a2, MUL(t, t));
        t = SUB(xc, load_tail(y3, whole, dim)); a3 = ADD(a3, MUL(t, t));
    }
    out[0] = sum_lanes(a0);
    out[1] = sum_lanes(a1);
    out[2] = sum_lanes(a2);
    out[3] = sum_lanes(a3);
}

/* A tile of TILE_ROWS rows against a panel of LANES columns; here a lane is a column.
 *
 * A panel holds LANES points, transposed and with the dimensions regrouped so that those of one
 * accumulator (i % 16) are neighbours: coordinate `p` of column `c` is panel[p * LANES + c].
 * `start[l]` is where group l begins. A group is summed in `acc`, the groups are added to `total`
 * one after the other: exactly the contract's order, with no sum across lanes at all. The rows are
 * columns of a panel, too: `rows` points at the first of TILE_ROWS neighbouring columns.
 */
#define TILE_ROWS 4

#define TILE(NAME, TERM)                                                                          \
    static inline void NAME(const float *rows, const float *panel, const ptrdiff_t *start,        \
                            float *out)                                                           \
    {                                                                                             \
        lanes_t total0 = ZERO, total1 = ZERO, total2 = ZERO, total3 = ZERO;                       \
        for (int l = 0; l < LANES; l++) {                                                         \
            lanes_t acc0 = ZERO, acc1 = ZERO, acc2 = ZERO, acc3 = ZERO;                           \
            for (ptrdiff_t p = start[l]; p < start[l + 1]; p++) {                                 \
                const float *x = rows + p * LANES;                                                \
                lanes_t y = LOAD(panel + p * LANES), t;                                           \
                t = SPREAD(x[0]); acc0 = ADD(acc0, TERM(t, y));                                   \
                t = SPREAD(x[1]); acc1 = ADD(acc1, TERM(t, y));                                   \
                t = SPREAD(x[2]); acc2 = ADD(acc2, TERM(t, y));                                   \
                t = SPREAD(x[3]); acc3 = ADD(acc3, TERM(t, y));                                   \
            }                                                                                     \
            total0 = ADD(total0, acc0);                                                           \
            total1 = ADD(total1, acc1);                                                           \
            total2 = ADD(total2, acc2);                                                           \
            total3 = ADD(total3, acc3);                                                           \
        }                                                                                         \
        memcpy(out, &total0, sizeof total0);                                                      \
        memcpy(out + LANES, &total1, sizeof total1);                                              \
        memcpy(out + 2 * LANES, &total2, sizeof total2);                                          \
        memcpy(out + 3 * LANES, &total3, sizeof total3);                                          \
    }

static inline lanes_t squared_difference(lanes_t x, lanes_t y)
{
    lanes_t t = SUB(x, y);
    return MUL(t, t);
}

TILE(tile_dot_product, MUL)
TILE(tile_squared_distance, squared_difference)

/* Whether any of the tile's values is at most (at least) `limit`: most tiles hold no candidate. */
static inline int tile_any_at_most(const float *out, float limit)
{
    int found = 0;
    for (int c = 0; c < TILE_ROWS * LANES; c++) found |= out[c] <= limit;
    return found;
}

static inline int tile_any_at_least(const float *out, float limit)
{
    int found = 0;
    for (int c = 0; c < TILE_ROWS * LANES; c++) found |= out[c] >= limit;
    return found;
}

/* clamp(1 - dot, 0, 2) */
static inline float cosine_distance(float dot)
{
    float d = 1.0f - dot;
    if (d < 0.0f) d = 0.0f;
    if (d > 2.0f) d = 2.0f;
    return d;
}

/* 0: runs everywhere, 1: AVX2, 2: AVX-512 foundation. */
static inline int processor_supports(int isa)
{
    if (isa == 0) return 1;
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
    if (isa == 1) return __builtin_cpu_supports("avx2") != 0;
    if (isa == 2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f");
#endif
    return 0;
}

#endif
