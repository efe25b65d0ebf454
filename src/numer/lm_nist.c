/* SPDX-License-Identifier: Apache-2.0
 * Models and formats: https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml (public domain). */
#include "numer/lm_nist.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MODEL(name) static double name(const double *b, const double *x, double *d)

static const double PI = 3.14159265358979323846;

MODEL(bennett5) { /* b1 (b2 + x)^(-1/b3) */
    double base = b[1] + x[0], power = pow(base, -1.0 / b[2]);
    d[0] = power;
    d[1] = -b[0] * power / (b[2] * base);
    d[2] = b[0] * power * log(base) / (b[2] * b[2]);
    return b[0] * power;
}

MODEL(chwirut) { /* exp(-b1 x) / (b2 + b3 x) */
    double below = b[1] + b[2] * x[0], y = exp(-b[0] * x[0]) / below;
    d[0] = -x[0] * y;
    d[1] = -y / below;
    d[2] = -x[0] * y / below;
    return y;
}

MODEL(danwood) { /* b1 x^b2 */
    d[0] = pow(x[0], b[1]);
    d[1] = b[0] * d[0] * log(x[0]);
    return b[0] * d[0];
}

/* b1 exp(-((x - b2) / b3)^2) */
MODEL(gaussian) {
    double u = (x[0] - b[1]) / b[2];
    d[0] = exp(-u * u);
    d[1] = b[0] * d[0] * 2.0 * u / b[2];
    d[2] = d[1] * u;
    return b[0] * d[0];
}

MODEL(decay) { /* b1 exp(-b2 x) */
    d[0] = exp(-b[1] * x[0]);
    d[1] = -x[0] * b[0] * d[0];
    return b[0] * d[0];
}

MODEL(gauss) { return decay(b, x, d) + gaussian(b + 2, x, d + 2) + gaussian(b + 5, x, d + 5); }

MODEL(lanczos) { return decay(b, x, d) + decay(b + 2, x, d + 2) + decay(b + 4, x, d + 4); }

/* (b1 + b2 x + ...) / (1 + b x + ...), `above` and `below` powers */
static double rational(int above, int below, const double *b, double x, double *d) {
    double num = 0.0, den = 1.0, power = 1.0;
    for (int i = 0; i < above; i++, power *= x) {
        num += b[i] * power;
        d[i] = power;
    }
    power = x;
    for (int i = 0; i < below; i++, power *= x) {
        den += b[above + i] * power;
        d[above + i] = power;
    }
    for (int i = 0; i < above; i++) {
        d[i] /= den;
    }
    for (int i = 0; i < below; i++) {
        d[above + i] *= -num / (den * den);
    }
    return num / den;
}

MODEL(kirby2) { return rational(3, 2, b, x[0], d); }

MODEL(thurber) { return rational(4, 3, b, x[0], d); }

MODEL(mgh09) { /* b1 (x^2 + x b2) / (x^2 + x b3 + b4) */
    double num = x[0] * x[0] + x[0] * b[1], den = x[0] * x[0] + x[0] * b[2] + b[3];
    d[0] = num / den;
    d[1] = b[0] * x[0] / den;
    d[3] = -b[0] * num / (den * den);
    d[2] = d[3] * x[0];
    return b[0] * d[0];
}

MODEL(mgh10) { /* b1 exp(b2 / (x + b3)) */
    double below = x[0] + b[2];
    d[0] = exp(b[1] / below);
    d[1] = b[0] * d[0] / below;
    d[2] = -d[1] * b[1] / below;
    return b[0] * d[0];
}

MODEL(mgh17) { /* b1 + b2 exp(-x b4) + b3 exp(-x b5) */
    double e = exp(-x[0] * b[3]), f = exp(-x[0] * b[4]);
    d[0] = 1.0;
    d[1] = e;
    d[2] = f;
    d[3] = -x[0] * b[1] * e;
    d[4] = -x[0] * b[2] * f;
    return b[0] + b[1] * e + b[2] * f;
}

MODEL(misra1a) { /* b1 (1 - exp(-b2 x)); also BoxBOD */
    double e = exp(-b[1] * x[0]);
    d[0] = 1.0 - e;
    d[1] = b[0] * x[0] * e;
    return b[0] * d[0];
}

MODEL(misra1b) { /* b1 (1 - (1 + b2 x / 2)^-2) */
    double u = 1.0 + b[1] * x[0] / 2.0;
    d[0] = 1.0 - 1.0 / (u * u);
    d[1] = b[0] * x[0] / (u * u * u);
    return b[0] * d[0];
}

MODEL(misra1c) { /* b1 (1 - (1 + 2 b2 x)^-1/2) */
    double u = 1.0 + 2.0 * b[1] * x[0];
    d[0] = 1.0 - 1.0 / sqrt(u);
    d[1] = b[0] * x[0] / (u * sqrt(u));
    return b[0] * d[0];
}

MODEL(misra1d) { /* b1 b2 x / (1 + b2 x) */
    double u = 1.0 + b[1] * x[0];
    d[0] = b[1] * x[0] / u;
    d[1] = b[0] * x[0] / (u * u);
    return b[0] * d[0];
}

MODEL(nelson) { /* b1 - b2 x1 exp(-b3 x2) */
    double e = exp(-b[2] * x[1]);
    d[0] = 1.0;
    d[1] = -x[0] * e;
    d[2] = b[1] * x[0] * x[1] * e;
    return b[0] - b[1] * x[0] * e;
}

MODEL(rat42) { /* b1 / (1 + exp(b2 - b3 x)) */
    double e = exp(b[1] - b[2] * x[0]), below = 1.0 + e;
    d[0] = 1.0 / below;
    d[1] = -b[0] * e / (below * below);
    d[2] = -x[0] * d[1];
    return b[0] / below;
}

MODEL(rat43) { /* b1 / (1 + exp(b2 - b3 x))^(1 / b4) */
    double e = exp(b[1] - b[2] * x[0]), below = 1.0 + e, power = pow(below, -1.0 / b[3]);
    d[0] = power;
    d[1] = -b[0] * power * e / (below * b[3]);
    d[2] = -x[0] * d[1];
    d[3] = b[0] * power * log(below) / (b[3] * b[3]);
    return b[0] * power;
}

MODEL(roszman1) { /* b1 - b2 x - arctan(b3 / (x - b4)) / pi */
    double u = x[0] - b[3], below = PI * (u * u + b[2] * b[2]);
    d[0] = 1.0;
    d[1] = -x[0];
    d[2] = -u / below;
    d[3] = -b[2] / below;
    return b[0] - b[1] * x[0] - atan(b[2] / u) / PI;
}

MODEL(eckerle4) { /* b1 / b2 exp(-((x - b3) / b2)^2 / 2) */
    double u = (x[0] - b[2]) / b[1], e = exp(-0.5 * u * u);
    d[0] = e / b[1];
    d[1] = b[0] * e * (u * u - 1.0) / (b[1] * b[1]);
    d[2] = b[0] * e * u / (b[1] * b[1]);
    return b[0] * d[0];
}

/* b2 cos(2 pi x / b1) + b3 sin(2 pi x / b1) */
MODEL(cycle) {
    double w = 2.0 * PI * x[0] / b[0];
    d[1] = cos(w);
    d[2] = sin(w);
    d[0] = (b[1] * d[2] - b[2] * d[1]) * w / b[0];
    return b[1] * d[1] + b[2] * d[2];
}

MODEL(enso) { /* b1 + a year's cycle (b2, b3) + cycles of periods b4 and b7 */
    double w = 2.0 * PI * x[0] / 12.0;
    d[0] = 1.0;
    d[1] = cos(w);
    d[2] = sin(w);
    return b[0] + b[1] * d[1] + b[2] * d[2] + cycle(b + 3, x, d + 3) + cycle(b + 6, x, d + 6);
}

nist_problem *nist_file_problem(int which) {
    static nist_problem problems[] = {
        {.name = "Bennett5", .n = 3, .predictors = 1, .model = bennett5},
        {.name = "Chwirut1", .n = 3, .predictors = 1, .model = chwirut},
        {.name = "Chwirut2", .n = 3, .predictors = 1, .model = chwirut},
        {.name = "DanWood", .n = 2, .predictors = 1, .model = danwood},
        {.name = "Gauss1", .n = 8, .predictors = 1, .model = gauss},
        {.name = "Gauss2", .n = 8, .predictors = 1, .model = gauss},
        {.name = "Kirby2", .n = 5, .predictors = 1, .model = kirby2},
        {.name = "Lanczos1", .n = 6, .predictors = 1, .model = lanczos},
        {.name = "Lanczos3", .n = 6, .predictors = 1, .model = lanczos},
        {.name = "MGH09", .n = 4, .predictors = 1, .model = mgh09},
        {.name = "MGH17", .n = 5, .predictors = 1, .model = mgh17},
        {.name = "Misra1a", .n = 2, .predictors = 1, .model = misra1a},
        {.name = "Misra1b", .n = 2, .predictors = 1, .model = misra1b},
        {.name = "Misra1c", .n = 2, .predictors = 1, .model = misra1c},
        {.name = "Misra1d", .n = 2, .predictors = 1, .model = misra1d},
        {.name = "Nelson", .n = 3, .predictors = 2, .model = nelson, .log_response = true},
        {.name = "Rat42", .n = 3, .predictors = 1, .model = rat42},
        {.name = "Roszman1", .n = 4, .predictors = 1, .model = roszman1},
    };
    return which < (int)(sizeof problems / sizeof *problems) ? &problems[which] : NULL;
}

/* Data and certified values of NIST (public domain), for problems that have no file here. */
nist_problem *nist_builtin_problem(int which) {
    static nist_problem problems[] = {
        {.name = "BoxBOD",
         .n = 2,
         .predictors = 1,
         .model = misra1a,
         .m = 6,
         .x = {{1}, {2}, {3}, {5}, {7}, {10}},
         .y = {109, 149, 149, 191, 213, 224},
         .start = {{1, 1}, {100, 0.75}},
         .value = {2.1380940889E+02, 5.4723748542E-01},
         .deviation = {1.2354515176E+01, 1.0455993237E-01},
         .rss = 1.1680088766E+03},
        {.name = "MGH10",
         .n = 3,
         .predictors = 1,
         .model = mgh10,
         .m = 16,
         .x = {{50},
               {55},
               {60},
               {65},
               {70},
               {75},
               {80},
               {85},
               {90},
               {95},
               {100},
               {105},
               {110},
               {115},
               {120},
               {125}},
         .y = {34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427,
               3820, 3307, 2872},
         .start = {{2, 400000, 25000}, {0.02, 4000, 250}},
         .value = {5.6096364710E-03, 6.1813463463E+03, 3.4522363462E+02},
         .deviation = {1.5687892471E-04, 2.3309021107E+01, 7.8486103508E-01},
         .rss = 8.7945855171E+01},
        {.name = "Rat43",
         .n = 4,
         .predictors = 1,
         .model = rat43,
         .m = 15,
         .x = {{1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}},
         .y = {16.08, 33.83, 65.80, 97.20, 191.55, 326.20, 386.87, 520.53, 590.03, 651.92, 724.93,
               699.56, 689.96, 637.56, 717.41},
         .start = {{100, 10, 1, 1}, {700, 5, 0.75, 1.3}},
         .value = {6.9964151270E+02, 5.2771253025E+00, 7.5962938329E-01, 1.2792483859E+00},
         .deviation = {1.6302297817E+01, 2.0828735829E+00, 1.9566123451E-01, 6.8761936385E-01},
         .rss = 8.7864049080E+03},
        {.name = "Eckerle4",
         .n = 3,
         .predictors = 1,
         .model = eckerle4,
         .m = 35,
         .x = {{400},   {405},   {410},   {415},   {420},   {425},   {430},   {435},   {436.5},
               {438.0}, {439.5}, {441.0}, {442.5}, {444.0}, {445.5}, {447.0}, {448.5}, {450.0},
               {451.5}, {453.0}, {454.5}, {456.0}, {457.5}, {459.0}, {460.5}, {462.0}, {463.5},
               {465.0}, {470},   {475},   {480},   {485},   {490},   {495},   {500}},
         .y = {0.0001575, 0.0001699, 0.0002350, 0.0003102, 0.0004917, 0.0008710, 0.0017418,
               0.0046400, 0.0065895, 0.0097302, 0.0149002, 0.0237310, 0.0401683, 0.0712559,
               0.1264458, 0.2073413, 0.2902366, 0.3445623, 0.3698049, 0.3668534, 0.3106727,
               0.2078154, 0.1164354, 0.0616764, 0.0337200, 0.0194023, 0.0117831, 0.0074357,
               0.0022732, 0.0008800, 0.0004579, 0.0002345, 0.0001586, 0.0001143, 0.0000710},
         .start = {{1, 10, 500}, {1.5, 5, 450}},
         .value = {1.5543827178E+00, 4.0888321754E+00, 4.5154121844E+02},
         .deviation = {1.5408051163E-02, 4.6803020753E-02, 4.6800518816E-02},
         .rss = 1.4635887487E-03},
        {.name = "Lanczos2",
         .n = 6,
         .predictors = 1,
         .model = lanczos,
         .m = 24,
         .x = {{0.00}, {0.05}, {0.10}, {0.15}, {0.20}, {0.25}, {0.30}, {0.35},
               {0.40}, {0.45}, {0.50}, {0.55}, {0.60}, {0.65}, {0.70}, {0.75},
               {0.80}, {0.85}, {0.90}, {0.95}, {1.00}, {1.05}, {1.10}, {1.15}},
         .y = {2.51340e+00, 2.04433e+00, 1.66840e+00, 1.36642e+00, 1.12323e+00, 9.26890e-01,
               7.67934e-01, 6.38878e-01, 5.33784e-01, 4.47936e-01, 3.77585e-01, 3.19739e-01,
               2.72013e-01, 2.32497e-01, 1.99659e-01, 1.72270e-01, 1.49341e-01, 1.30070e-01,
               1.13812e-01, 1.00042e-01, 8.83321e-02, 7.83354e-02, 6.97669e-02, 6.23931e-02},
         .start = {{1.2, 0.3, 5.6, 5.5, 6.5, 7.6}, {0.5, 0.7, 3.6, 4.2, 4, 6.3}},
         .value = {9.6251029939E-02, 1.0057332849E+00, 8.6424689056E-01, 3.0078283915E+00,
                   1.5529016879E+00, 5.0028798100E+00},
         .deviation = {6.6770575477E-04, 3.3989646176E-03, 1.7185846685E-03, 4.1707005856E-03,
                       2.3744381417E-03, 1.3958787284E-03},
         .rss = 2.2299428125E-11},
        {.name = "Thurber",
         .n = 7,
         .predictors = 1,
         .model = thurber,
         .m = 37,
         .x = {{-3.067}, {-2.981}, {-2.921}, {-2.912}, {-2.840}, {-2.797}, {-2.702}, {-2.699},
               {-2.633}, {-2.481}, {-2.363}, {-2.322}, {-1.501}, {-1.460}, {-1.274}, {-1.212},
               {-1.100}, {-1.046}, {-0.915}, {-0.714}, {-0.566}, {-0.545}, {-0.400}, {-0.309},
               {-0.109}, {-0.103}, {0.010},  {0.119},  {0.377},  {0.790},  {0.963},  {1.006},
               {1.115},  {1.572},  {1.841},  {2.047},  {2.200}},
         .y = {80.574,   84.248,   87.264,   87.195,   89.076,   89.608,   89.868,   90.101,
               92.405,   95.854,   100.696,  101.060,  401.672,  390.724,  567.534,  635.316,
               733.054,  759.087,  894.206,  990.785,  1090.109, 1080.914, 1122.643, 1178.351,
               1260.531, 1273.514, 1288.339, 1327.543, 1353.863, 1414.509, 1425.208, 1421.384,
               1442.962, 1464.350, 1468.705, 1447.894, 1457.628},
         .start = {{1000, 1000, 400, 40, 0.7, 0.3, 0.03}, {1300, 1500, 500, 75, 1, 0.4, 0.05}},
         .value = {1.2881396800E+03, 1.4910792535E+03, 5.8323836877E+02, 7.5416644291E+01,
                   9.6629502864E-01, 3.9797285797E-01, 4.9727297349E-02},
         .deviation = {4.6647963344E+00, 3.9571156086E+01, 2.8698696102E+01, 5.5675370270E+00,
                       3.1333340687E-02, 1.4984928198E-02, 6.5842344623E-03},
         .rss = 5.6427082397E+03},
        {.name = "ENSO",
         .n = 9,
         .predictors = 1,
         .model = enso,
         .m = 168,
         .x = {{1},   {2},   {3},   {4},   {5},   {6},   {7},   {8},   {9},   {10},  {11},  {12},
               {13},  {14},  {15},  {16},  {17},  {18},  {19},  {20},  {21},  {22},  {23},  {24},
               {25},  {26},  {27},  {28},  {29},  {30},  {31},  {32},  {33},  {34},  {35},  {36},
               {37},  {38},  {39},  {40},  {41},  {42},  {43},  {44},  {45},  {46},  {47},  {48},
               {49},  {50},  {51},  {52},  {53},  {54},  {55},  {56},  {57},  {58},  {59},  {60},
               {61},  {62},  {63},  {64},  {65},  {66},  {67},  {68},  {69},  {70},  {71},  {72},
               {73},  {74},  {75},  {76},  {77},  {78},  {79},  {80},  {81},  {82},  {83},  {84},
               {85},  {86},  {87},  {88},  {89},  {90},  {91},  {92},  {93},  {94},  {95},  {96},
               {97},  {98},  {99},  {100}, {101}, {102}, {103}, {104}, {105}, {106}, {107}, {108},
               {109}, {110}, {111}, {112}, {113}, {114}, {115}, {116}, {117}, {118}, {119}, {120},
               {121}, {122}, {123}, {124}, {125}, {126}, {127}, {128}, {129}, {130}, {131}, {132},
               {133}, {134}, {135}, {136}, {137}, {138}, {139}, {140}, {141}, {142}, {143}, {144},
               {145}, {146}, {147}, {148}, {149}, {150}, {151}, {152}, {153}, {154}, {155}, {156},
               {157}, {158}, {159}, {160}, {161}, {162}, {163}, {164}, {165}, {166}, {167}, {168}},
         .y = {12.9, 11.3, 10.6, 11.2, 10.9, 7.5,  7.7,  11.7, 12.9, 14.3, 10.9, 13.7, 17.1, 14.0,
               15.3, 8.5,  5.7,  5.5,  7.6,  8.6,  7.3,  7.6,  12.7, 11.0, 12.7, 12.9, 13.0, 10.9,
               10.4, 10.2, 8.0,  10.9, 13.6, 10.5, 9.2,  12.4, 12.7, 13.3, 10.1, 7.8,  4.8,  3.0,
               2.5,  6.3,  9.7,  11.6, 8.6,  12.4, 10.5, 13.3, 10.4, 8.1,  3.7,  10.7, 5.1,  10.4,
               10.9, 11.7, 11.4, 13.7, 14.1, 14.0, 12.5, 6.3,  9.6,  11.7, 5.0,  10.8, 12.7, 10.8,
               11.8, 12.6, 15.7, 12.6, 14.8, 7.8,  7.1,  11.2, 8.1,  6.4,  5.2,  12.0, 10.2, 12.7,
               10.2, 14.7, 12.2, 7.1,  5.7,  6.7,  3.9,  8.5,  8.3,  10.8, 16.7, 12.6, 12.5, 12.5,
               9.8,  7.2,  4.1,  10.6, 10.1, 10.1, 11.9, 13.6, 16.3, 17.6, 15.5, 16.0, 15.2, 11.2,
               14.3, 14.5, 8.5,  12.0, 12.7, 11.3, 14.5, 15.1, 10.4, 11.5, 13.4, 7.5,  0.6,  0.3,
               5.5,  5.0,  4.6,  8.2,  9.9,  9.2,  12.5, 10.9, 9.9,  8.9,  7.6,  9.5,  8.4,  10.7,
               13.6, 13.7, 13.7, 16.5, 16.8, 17.1, 15.4, 9.5,  6.1,  10.1, 9.3,  5.3,  11.2, 16.6,
               15.6, 12.0, 11.5, 8.6,  13.8, 8.7,  8.6,  8.6,  8.7,  12.8, 13.2, 14.0, 13.4, 14.8},
         .start = {{11.0, 3.0, 0.5, 40.0, -0.7, -1.3, 25.0, -0.3, 1.4},
                   {10.0, 3.0, 0.5, 44.0, -1.5, 0.5, 26.0, -0.1, 1.5}},
         .value = {1.0510749193E+01, 3.0762128085E+00, 5.3280138227E-01, 4.4311088700E+01,
                   -1.6231428586E+00, 5.2554493756E-01, 2.6887614440E+01, 2.1232288488E-01,
                   1.4966870418E+00},
         .deviation = {1.7488832467E-01, 2.4310052139E-01, 2.4354686618E-01, 9.4408025976E-01,
                       2.8078369611E-01, 4.8073701119E-01, 4.1612939130E-01, 5.1460022911E-01,
                       2.5434468893E-01},
         .rss = 7.8853978668E+02},
    };
    return which < (int)(sizeof problems / sizeof *problems) ? &problems[which] : NULL;
}

/* One line of a file; the data begin at line 61 of every one. */
static bool read_line(const char *line, int number, nist_problem *p) {
    int j;
    double v[4];
    if (sscanf(line, " b%d = %lf %lf %lf %lf", &j, &v[0], &v[1], &v[2], &v[3]) == 5) {
        if (j < 1 || j > p->n) {
            return false;
        }
        p->start[0][j - 1] = v[0];
        p->start[1][j - 1] = v[1];
        p->value[j - 1] = v[2];
        p->deviation[j - 1] = v[3];
    }
    sscanf(line, "Residual Sum of Squares: %lf", &p->rss);
    if (number > 60) {
        int found = sscanf(line, "%lf %lf %lf", &v[0], &v[1], &v[2]);
        if (found == 1 + p->predictors && p->m < NIST_MAX_POINTS) {
            p->y[p->m] = p->log_response ? log(v[0]) : v[0];
            memcpy(p->x[p->m++], v + 1, (size_t)p->predictors * sizeof *v);
        } else if (found > 0) {
            return false;
        }
    }
    return true;
}

bool nist_read(const char *path, nist_problem *problem) {
    FILE *file = fopen(path, "r");
    if (!file) {
        return false;
    }
    char line[256];
    bool good = true;
    problem->m = 0;
    for (int number = 1; good && fgets(line, sizeof line, file); number++) {
        good = read_line(line, number, problem);
    }
    fclose(file);
    return good && problem->m > problem->n && problem->rss > 0.0;
}
