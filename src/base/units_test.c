/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "sx_check.h"

#include <string.h>

START_TEST(units_of_time) {
    static const struct {
        const char *unit;
        double ps;
    } cases[] = {
        {"s", 1e12},           {"sec", 1e12},         {"Seconds", 1e12},  {"ms", 1e9},
        {"us", 1e6},           {"\xc2\xb5s", 1e6},    {"\xce\xbcs", 1e6}, {"ns", 1e3},
        {"nano.second", 1e3},  {"nano-seconds", 1e3}, {"ps", 1},          {"picosecond", 1},
        {" PS ", 1},           {"picoseconds", 1},    {"fs", 1e-3},       {"femtosecond", 1e-3},
        {"micro second", 1e6}, {"as", 1e-6},          {"psec", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ps = 0;
        ck_ok(sxi_unit_time(cases[i].unit, &ps));
        ck_assert_msg(ps == cases[i].ps, "%s", cases[i].unit);
    }
}
END_TEST

START_TEST(unknown_units) {
    static const char *const cases[] = {"",     "mm",  "p",       "pss", "THz",
                                        "1/ps", "deg", "minutes", "xs"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ps = 7;
        ck_fails(sxi_unit_time(cases[i], &ps), SX_ERR_UNIT, "not a unit of time");
        ck_assert(ps == 7);
    }
}
END_TEST

SX_TEST_MAIN("units", units_of_time, unknown_units)
