// JSON text in, simdjson's tape out: the few lines between Swift and Debian's simdjson 3.0, which is C++ and so out of
// Swift's reach. json-c reads everything that is small; this is for posts of thousands of samples.
//
// Thread rule: "a parser is not thread-safe"; each belongs to one thread at a time.
#ifndef FEEDBRIDGE_CSIMDJSON_H
#define FEEDBRIDGE_CSIMDJSON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simdjson_tape_parser simdjson_tape_parser;

// The tape of a document, as doc/tape.md of simdjson 3.0 describes it, or why there is none. The memory is the parser's
// and holds until its next call.
struct simdjson_tape {
    const uint64_t *words;
    size_t word_count;
    const uint8_t *strings;
    size_t string_bytes;
    // Null when there is a tape.
    const char *error;
};

// Makes a parser; null when memory ran out.
simdjson_tape_parser *simdjson_tape_parser_new(void);

// Frees a parser.
void simdjson_tape_parser_free(simdjson_tape_parser *parser);

// Reads `length` bytes at `text`, with values nested at most `depth` levels deep.
struct simdjson_tape simdjson_tape_parse(simdjson_tape_parser *parser, const uint8_t *text, size_t length, size_t depth);

#ifdef __cplusplus
}
#endif

#endif
