// The command line: what the solver, disruption and the converter say of files and clusters, for people and programs.
// In: the words of the command line. Out: an answer on standard output, or one sentence on standard error and exit code
// 2. Each command is a folder with a command.ts of one shape (cli/command.ts). No command imports another or the lab.

import { endWithReader } from "../functions/adapters/command-line.ts";
import { consolidateCommand } from "./consolidate/command.ts";
import { convertCommand } from "./convert/command.ts";
import { rebuildCommand } from "./rebuild/command.ts";
import { runCommandLine } from "./run.ts";
import { solveCommand } from "./solve/command.ts";
import { whatIfCommand } from "./what-if/command.ts";

const COMMANDS = [solveCommand, consolidateCommand, whatIfCommand, convertCommand, rebuildCommand];

endWithReader();

process.exitCode = await runCommandLine(COMMANDS, process.argv.slice(2), process);
