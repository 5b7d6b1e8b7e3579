import { adoptCommand } from "./adopt/command.ts";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion/command.ts";
import { consolidateCommand } from "./consolidate/command.ts";
import { convertCommand } from "./convert/command.ts";
import { costCommand } from "./cost/command.ts";
import { doctorCommand } from "./doctor/command.ts";
import { historyCommand, reportCommand, whyCommand } from "./history/command.ts";
import { installCommand } from "./install/command.ts";
import { labCommand } from "./lab/command.ts";
import { manifestsCommand } from "./manifests/command.ts";
import { rebuildCommand } from "./rebuild/command.ts";
import { solveCommand } from "./solve/command.ts";
import { statusCommand } from "./status/command.ts";
import { synthCommand } from "./synth/command.ts";
import { uninstallCommand } from "./uninstall/command.ts";
import { upgradeCommand } from "./upgrade/command.ts";
import { viewCommand } from "./view/command.ts";
import { whatIfCommand } from "./what-if/command.ts";

/** All commands of the program, in the order of --help. */
export const COMMANDS: readonly Command[] = [
  solveCommand,
  consolidateCommand,
  whatIfCommand,
  viewCommand,
  convertCommand,
  labCommand,
  installCommand,
  adoptCommand,
  statusCommand,
  doctorCommand,
  upgradeCommand,
  whyCommand,
  historyCommand,
  reportCommand,
  uninstallCommand,
  costCommand,
  synthCommand,
  manifestsCommand,
  rebuildCommand,
  completionCommand(() => COMMANDS),
];
