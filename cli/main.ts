#!/usr/bin/env -S node --disable-warning=ExperimentalWarning

// The program: all commands, of which a release has the lab as one.
// In: the words of the command line. Out: an answer on standard output, or one sentence on standard error and exit code
// 2. Each command is a folder of cli/ with a command.ts of one shape (cli/command.ts). Nothing imports this.

import { endWithReader } from "../functions/adapters/command-line.ts";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion/command.ts";
import { consolidateCommand } from "./consolidate/command.ts";
import { convertCommand } from "./convert/command.ts";
import { costCommand } from "./cost/command.ts";
import { doctorCommand } from "./doctor/command.ts";
import { installCommand } from "./install/command.ts";
import { labCommand } from "./lab/command.ts";
import { manifestsCommand } from "./manifests/command.ts";
import { rebuildCommand } from "./rebuild/command.ts";
import { runCommandLine } from "./run.ts";
import { solveCommand } from "./solve/command.ts";
import { statusCommand } from "./status/command.ts";
import { synthCommand } from "./synth/command.ts";
import { uninstallCommand } from "./uninstall/command.ts";
import { whatIfCommand } from "./what-if/command.ts";

const COMMANDS: readonly Command[] = [
  solveCommand,
  consolidateCommand,
  whatIfCommand,
  convertCommand,
  labCommand,
  installCommand,
  statusCommand,
  doctorCommand,
  uninstallCommand,
  costCommand,
  synthCommand,
  manifestsCommand,
  rebuildCommand,
  completionCommand(() => COMMANDS),
];

endWithReader();

process.exitCode = await runCommandLine(COMMANDS, process.argv.slice(2), process);
