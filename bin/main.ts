#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// The program: all commands, of which a release has the lab as one.
// In: the words of the command line. Out: an answer on standard output, or one sentence on standard error and exit code
// 2. Each command is a folder of cli/ with a command.ts of one shape (cli/command.ts). Nothing imports this.

import { consolidateCommand } from "../cli/consolidate/command.ts";
import { convertCommand } from "../cli/convert/command.ts";
import { manifestsCommand } from "../cli/manifests/command.ts";
import { rebuildCommand } from "../cli/rebuild/command.ts";
import { runCommandLine } from "../cli/run.ts";
import { solveCommand } from "../cli/solve/command.ts";
import { synthCommand } from "../cli/synth/command.ts";
import { whatIfCommand } from "../cli/what-if/command.ts";
import { endWithReader } from "../functions/adapters/command-line.ts";
import { labCommand } from "./lab-command.ts";

const COMMANDS = [
  solveCommand,
  consolidateCommand,
  whatIfCommand,
  convertCommand,
  labCommand,
  synthCommand,
  manifestsCommand,
  rebuildCommand,
];

endWithReader();

process.exitCode = await runCommandLine(COMMANDS, process.argv.slice(2), process);
