// What manual pages say beside the commands and options: in the language of man(7).
#pragma once

namespace tarn::tool {

inline constexpr const char* kFrontPageDescription = R"(starts a program with
.I libtarn.so
preloaded, so that its
.BR malloc (3)
and
.B operator new
are served by tarn's memory pool; runs it on all allocators of the machine side by side; and looks into
running programs that use tarn.
Words behind the first
.B \-\-
are the program's and reach it untouched.
)";

inline constexpr const char* kFrontPageEnd = R"(.SH EXIT STATUS
Each command's page has what differs.
.TP
.B 0
All went well.
.TP
.B 1
Something failed under an allocator, a trace is damaged, a process cannot be looked at, or what
.B tarn leaks
and
.B tarn doctor
look for was found.
.TP
.B 2
The command line is wrong, or what it names is not there; one line on standard error says what to do.
.TP
.B 3
.BR "tarn compare \-\-baseline" :
tarn stands worse than it did.
.TP
.B 23
.BR "tarn run \-\-leaks" ,
a limit of
.BR "tarn run" ,
a program that runs with
.BR TARN_LEAKS = exit :
there are leaks, a limit was exceeded, or that could not be checked. The program's own status was 0.
.TP
.BR 126 ", " 127
.BR "tarn run" :
the program cannot be executed, or was not found.
.TP
.BI 128+ N
Signal
.I N
ended the program
.RB ( "tarn run" )
or interrupted the measuring: 130 for Ctrl\-C.
.SH ENVIRONMENT
.TP
.B TARN_LIBRARY
The path of
.IR libtarn.so ,
where it is neither beside the tool nor in
.I ../lib
or its multiarch directory.
.TP
.B TARN_REPLAY_PROGRAM
The path of
.IR tarn_replay ,
which
.BR "tarn replay " and " tarn tune"
run, where it is neither in
.I libexec
beside the tool nor where it is installed.
.TP
.B TARN_BENCH_PROGRAMS
The directory of the programs that
.B tarn bench
and suites of
.B tarn compare
run, where it is neither
.I bench
beside the tool nor
.IR ../libexec/tarn .
.TP
.BR TARN_* ", " TARN_CONF ", " TARN_CONF_FILE
Options of the library; see
.BR tarn.conf (5).
.TP
.B NO_COLOR
If not empty, no colours on terminals.
.TP
.B TMPDIR
Where temporary files are put;
.IR /tmp .
.SH FILES
.TP
.I /etc/tarn.conf
Options of the library for all programs of the machine; see
.BR tarn.conf (5).
.SH SEE ALSO
.BR tarn (3),
.BR tarn.conf (5),
.BR malloc (3),
.BR ld.so (8)
)";

inline constexpr const char* kOptionsPageFile = R"(.PP
Later sources win: the program's defaults,
.IR /etc/tarn.conf ,
the file that
.B TARN_CONF_FILE
names,
.BR TARN_CONF ,
a variable for one option, the program.
.PP
A file holds
.IR key : value
or
.IR key = value
pairs, one per line or separated by commas;
.B #
starts a comment.
Sizes are powers of 1024.
An unknown key or a bad value costs one line on standard error and leaves the value as it was.
In a set\-uid program the environment is ignored.
)";

inline constexpr const char* kOptionsPageEnd = R"(.SH EXAMPLES
.nf
# a server that gives memory back soon, and is refused more than 2 GiB
decay:500ms
hard_limit:2G
.fi
.SH SEE ALSO
.BR tarn (1),
.BR tarn\-options (1),
.BR tarn (3)
)";

}  // namespace tarn::tool
