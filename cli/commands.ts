import { accountCheckCommand } from "#installer/account-check/command.ts";
import { doctorCommand } from "#installer/checks/doctor-command.ts";
import { statusCommand } from "#installer/checks/status-command.ts";
import { installCommand } from "#installer/install/command.ts";
import { adoptCommand } from "#installer/migrate/command.ts";
import { pauseCommand, resumeCommand } from "#installer/pause/command.ts";
import { uninstallCommand } from "#installer/uninstall/command.ts";
import { upgradeCommand } from "#installer/upgrade/command.ts";
import type { Command } from "#terminal/command.ts";
import { completionCommand } from "./completion/command.ts";
import { consolidateCommand } from "./consolidate/command.ts";
import { convertCommand } from "./convert/command.ts";
import { costCommand } from "./cost/command.ts";
import { historyCommand, reportCommand, whyCommand } from "./history/command.ts";
import { labCommand } from "./lab/command.ts";
import { manifestsCommand } from "./manifests/command.ts";
import { observeCommand } from "./observe/command.ts";
import { rebuildCommand } from "./rebuild/command.ts";
import { solveCommand } from "./solve/command.ts";
import { synthCommand } from "./synth/command.ts";
import { viewCommand } from "./view/command.ts";
import { whatIfCommand } from "./what-if/command.ts";

/** All commands of the program, in the order of --help. */
export const COMMANDS: readonly Command[] = [
  solveCommand,
  consolidateCommand,
  whatIfCommand,
  observeCommand,
  viewCommand,
  convertCommand,
  labCommand,
  installCommand,
  adoptCommand,
  statusCommand,
  doctorCommand,
  upgradeCommand,
  pauseCommand,
  resumeCommand,
  whyCommand,
  historyCommand,
  reportCommand,
  uninstallCommand,
  accountCheckCommand,
  costCommand,
  synthCommand,
  manifestsCommand,
  rebuildCommand,
  completionCommand(() => COMMANDS),
];
