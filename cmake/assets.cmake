# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=web/dist -DOUTPUT=assets.c -P assets.cmake: report.js and report.css as arrays of C.
set(text "/* Made by cmake/assets.cmake */\n#include \"report/assets.h\"\n")
foreach(kind js css)
  file(READ ${FOLDER}/report.${kind} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND text "const char sxi_report_${kind}[] = {${bytes}};\n"
    "const size_t sxi_report_${kind}_size = sizeof sxi_report_${kind};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
