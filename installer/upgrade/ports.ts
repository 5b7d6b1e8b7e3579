import type { InstallPorts } from "../install/ports.ts";
import type { Inspector } from "../installation/ports.ts";
import type { ChangeSets } from "./change-sets.ts";

export interface UpgradePorts extends InstallPorts {
  readonly changeSets: ChangeSets;
  /** What the doctor asks at the end. */
  readonly inspector: Inspector;
  /** Asks the person; undefined where there is nobody to ask. */
  readonly confirm: (question: string) => Promise<boolean | undefined>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}
