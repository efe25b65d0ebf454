/* SPDX-License-Identifier: Apache-2.0
 * The bodies of all models. Each takes inputs x and parameters b of a group of lanes, fills the
 * derivatives d with respect to b and returns the value. */
#ifndef SXI_MODELS_KERN_H
#define SXI_MODELS_KERN_H

#include "kern/models/chwirut.kern.h"
#include "kern/models/decay.kern.h"
#include "kern/models/langmuir.kern.h"
#include "kern/models/logistic.kern.h"
#include "kern/models/mgh09.kern.h"
#include "kern/models/misra1b.kern.h"
#include "kern/models/misra1c.kern.h"
#include "kern/models/models.h"
#include "kern/models/nelson.kern.h"
#include "kern/models/peak.kern.h"
#include "kern/models/rational_2.kern.h"
#include "kern/models/rational_3.kern.h"
#include "kern/models/rise.kern.h"
#include "kern/models/three_decays.kern.h"
#include "kern/models/two_decays.kern.h"
#include "kern/models/two_peaks.kern.h"
#include "kern/models/vogel.kern.h"

#endif
