// Recursion is bounded on purpose: toml++ destroys nested values recursively, so that a hostile file of a million
// dots or brackets would overflow the stack. See `most_dots` and TOML_MAX_NESTED_VALUES.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16

// Some texts break a promise that toml++ 3.3 makes to itself: `assert` would end the process, and without `assert` its
// behaviour would be undefined. So a broken promise is thrown, in every build.
#undef NDEBUG
struct BrokenPromise {};
[[noreturn]] static void throw_broken_promise() { throw BrokenPromise{}; }
#define TOML_ASSERT(expression) ((expression) ? void() : throw_broken_promise())

// toml++ 3.3 also calls what is reachable unreachable: in is_non_ascii_horizontal_whitespace, for `\u00B0` and many more.
// The right answer is then false.
#include <toml++/impl/preprocessor.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/forward_declarations.h>
#include <toml++/impl/unicode.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE __builtin_unreachable()
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "CTOMLPlusPlus.h"

namespace {

// The most dots between two of the characters that end a key: a dotted key of n parts makes n nested tables.
constexpr int most_dots = 128;
// The deepest nesting that is passed on.
constexpr int most_levels = 32;

struct Failure {
    std::string message;
    toml::source_position position;
};

void append_text(std::string &out, std::string_view text) {
    static const char digits[] = "0123456789abcdef";
    out += '"';
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte == '"' || byte == '\\') {
            out += '\\';
            out += character;
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\u00";
            out += digits[byte >> 4];
            out += digits[byte & 15];
        } else {
            out += character;
        }
    }
    out += '"';
}

void append_position(std::string &out, const toml::source_position &position) {
    out += "\"l\":";
    out += std::to_string(position.line);
    out += ",\"c\":";
    out += std::to_string(position.column);
}

template <typename Number>
std::string text_of(Number number) {
    char buffer[64];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, number);
    return std::string(buffer, result.ptr);
}

template <typename Date>
std::string text_of_date(const Date &date) {
    std::ostringstream stream;
    stream << date;
    return stream.str();
}

void append_node(std::string &out, const toml::node &node, int level);

void append_table(std::string &out, const toml::table &table, int level) {
    struct Entry {
        const toml::key *key;
        const toml::node *node;
    };
    std::vector<Entry> entries;
    for (auto &&[key, node] : table) entries.push_back({&key, &node});
    // A table of toml++ is in alphabetical order; people read in the order of their file.
    std::stable_sort(entries.begin(), entries.end(), [](const Entry &left, const Entry &right) {
        const auto &a = left.key->source().begin, &b = right.key->source().begin;
        return a.line != b.line ? a.line < b.line : a.column < b.column;
    });
    out += '[';
    bool first = true;
    for (const Entry &entry : entries) {
        if (!first) out += ',';
        first = false;
        out += "{\"k\":";
        append_text(out, entry.key->str());
        out += ',';
        append_position(out, entry.key->source().begin);
        out += ",\"n\":";
        append_node(out, *entry.node, level + 1);
        out += '}';
    }
    out += ']';
}

void append_array(std::string &out, const toml::array &array, int level) {
    out += '[';
    bool first = true;
    for (auto &&node : array) {
        if (!first) out += ',';
        first = false;
        append_node(out, node, level + 1);
    }
    out += ']';
}

void append_node(std::string &out, const toml::node &node, int level) {
    const auto position = node.source().begin;
    if (level > most_levels) {
        throw Failure{"values are nested more than " + std::to_string(most_levels) + " levels deep", position};
    }
    const auto start = [&](const char *type) {
        out += "{\"t\":\"";
        out += type;
        out += "\",";
        append_position(out, position);
        out += ",\"v\":";
    };
    if (const auto *table = node.as_table()) {
        start("table");
        append_table(out, *table, level);
    } else if (const auto *array = node.as_array()) {
        start("array");
        append_array(out, *array, level);
    } else if (const auto *text = node.as_string()) {
        start("string");
        append_text(out, text->get());
    } else if (const auto *integer = node.as_integer()) {
        start("integer");
        append_text(out, text_of(integer->get()));
    } else if (const auto *number = node.as_floating_point()) {
        start("float");
        append_text(out, text_of(number->get()));
    } else if (const auto *boolean = node.as_boolean()) {
        start("boolean");
        append_text(out, boolean->get() ? "true" : "false");
    } else {
        start("date");
        if (const auto *date = node.as_date()) append_text(out, text_of_date(date->get()));
        else if (const auto *time = node.as_time()) append_text(out, text_of_date(time->get()));
        else if (const auto *moment = node.as_date_time()) append_text(out, text_of_date(moment->get()));
        else append_text(out, "");
    }
    out += '}';
}

void refuse_endless_keys(std::string_view text) {
    int dots = 0;
    toml::source_position position{1, 1};
    for (const char character : text) {
        switch (character) {
            case '.':
                if (++dots > most_dots) {
                    throw Failure{"more than " + std::to_string(most_dots) + " dots in one key or value", position};
                }
                break;
            case ',': case '{': case '=': case '[': case ']': case '\n':
                dots = 0;
                break;
            default:
                break;
        }
        if (character == '\n') {
            position.line += 1;
            position.column = 1;
        } else if ((static_cast<unsigned char>(character) & 0xC0) != 0x80) {
            position.column += 1;
        }
    }
}

// Whether toml++ breaks a promise to itself on this text.
bool breaks(std::string_view text) {
    try {
        const toml::parse_result result = toml::parse(text);
        return false;
    } catch (const BrokenPromise &) {
        return true;
    }
}

// The place of the character on which toml++ broke its promise: the last one of the shortest beginning that breaks it,
// since the parser reads from front to back and stops there.
toml::source_position place_of_break(std::string_view text) {
    std::size_t whole = 0, broken = text.size();
    while (broken - whole > 1) {
        const std::size_t middle = whole + (broken - whole) / 2;
        (breaks(text.substr(0, middle)) ? broken : whole) = middle;
    }
    toml::source_position position{1, 0};
    bool new_line = false;
    for (const char character : text.substr(0, broken)) {
        if (new_line) {
            position.line += 1;
            position.column = 0;
        }
        new_line = character == '\n';
        if ((static_cast<unsigned char>(character) & 0xC0) != 0x80) position.column += 1;
    }
    return position;
}

char *copy(std::string_view text) {
    auto *bytes = static_cast<char *>(std::malloc(text.size() + 1));
    if (bytes == nullptr) return nullptr;
    std::memcpy(bytes, text.data(), text.size());
    bytes[text.size()] = 0;
    return bytes;
}

}  // namespace

extern "C" struct toml_outcome toml_to_json(const char *text, size_t length) {
    toml_outcome outcome{nullptr, nullptr, 0, 0};
    const auto fail = [&](std::string_view message, const toml::source_position &position) {
        outcome.message = copy(message);
        outcome.line = static_cast<unsigned>(position.line);
        outcome.column = static_cast<unsigned>(position.column);
    };
    const std::string_view view(text, length);
    try {
        refuse_endless_keys(view);
        const toml::parse_result result = toml::parse(view);
        if (!result) {
            fail(result.error().description(), result.error().source().begin);
            return outcome;
        }
        std::string json;
        append_node(json, result.table(), 0);
        outcome.json = copy(json);
    } catch (const Failure &failure) {
        fail(failure.message, failure.position);
    } catch (const BrokenPromise &) {
        try {
            fail("a key was expected here", place_of_break(view));
        } catch (...) {
            // Out of memory, as below.
        }
    } catch (...) {
        // Only memory can run out here; the caller sees two null pointers.
    }
    return outcome;
}

extern "C" void toml_outcome_free(struct toml_outcome outcome) {
    std::free(outcome.json);
    std::free(outcome.message);
}
