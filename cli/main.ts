#!/usr/bin/env -S node --disable-warning=ExperimentalWarning

// The program: all commands, of which a release has the lab as one.
// In: the words of the command line. Out: an answer on standard output, or one sentence on standard error and exit code
// 2. Each command is a folder of cli/ with a command.ts of one shape (terminal/command.ts). Nothing imports this.

import { endWithReader } from "#terminal/command-line.ts";
import { COMMANDS } from "./commands.ts";
import { runCommandLine } from "./run.ts";

endWithReader();

process.exitCode = await runCommandLine(COMMANDS, process.argv.slice(2), process);
