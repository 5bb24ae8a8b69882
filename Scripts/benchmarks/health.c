// The peer: libexpat, as bare as it can be, over the same export. It counts the records of steps.
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long steps;

static void start(void *context, const XML_Char *name, const XML_Char **attributes) {
    (void)context;
    if (strcmp(name, "Record") != 0) return;
    for (; *attributes != NULL; attributes += 2)
        if (strcmp(attributes[0], "type") == 0 && strcmp(attributes[1], "HKQuantityTypeIdentifierStepCount") == 0)
            steps += 1;
}

int main(int count, char **arguments) {
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (file == NULL) return 2;
    static char buffer[256 << 10];
    XML_Parser parser = XML_ParserCreate(NULL);
    XML_SetElementHandler(parser, start, NULL);
    size_t length;
    do {
        length = fread(buffer, 1, sizeof buffer, file);
        if (XML_Parse(parser, buffer, (int)length, length == 0) == XML_STATUS_ERROR) return 1;
    } while (length > 0);
    printf("%ld\n", steps);
    return 0;
}
