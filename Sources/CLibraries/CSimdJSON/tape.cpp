#include "CSimdJSON.h"

#include <cstring>
#include <new>
#include <simdjson.h>

struct simdjson_tape_parser {
    simdjson::dom::parser parser;
    size_t depth = 0;
};

namespace {

constexpr uint64_t payload_mask = 0x00FFFFFFFFFFFFFF;

struct simdjson_tape failure(const char *why) { return {nullptr, 0, nullptr, 0, why}; }

}  // namespace

simdjson_tape_parser *simdjson_tape_parser_new(void) { return new (std::nothrow) simdjson_tape_parser(); }

void simdjson_tape_parser_free(simdjson_tape_parser *parser) { delete parser; }

struct simdjson_tape simdjson_tape_parse(simdjson_tape_parser *parser, const uint8_t *text, size_t length,
                                         size_t depth) {
    // `parse` copies a text without padding behind it, and throws nothing but what `new` may throw there.
    try {
        if (depth != parser->depth) {
            const auto code = parser->parser.allocate(length < 4096 ? 4096 : length, depth);
            if (code) return failure(simdjson::error_message(code));
            parser->depth = depth;
        }
        const auto code = parser->parser.parse(text, length).error();
        if (code) return failure(simdjson::error_message(code));
    } catch (const std::bad_alloc &) {
        return failure("out of memory");
    }
    const auto &document = parser->parser.doc;
    const uint64_t *words = document.tape.get();
    const size_t count = words[0] & payload_mask;
    // How much of the strings is in use stands nowhere: the last string on the tape ends it.
    size_t strings = 0;
    for (size_t place = 1; place < count; ++place) {
        switch (words[place] >> 56) {
        case 'l':
        case 'u':
        case 'd':
            ++place;
            break;
        case '"': {
            strings = words[place] & payload_mask;
            uint32_t bytes;
            std::memcpy(&bytes, document.string_buf.get() + strings, sizeof bytes);
            strings += sizeof bytes + bytes + 1;
            break;
        }
        default:
            break;
        }
    }
    return {words, count, document.string_buf.get(), strings, nullptr};
}
