import type { Intents } from "#core/insight/what-if/start.ts";
import { ownValue } from "#core/lib/own-value.ts";
import type { InstanceType } from "#core/model/instance-type.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodeOverlay } from "#core/model/node-overlay.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { Snapshot } from "#core/model/snapshot.ts";
import { applyOverlays } from "#core/node-overlay/apply.ts";
import { InputError } from "#terminal/input-error.ts";
import { checkScenario } from "../scenario/check.ts";
import { readScenario, scenarioParts, scenarioToSnapshot } from "../scenario/scenario.ts";

/** The cluster that a what-if starts from. */
export interface Source {
  /** "file prod.json.gz", "cluster prod". */
  readonly name: string;
  readonly snapshot: Snapshot;
  readonly nodeClasses: readonly EC2NodeClass[];
  readonly nodeOverlays: readonly NodeOverlay[];
  /** Records and commands of the stack's table; none for a file. */
  readonly intents: Intents;
  /** The instance types that a NodePool with this class can launch, before NodeOverlays. */
  readonly typesOf: (nodeClass: string, classes: readonly EC2NodeClass[]) => readonly InstanceType[];
  /** Whether `typesOf` follows a change of the class: a live cluster derives the types, a file holds them ready. */
  readonly knowsClasses: boolean;
  /** Reservations about every answer, a sentence each. */
  readonly remarks: readonly string[];
}

/** The instance types that each NodePool can launch, by its name, with the NodeOverlays applied. */
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
 * Reads a snapshot or scenario file (docs/scenario-format.md). A snapshot that --save wrote also holds `nodeClasses`,
 * `remarks` about every answer, and `otherInstanceTypes`: by class name, for classes whose types differ from
 * `instanceTypes`. Throws InputError.
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
  const typesOf: Source["typesOf"] = (nodeClass) => ownValue(otherInstanceTypes, nodeClass) ?? parts.instanceTypes;
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
