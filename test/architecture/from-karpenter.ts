import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Citation, citationsOf } from "./references.ts";
import { ROOT, readTree, type SourceTree } from "./source-tree.ts";

// docs/from-karpenter.md: what the comments of the product cite of Karpenter, as a table for those who know its code.

export const PAGE = join(ROOT, "docs/from-karpenter.md");

/** Folders without the product's decisions. */
const LEFT_OUT = new Set(["node_modules", "dist", "cdk.out", "docs", "events", "examples", "test", "lab", "console"]);

/** The sources of the product that may cite Karpenter. */
export function productTree(): SourceTree {
  const folders = readdirSync(ROOT, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && !entry.name.startsWith(".") && !LEFT_OUT.has(entry.name) ? [entry.name] : [],
  );
  return readTree(folders);
}

/**
 * Karpenter's controllers, and what does their work here. `{name}` is an export, to which its file is added;
 * `{folder: name}` names the folder of one that several files export.
 */
const CONTROLLERS: readonly (readonly [karpenter: string, here: string])[] = [
  [
    "informers and watches, `state.Cluster`",
    "no state between decisions: {readClusterState} reads the cluster for each; a warm process reads only changes by {rememberedList}",
  ],
  ["leader election", "{withLease}: a lease of the cluster in the table for each decision, with a fencing token"],
  [
    "`provisioning.PodController`, `Batcher.Wait`",
    "{notify} and the audit log wake `provision`; {core: windowLeft} says how long to wait for further pods",
  ],
  [
    "`provisioning.Provisioner`: `Schedule`, `CreateNodeClaims`",
    "{provision}, then {solve}, then {writeIntents}; `lifecycle` creates the objects",
  ],
  ["`scheduling.Scheduler`: `NewScheduler`, `Solve`, `add`", "{problemFor}, {solve}, {Attempt}, and {proposeNodes} for all pods together"],
  ["`disruption.Controller`, `Method`", "{disrupt}, then {planDisruption}; {findCandidates} in place of `GetCandidates`"],
  [
    "`disruption.Queue`: `StartCommand`, `waitOrTerminate`",
    "a command is a record of the table: {advanceCommand} decides its next step, {performCommandAction} taints, launches and deletes, {validate} computes it again after 15 s",
  ],
  [
    "`nodeclaim.lifecycle`: Launch, Registration, Initialization, Liveness",
    "{reconcileClaim}, then {advance}: {core: launch}, {register}, {initialize}",
  ],
  [
    "`nodeclaim.disruption`, `nodeclaim.podevents`",
    "{driftReason}, {consolidatableFrom}; {mirrorConditions} writes the conditions, {observePods} finds the pod events",
  ],
  ["`nodeclaim.expiration`", "a step of {advance}"],
  ["`node.termination`, `Terminator.Drain`", "{terminate}, {drain}"],
  ["`nodeclaim.garbagecollection`, `nodeclaim.consistency`", "{collectGarbage}, {consistency}"],
  ["`nodeclaim.hydration`, `node.hydration`", "{hydrateRecords}, {hydrated}"],
  [
    "`disruption.Repair`, `node.health`",
    "{findUnhealthy}, then {core/disruption/methods: repair}; {faultsOf} in place of `RepairPolicyMatcher`",
  ],
  ["`node.legacyrepair`", "{functions/lifecycle: repair}, then {planRepairs}"],
  ["`nodepool.readiness`, `.validation`, `.hash`, `.counter`, `.registrationhealth`", "{refreshNodePool}, then {nodePoolStatus}"],
  ["`nodeclass` of the AWS provider", "{refreshNodeClass}, then {nodeClassStatus}"],
  ["`static.provisioning`, `static.deprovisioning`", "{keepReplicas}, then {replicaChanges}"],
  ["`nodeoverlay`, `capacitybuffer`", "{applyOverlays}, {resolve}: evaluated for each decision"],
  ["`interruption` of the AWS provider", "{interrupt}, with {CONSEQUENCES}"],
  ["`instancetype`, `pricing` of the AWS provider", "{instanceTypesOf}, {refreshPrices}"],
  [
    "`instance`, `launchtemplate`, `batcher` of the AWS provider",
    "{renderLaunch} stores the request before it is sent; {withLaunchGroups} joins alike NodeClaims in one CreateFleet",
  ],
  ["`metrics`, `events.Recorder`", "{METRICS} lists all metrics, {scrape} serves them; {publishOnce}"],
];

/** The file of each name that exactly one file exports. */
function filesByExport(tree: SourceTree): ReadonlyMap<string, readonly string[]> {
  const exported = [...tree].flatMap(([file, source]) =>
    [...source.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(([, name = ""]) => ({ name, file })),
  );
  return new Map([...Map.groupBy(exported, ({ name }) => name)].map(([name, found]) => [name, found.map(({ file }) => file)]));
}

/** A text whose exports have their files. Throws when no file, or several, export a name. */
function withFiles(text: string, files: ReadonlyMap<string, readonly string[]>): string {
  return text.replaceAll(/\{(?:([\w/-]+): )?(\w+)\}/g, (_, folder: string | undefined, name: string) => {
    const [file, another] = (files.get(name) ?? []).filter((one) => folder === undefined || one.startsWith(`${folder}/`));
    if (file === undefined || another !== undefined)
      throw new Error(
        `${name} of test/architecture/from-karpenter.ts is exported by ${another === undefined ? "no file" : `${file} and ${another}`}.`,
      );
    return `\`${name}\` (\`${file}\`)`;
  });
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** One row for each cited file: its symbols, then our files, those of one file of ours together. */
function rowsOf(citations: readonly Citation[]): readonly string[] {
  const files = [...Map.groupBy(citations, ({ path }) => path)].toSorted(([a], [b]) => byText(a, b));
  return files.map(([path, cited]) => {
    const places = [...Map.groupBy(cited, ({ file }) => file)]
      .toSorted(([a], [b]) => byText(a, b))
      .map(([file, of]) => {
        const symbols = [...new Set(of.map(({ symbol }) => symbol))].toSorted(byText);
        return `${symbols.map((symbol) => `\`${symbol}\``).join(", ")} → \`${file}\``;
      });
    return `| \`${path.replace(/^pkg\//, "")}\` | ${places.join("; ")} |`;
  });
}

/** docs/from-karpenter.md. */
export function fromKarpenterPage(tree: SourceTree): string {
  const files = filesByExport(tree);
  const citations = citationsOf(tree);
  const table = (repository: string): readonly string[] => [
    "| file, below pkg/ | its symbol → our file |",
    "| --- | --- |",
    ...rowsOf(citations.filter((citation) => citation.repository === repository)),
  ];
  return [
    "<!-- Made from the comments of the code: `node test/architecture/write-from-karpenter.ts` -->",
    "# Coming from Karpenter's code",
    "",
    "Where to find here what you know from Karpenter. What behaves otherwise on purpose is in",
    "[differences](differences.md), how the parts work together in [architecture](architecture.md).",
    "",
    "## Controllers",
    "",
    "| Karpenter's controller | here |",
    "| --- | --- |",
    ...CONTROLLERS.map(([karpenter, here]) => `| ${karpenter} | ${withFiles(here, files)} |`),
    "",
    "## Files of sigs.k8s.io/karpenter",
    "",
    ...table("karpenter"),
    "",
    "## Files of karpenter-provider-aws",
    "",
    ...table("karpenter-provider-aws"),
    "",
  ].join("\n");
}
