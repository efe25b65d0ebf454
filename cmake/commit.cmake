# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a header with version and commit of SOURCE, if it is not so already.
set(commit unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
string(REPLACE "." ";" numbers ${VERSION})
list(GET numbers 0 major)
list(GET numbers 1 minor)
list(GET numbers 2 patch)
set(text "/* Generated. */
#define SEXTANT_BUILD_MAJOR ${major}
#define SEXTANT_BUILD_MINOR ${minor}
#define SEXTANT_BUILD_PATCH ${patch}
#define SEXTANT_BUILD_COMMIT \"${commit}\"
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
