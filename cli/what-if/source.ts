import type { InstanceType } from "../../core/model/instance-type.ts";
import type { EC2NodeClass } from "../../core/model/node-class.ts";
import type { NodeOverlay } from "../../core/model/node-overlay.ts";
import type { NodePool } from "../../core/model/node-pool.ts";
import type { Snapshot } from "../../core/model/snapshot.ts";
import { applyOverlays } from "../../core/node-overlay/apply.ts";
import type { Intents } from "../../core/what-if/start.ts";
import { InputError } from "../input-error.ts";
import { checkScenario } from "../scenario/check.ts";
import { readScenario, scenarioParts, scenarioToSnapshot } from "../scenario/scenario.ts";

/** A cluster to ask "what if" about. */
export interface Source {
  /** "file prod.json.gz", "cluster prod". */
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly nodeClasses: readonly EC2NodeClass[];
  readonly nodeOverlays: readonly NodeOverlay[];
  /** What the stack's table knows of it. */
  readonly intents: Intents;
  /** What a pool can buy with its class, before overlays. */
  readonly typesOf: (nodeClass: string, classes: readonly EC2NodeClass[]) => readonly InstanceType[];
  /** Whether a change of a class shows in `typesOf`: a file holds types as they were worked out, a live cluster what they follow from. */
  readonly knowsClasses: boolean;
  /** What is to be minded about every answer. */
  readonly remarks: readonly string[];
}

/** What pools can buy, their overlays over it, by pool name. */
export function typesByPool(
  { typesOf }: Pick<Source, "typesOf">,
  nodePools: readonly NodePool[],
  classes: readonly EC2NodeClass[],
  overlays: readonly NodeOverlay[],
): Snapshot["instanceTypes"] {
  const plain = new Map(nodePools.map(({ metadata, spec }) => [metadata.name, typesOf(spec.template.spec.nodeClassRef.name, classes)]));
  return overlays.length === 0 ? plain : applyOverlays(overlays, nodePools, plain).instanceTypes;
}

/**
 * A snapshot or scenario file. Beside what FORMAT.md says it may hold, as --save writes them: `nodeClasses`, `otherInstanceTypes` for classes whose types
 * differ from `instanceTypes`, by class name, and `remarks` to be minded about every answer. Throws InputError.
 */
export function readSourceFile(path: string): Source {
  const scenario = checkScenario(readScenario(path));
  const parts = scenarioParts(scenario);
  const {
    nodeClasses = [],
    otherInstanceTypes = {},
    remarks = [],
  } = scenario as {
    readonly remarks?: unknown;
    readonly nodeClasses?: readonly EC2NodeClass[];
    readonly otherInstanceTypes?: Readonly<Record<string, readonly InstanceType[]>>;
  };
  if (!Array.isArray(nodeClasses) || nodeClasses.some((one) => typeof one?.metadata?.name !== "string" || typeof one.spec !== "object"))
    throw new InputError("nodeClasses must be a list of EC2NodeClass objects, each with a name and a spec");
  if (Object.values(otherInstanceTypes).some((list) => !Array.isArray(list)))
    throw new InputError("otherInstanceTypes must hold a list of instance types for each class");
  const typesOf: Source["typesOf"] = (nodeClass) => otherInstanceTypes[nodeClass] ?? parts.instanceTypes;
  const { nodeOverlays, nodePools } = parts;
  const instanceTypes = typesByPool({ typesOf }, nodePools, nodeClasses, nodeOverlays);
  return {
    name: path === "-" ? "standard input" : `file ${path}`,
    snapshot: { ...scenarioToSnapshot(scenario), instanceTypes },
    ...{ nodeClasses, nodeOverlays, typesOf },
    intents: {},
    knowsClasses: false,
    remarks: Array.isArray(remarks) ? remarks.map(String) : [],
  };
}
