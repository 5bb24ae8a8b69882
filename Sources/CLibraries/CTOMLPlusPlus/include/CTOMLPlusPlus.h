// TOML text in, JSON out: the few lines between Swift and Debian's toml++ 3.3, which is C++ and so out of Swift's reach.
//
// Thread rule: the functions share no state and may be called from any thread.
#ifndef FEEDBRIDGE_CTOMLPLUSPLUS_H
#define FEEDBRIDGE_CTOMLPLUSPLUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// What became of a text. Exactly one of `json` and `message` is set, unless memory ran out: then neither is.
// Lines and columns count from 1; they are 0 where none is known.
struct toml_outcome {
    // Every node is {"t":TYPE,"l":LINE,"c":COLUMN,"v":VALUE}. TYPE is "table", "array", "string", "integer", "float",
    // "boolean" or "date". The value of a table is an array of {"k":KEY,"l":LINE,"c":COLUMN,"n":NODE} in the order of the
    // file, that of an array an array of nodes, that of anything else a string.
    char *json;
    char *message;
    unsigned line;
    unsigned column;
};

// Parses `length` bytes of UTF-8 at `text`. Give the outcome to `toml_outcome_free`.
struct toml_outcome toml_to_json(const char *text, size_t length);

// Frees the texts of an outcome.
void toml_outcome_free(struct toml_outcome outcome);

#ifdef __cplusplus
}
#endif

#endif
