import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { settingsFor } from "#installer/install/settings-for.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("settings-for");
const config = join(folder, "settings.json");
writeFileSync(config, JSON.stringify({ stackName: "mine", clusters: [{ name: "c1" }, { name: "c2" }] }));

const given = { cluster: "c1", admission: false, "create-node-role": false };

it("in a region without function URLs API servers call API Gateway, unless something else is asked for", () => {
  expect(settingsFor(given, "us-west-2").publicUrl).toBe("functionUrl");
  expect(settingsFor(given, "eu-central-2").publicUrl).toBe("apiGateway");
  expect(settingsFor({ ...given, "public-url": "none" }, "eu-central-2").publicUrl).toBe("none");
});

it("a settings file keeps its clusters and its stack, and must name the cluster", () => {
  expect(settingsFor({ ...given, config, "create-node-role": true }, "us-west-2")).toMatchObject({
    stackName: "mine",
    clusters: [{ name: "c1" }, { name: "c2" }],
    createNodeRoles: true,
  });
  expect(() => settingsFor({ ...given, config, cluster: "c3" }, "us-west-2")).toThrow(`${config} does not name cluster c3`);
  expect(() => settingsFor({ ...given, config, sources: "sweep" }, "us-west-2")).toThrow("--sources is not read with --config");
});
