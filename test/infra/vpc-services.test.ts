import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseSettings } from "#infra/settings.ts";
import { servicesInVpc } from "#infra/vpc-services.ts";

const settings = (more: object) => parseSettings({ clusters: [{ name: "c1" }], region: "us-west-2", ...more }, "test");
const ALL = settings({
  ...{ scrape: true, eventBus: "default", settings: { ENABLE_ZONAL_SHIFT: "true" } },
  clusters: [{ name: "c1", account: "222233334444" }],
  stackName: "ks",
});

it("a plain deployment needs five endpoints, and others what its settings ask for", () => {
  expect([...servicesInVpc(settings({}), false).keys()]).toEqual(["dynamodb", "sqs", "eks", "ec2", "ssm"]);
  const more = [...servicesInVpc(ALL, false).keys()].slice(5);
  expect(more).toEqual(["sts", "events", "secretsmanager", "arc-zonal-shift"]);
});

it("a cluster that was added has roles that lifecycle and catalog assume", () => {
  expect(servicesInVpc(settings({}), true).get("sts")).toEqual(["lifecycle", "catalog"]);
});

it("only functions in the VPC are counted: the webhook's and the audit log's are not", () => {
  const names = new Set([...servicesInVpc(ALL, false).values()].flat());
  expect([...names].toSorted()).toEqual(["catalog", "disruption", "interruption", "lifecycle", "metrics", "provision"]);
});

it("docs/deploy.md names each service", () => {
  const page = readFileSync("docs/deploy.md", "utf8");
  const table = page.slice(page.indexOf("| endpoint | for |"), page.indexOf("Logs and the webhook's function need none"));
  for (const service of servicesInVpc(ALL, false).keys()) expect(table).toContain(`\`${service}\``);
});
