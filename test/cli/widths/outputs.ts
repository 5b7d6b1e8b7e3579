import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

/**
 * Prints, as JSON, what each command prints on a terminal of so many columns: `node outputs.ts --columns 60 --folder
 * EMPTY`. A process of its own, because the commands ask for the width once.
 */

const { values } = parseArgs({ options: { columns: { type: "string", default: "60" }, folder: { type: "string", default: "." } } });
const { folder } = values;
const real = process.stdout.write.bind(process.stdout);
Object.assign(process.stdout, { isTTY: true, columns: Number(values.columns) });

const [
  { COMMANDS },
  { runCommandLine },
  { runLab },
  { install },
  { status },
  { doctor },
  { upgrade },
  { uninstall },
  { pause, resume },
  { adopt },
  { adoptionTable },
  { accountCheck },
] = await Promise.all([
  import("#cli/commands.ts"),
  import("#cli/run.ts"),
  import("#lab/lab.ts"),
  import("#installer/install/install.ts"),
  import("#installer/checks/status.ts"),
  import("#installer/checks/doctor.ts"),
  import("#installer/upgrade/upgrade.ts"),
  import("#installer/uninstall/uninstall.ts"),
  import("#installer/pause/pause.ts"),
  import("#installer/migrate/adopt.ts"),
  import("#installer/migrate/table.ts"),
  import("#installer/account-check/run.ts"),
]);
const [{ parseSettings }, { World }, { Installed }, { Older }, { KarpenterWorld }, builders, { FakeAccount }] = await Promise.all([
  import("#infra/settings.ts"),
  import("../../installer/install/world.ts"),
  import("../../installer/checks/world.ts"),
  import("../../installer/upgrade/world.ts"),
  import("../../installer/migrate/world.ts"),
  import("../../core/disruption/builders.ts"),
  import("../../installer/account-check/fake-account.ts"),
]);
type Command = (typeof COMMANDS)[number];

const outputs: Record<string, string> = {};

/** The program with one command that asks stand-ins. */
const standIn = (name: string, run: Command["run"]): readonly Command[] => [{ name, summary: "", options: {}, run }];

async function keep(args: readonly string[], commands: readonly Command[] = COMMANDS): Promise<void> {
  let text = "";
  const write = (more: string): boolean => {
    text += more;
    return true;
  };
  const errors: string[] = [];
  await runCommandLine(commands, args, { stdout: { write, isTTY: true }, stderr: { write: (more) => errors.push(more) } });
  outputs[args.join(" ")] = text === "" ? `nothing was printed: ${errors.join("")}` : text;
}

const { pod, snapshot, instanceType } = builders;
const { instanceTypes: _, ...lists } = snapshot({ machines: [{ name: "a" }, { name: "b" }], pods: [pod("p", "a"), pod("q", "b")] });
const scenario = join(folder, "scenario.json");
const types = ["small", "large"].map((name) => instanceType(name));
writeFileSync(scenario, JSON.stringify({ ...lists, now: "2026-01-01T12:00:00Z", instanceTypes: types }));

/** A history whose names are as long as AWS's. */
const db = join(folder, "lab.db");
process.stdout.write = () => true;
await runLab(["docs/examples/recipes/spot.yaml", "--scale", "worker=2", "--history", db]);
process.stdout.write = real;

await keep(["--help"]);
for (const { name } of COMMANDS) await keep([name, "--help"]);
await keep(["solve", "test/scenarios/scheduling/inflate.in.json", "--explain"]);
await keep(["solve", "test/scenarios/scheduling/left-behind.in.json", "--explain"]);
await keep(["consolidate", scenario, "--explain"]);
await keep(["what-if", scenario]);
await keep(["what-if", scenario, "--budget", "default=20%", "--from-scratch"]);
const trace = join(folder, "c1.trace");
const pool = (name: string, at: string) => ({
  metadata: { name, uid: name, creationTimestamp: at, labels: { "karpenter.sh/nodepool": `${name}-of-a-team-with-a-long-name` } },
  spec: { providerID: name },
});
const looks = [0, 600_000].map((ms) => ({ at: ms, put: { Node: [pool("spot", "1970-01-01T00:00:00Z")] } }));
const traced = {
  trace: 1,
  cluster: "a-cluster-with-a-rather-long-name",
  region: "us-west-2",
  everyMs: 15_000,
  autoscaler: "Cluster Autoscaler",
};
writeFileSync(trace, [{ ...traced, unread: [] }, ...looks].map((line) => `${JSON.stringify(line)}\n`).join(""));
await keep(["observe", "--replay", trace]);
await keep(["cost", "--nodes", "10"]);
const from = ["--from", db, "--since", "30d"];
for (const name of ["history", "report"]) await keep([name, ...from]);
const [claim = "none"] = /nodeclaim\/[\w-]+/.exec(outputs[["history", ...from].join(" ")] ?? "") ?? [];
await keep(["why", claim, ...from]);

const settings = parseSettings({ clusters: [{ name: "c1" }], region: "us-west-2" }, "test");
const where = { cluster: "c1", region: "us-west-2", stackName: "karpenter-serverless" };
const fresh = { ...where, settings, hasEndpointOption: false, tagNetwork: false, withDefaultPool: true };
const world = new World();
await keep(
  ["install", "--dry-run"],
  standIn("install", (_args, print) => install({ ...fresh, dryRun: true }, world.ports({ roleArn: async () => undefined }), print)),
);
await keep(
  ["install"],
  standIn("install", (_args, print) => install({ ...fresh, dryRun: false }, world.ports(), print)),
);
const broken = new Installed();
broken.sweptAt = undefined;
broken.httpStatus = 0;
for (const [state, installed] of Object.entries({ healthy: new Installed(), broken })) {
  await keep(
    ["status", state],
    standIn("status", () => status({ ...where, json: false }, installed.installationPorts())),
  );
  await keep(
    ["doctor", state],
    standIn("doctor", () => doctor({ ...where, json: false }, installed.installationPorts())),
  );
}
await keep(
  ["upgrade", "--dry-run"],
  standIn("upgrade", (_args, print) => upgrade({ ...where, yes: true, dryRun: true }, new Older().upgradePorts(), print)),
);
const held = new Installed();
const pausing = { ...held.installationPorts(), records: () => held.records };
await keep(
  ["pause"],
  standIn("pause", () => pause({ ...where, only: undefined, forMs: 7_200_000, reason: "the AMI of 2026-11 crashes pods" }, pausing)),
);
await keep(
  ["status", "paused"],
  standIn("status", () => status({ ...where, json: false }, held.installationPorts())),
);
await keep(
  ["resume"],
  standIn("resume", () => resume(where, pausing)),
);
const leaving = { ...where, drain: true, keepNodes: false, startKarpenter: false, yes: true };
for (const dryRun of [true, false])
  await keep(
    ["uninstall", ...(dryRun ? ["--dry-run"] : [])],
    standIn("uninstall", (_args, print) => uninstall({ ...leaving, dryRun }, world.uninstallPorts(), print)),
  );
await keep(
  ["adopt", "--dry-run"],
  standIn("adopt", (_args, print) =>
    adopt({ ...where, keepDeployment: false, dryRun: true, installs: true }, new KarpenterWorld().adoptPorts(), print),
  ),
);
const node = "ip-10-0-181-126.ap-northeast-2.compute.internal";
const adopted = builders
  .snapshot({ machines: [{ name: node }] })
  .nodeClaims.map((one) => ({ claim: one, outcome: "is adopted: it stays as it is" }));
await keep(
  ["adopt"],
  standIn("adopt", async (_args, print) => {
    for (const line of adoptionTable(adopted)) print(line);
    return { output: "" };
  }),
);
await keep(
  ["account-check"],
  standIn("account-check", async (_args, print) => {
    const asked = { region: "us-west-2", subnet: "subnet-1", yes: true, dryRun: false };
    return (await accountCheck(asked, new FakeAccount().ports(), print)).answer;
  }),
);
real(JSON.stringify(outputs));
