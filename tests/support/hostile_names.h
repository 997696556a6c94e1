// Names that a hostile program chooses: each holds something that a terminal, a page or a reader of JSON, of
// metrics or of lines obeys instead of showing it. The one table of these, for the library and every command.
#pragma once

namespace tarn::test {

inline constexpr const char* kHostileNames[] = {
    "\x1b]0;title\x07\x1b[2J\x1b[31mred",                       // C0: escapes, and a bell
    "a\nb\rc\td\x08\x7f",                                       // C0 and DEL
    "\xc2\x9b\x33\x31mred\xc2\x9d\x30;t\xc2\x9c",               // C1 as UTF-8: CSI, OSC, ST
    "\xff\xfe\x9b\x33\x31m\x85 raw",                            // C1 raw, and no UTF-8
    "\xed\xa0\x80\xed\xbf\xbf\xc0\xaf\xf4\x90\x80\x80",         // surrogates, too long, too large
    "\xe2\x80\xae\x65vil\xe2\x80\xac\xe2\x80\x8e\xe2\x80\x8f",  // U+202E, 202C, 200E, 200F: direction
    "\xe2\x81\xa6x\xe2\x81\xa9\xd8\x9c",                        // U+2066, 2069, 061C: isolates
    "z\xe2\x80\x8b\xe2\x80\x8c\xe2\x80\x8d\xe2\x81\xa0\xef\xbb\xbf\xc2\xad",  // no width: 200B, FEFF ...
    "l\xe2\x80\xa8p\xe2\x80\xa9",                                             // U+2028, 2029: ends of lines
    "t\xf3\xa0\x80\x81\xf3\xa0\x81\xb4\xf3\xa0\x81\xbf",                      // U+E0001, E0074, E007F: tags
    "c\xcc\x81\xe2\x83\x9d\xef\xb8\x8f",  // U+0301, 20DD, FE0F: combining, variation
    "</script><script>alert(1)</script><!--",
    "'\"><img src=x onerror=alert(1)>",
    "{\"json\":1}\\u003c \\",
    "%s%n%x{}{{0}}",
    "name\"} 1\nevil_metric{a=\"b",
};

}  // namespace tarn::test
