/* SPDX-License-Identifier: Apache-2.0
 * Random numbers without state: each is a function of (key, stream, counter), so results do not
 * depend on the order, the threads or the ranks that draw them. Philox4x32-10 of Random123
 * (Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3).
 *
 *   key      the seed of a run
 *   stream   which quantity: one number per kind of noise
 *   counter  which element of it: pixel, shot, ... any order
 *
 * Two calls with the same three numbers use the same bits, whatever the distribution. */
#ifndef SXI_RNG_H
#define SXI_RNG_H

#include <stdint.h>

/* sxi_rng_bits - 128 random bits; draw numbers repeated draws for one element, 0 is the first. */
void sxi_rng_bits(uint64_t key, uint32_t stream, uint64_t counter, uint32_t draw, uint32_t bits[4]);

/* sxi_rng_uniform - in (0, 1), never an end, in steps of 2^-52. */
double sxi_rng_uniform(uint64_t key, uint32_t stream, uint64_t counter);

/* sxi_rng_normal - mean 0, standard deviation 1. */
double sxi_rng_normal(uint64_t key, uint32_t stream, uint64_t counter);

/* sxi_rng_poisson - a count of the given mean; 0 for a mean that is not above 0. Exact up to a mean
 * of 1e9, beyond it a rounded normal. At most 2^62. */
int64_t sxi_rng_poisson(uint64_t key, uint32_t stream, uint64_t counter, double mean);

/* sxi_rng_poisson_of - the count that a uniform u in (0, 1) stands for: the least k whose cumulative
 * probability is not below u. By adding up, so for means up to some tens. */
int64_t sxi_rng_poisson_of(double u, double mean);

#endif
