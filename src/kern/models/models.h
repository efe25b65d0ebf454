/* SPDX-License-Identifier: Apache-2.0
 * The models that can be fitted in batches, one line each: X(name, parameters, inputs, formula).
 * The body of a model is src/kern/models/NAME.kern.h; docs/adding-a-model.md says how to add one. */
#ifndef SXI_MODELS_H
#define SXI_MODELS_H

#define SXI_MODEL_LIST(X)                                                                          \
    X(decay, 3, 1, "b1 exp(-b2 x) + b3")                                                           \
    X(two_decays, 5, 1, "b1 exp(-b2 x) + b3 exp(-b4 x) + b5")                                      \
    X(three_decays, 6, 1, "b1 exp(-b2 x) + b3 exp(-b4 x) + b5 exp(-b6 x)")                         \
    X(rise, 2, 1, "b1 (1 - exp(-b2 x))")                                                           \
    X(logistic, 3, 1, "b1 / (1 + exp(b2 - b3 x))")                                                 \
    X(peak, 4, 1, "b1 exp(-((x - b2) / b3)^2 / 2) + b4")                                           \
    X(two_peaks, 8, 1,                                                                             \
      "b1 exp(-b2 x) + b3 exp(-((x - b4) / b5)^2 / 2) + b6 exp(-((x - b7) / b8)^2 / 2)")           \
    X(langmuir, 2, 1, "b1 b2 x / (1 + b2 x)")                                                      \
    X(vogel, 3, 1, "b1 exp(b2 / (x + b3))")                                                        \
    X(chwirut, 3, 1, "exp(-b1 x) / (b2 + b3 x)")                                                   \
    X(nelson, 3, 2, "b1 - b2 x1 exp(-b3 x2)")                                                      \
    X(misra1b, 2, 1, "b1 (1 - (1 + b2 x / 2)^-2)")                                                 \
    X(misra1c, 2, 1, "b1 (1 - (1 + 2 b2 x)^-1/2)")                                                 \
    X(mgh09, 4, 1, "b1 (x^2 + b2 x) / (x^2 + b3 x + b4)")                                          \
    X(rational_2, 5, 1, "(b1 + b2 x + b3 x^2) / (1 + b4 x + b5 x^2)")                              \
    X(rational_3, 7, 1, "(b1 + b2 x + b3 x^2 + b4 x^3) / (1 + b5 x + b6 x^2 + b7 x^3)")

enum sxi_model {
#define SXI_MODEL_ENUM(name, parameters, inputs, formula) SXI_MODEL_##name,
    SXI_MODEL_LIST(SXI_MODEL_ENUM)
#undef SXI_MODEL_ENUM
        SXI_MODELS
};

enum { SXI_MODEL_MOST_PARAMETERS = 8, SXI_MODEL_MOST_INPUTS = 2 };

#endif
