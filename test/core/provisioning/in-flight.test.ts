import { describe, expect, it } from "vitest";
import type { InstanceType } from "../../../core/model/instance-type.ts";
import type { Snapshot } from "../../../core/model/snapshot.ts";
import { withInFlight } from "../../../core/provisioning/in-flight.ts";
import { INSTANCE, NOW, nodeClaim, pod, record } from "../../support/builders.ts";

const type = (name: string, cpu: string, memory: string): InstanceType => ({
  name,
  requirements: [],
  capacity: { cpu, memory, pods: "10" },
  overhead: {},
  offerings: [],
});

const snapshot = (change: Partial<Snapshot> = {}): Snapshot => ({
  ...{ now: NOW, nodePools: [], nodes: [], nodeClaims: [], pods: [], daemonSets: [], podDisruptionBudgets: [] },
  ...{ persistentVolumeClaims: [], persistentVolumes: [], storageClasses: [], csiNodes: [], namespaces: [] },
  instanceTypes: new Map([["default", [type("small", "2", "4Gi"), type("large", "4", "3Gi"), type("other", "1", "1Gi")]]]),
  nominated: new Map(),
  disrupting: new Set(),
  ...change,
});

const waiting = record({ instanceTypes: ["small", "large"] });

describe("a claim that has not launched counts as a machine on its way (traps.md 1)", () => {
  it("with the least room and the most capacity of what it may become", () => {
    const [claim] = withInFlight(snapshot(), [waiting]).nodeClaims;
    expect(claim?.status).toMatchObject({
      allocatable: { cpu: "2", memory: "3Gi", pods: "10" },
      capacity: { cpu: "4", memory: "4Gi", pods: "10" },
    });
    expect(claim?.metadata.labels).toMatchObject({ "karpenter.sh/nodepool": "default" });
  });

  it("less what the pods take that it was made for, while they are there", () => {
    const web = pod("web", { containers: [{ name: "c", resources: { requests: { cpu: "1500m" } } }] });
    const nominated = new Map([
      ["uid-web", waiting.name],
      ["uid-gone", waiting.name],
    ]);
    const [claim] = withInFlight(snapshot({ pods: [web], nominated }), [waiting]).nodeClaims;
    expect(claim?.status?.allocatable).toMatchObject({ cpu: "500m", pods: "9" });
  });

  it("as the very machine once it has launched, until its claim tells of it", () => {
    const launched = { ...waiting, instance: { ...INSTANCE, instanceType: "large" } };
    const [shown] = withInFlight(snapshot(), [launched]).nodeClaims;
    expect(shown?.status).toMatchObject({ providerID: `aws:///${INSTANCE.zone}/${INSTANCE.id}`, allocatable: { cpu: "4", memory: "3Gi" } });
    expect(shown?.metadata.labels).toMatchObject({
      "node.kubernetes.io/instance-type": "large",
      "topology.kubernetes.io/zone": INSTANCE.zone,
    });

    const told = { ...nodeClaim(), metadata: { name: waiting.name }, status: { providerID: "aws:///a/i-1" } };
    expect(withInFlight(snapshot({ nodeClaims: [told] }), [launched]).nodeClaims).toEqual([told]);
  });

  it("and no longer when it shall go", () => {
    const going = { ...waiting, terminating: { reason: "expired", at: NOW } };
    expect(withInFlight(snapshot(), [going]).nodeClaims).toEqual([]);
  });
});
