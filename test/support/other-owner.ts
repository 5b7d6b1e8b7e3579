import type { Condition } from "#core/model/kubernetes.ts";
import type { PublishedEvent } from "#core/ports/kubernetes.ts";
import type { Lab } from "#lab/host.ts";
import { PRODUCT } from "#lab/world/api-server.ts";
import type { CallHooks } from "#lab/world/intercept.ts";
import type { MutableObject } from "#lab/world/store.ts";
import type { ApiObject } from "#manifests/api-object.ts";
import { MINUTE, pass } from "./lab-story.ts";

/**
 * Another owner of NodeClaims in the lab, EKS Auto Mode or Karpenter: its objects, its instances, and a record of every
 * write to one of them.
 */

const AUTO = "another-controller";
const CLASS = { group: "eks.amazonaws.com", kind: "NodeClass", name: "default" };

/** The NodeClass has the name of our EC2NodeClass. */
const NODE_CLASS: ApiObject = { apiVersion: "eks.amazonaws.com/v1", kind: "NodeClass", metadata: { name: "default" }, spec: {} };

const poolOf = (name: string, spec: object = {}): ApiObject => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodePool",
  metadata: { name },
  spec: {
    template: { spec: { requirements: [], nodeClassRef: CLASS, expireAfter: "336h" } },
    disruption: { consolidationPolicy: "WhenEmptyOrUnderutilized", consolidateAfter: "30s" },
    ...spec,
  },
});

/** Who owns the objects: how they are named, and what tells them from ours. */
export interface Owner {
  readonly pool: string;
  readonly nodeClassRef: typeof CLASS;
  /** Labels of NodeClaims and nodes. */
  readonly labels: Readonly<Record<string, string>>;
  /** Tags of instances, beside those of the cluster. */
  readonly tags: Readonly<Record<string, string>>;
  /** Objects that exist before its machines. */
  readonly objects: readonly ApiObject[];
}

export const AUTO_MODE: Owner = {
  pool: "general-purpose",
  nodeClassRef: CLASS,
  labels: { "eks.amazonaws.com/compute-type": "auto", "eks.amazonaws.com/nodeclass": "default" },
  tags: { "eks:kubernetes-node-pool-name": "general-purpose", "eks:kubernetes-node-class-name": "default" },
  objects: [NODE_CLASS, poolOf("general-purpose"), poolOf("system", { replicas: 2 })],
};

/** A Karpenter with the same NodePool and EC2NodeClass. */
export const KARPENTER: Owner = {
  pool: "default",
  nodeClassRef: { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" },
  labels: { "karpenter.k8s.aws/ec2nodeclass": "default" },
  tags: { "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default" },
  objects: [],
};

type Calls = readonly { readonly method: string; readonly id: string }[];

/** The parts that `watched` and `otherOwner` share: what was asked of EC2. */
export interface Watched {
  readonly hooks: CallHooks;
  readonly calls: Calls;
}

/** Hooks for a lab that keep what the functions ask EC2 to change. */
export function watched(): Watched {
  const calls: { method: string; id: string }[] = [];
  const before: CallHooks["before"] = ({ port, method, args }) => {
    if (port === "fleet" && ["terminate", "tag"].includes(method)) calls.push({ method, id: String(args[0]) });
    return undefined;
  };
  return { calls, hooks: { before } };
}

/** A machine of another owner: a NodeClaim, its instance and its node. */
export interface OtherMachine {
  readonly claim: string;
  readonly node: string;
  readonly id: string;
}

export interface OtherOwner {
  readonly machines: readonly OtherMachine[];
  /** Counts an object that a test has made as one of the owner's. */
  readonly own: (kind: string, name: string) => void;
  /** Changes an object as its owner does. */
  readonly change: (kind: "Node" | "NodeClaim", name: string, change: (o: MutableObject) => void) => void;
  /** The owner decides to remove a machine: the taint and the reason are set, nothing is removed yet. */
  readonly disrupt: (machine: OtherMachine | undefined, reason: string) => void;
  readonly condition: (kind: "Node" | "NodeClaim", name: string, type: string, status?: Condition["status"]) => void;
  /** Each write, event, record and call of ours that is about something of the owner: there must be none. */
  readonly touched: () => Promise<readonly string[]>;
  /** How many writes the functions have made, to whatever: without any, `touched` says nothing. */
  readonly ourWrites: () => number;
}

/** Starts another owner with some machines that have registered. The lab must run one node of its own. */
export async function otherOwner(owner: Owner, lab: Lab, { calls }: Watched, count: number): Promise<OtherOwner> {
  const { world, cloud } = lab;
  const { store } = world;
  const { labels } = owner;
  const change: OtherOwner["change"] = (kind, name, how) => {
    for (const subresource of [undefined, "status"] as const) {
      if (kind === "Node" && subresource === "status") continue;
      store.patch(kind, name, undefined, { user: AUTO, subresource }, (o) => {
        // Through the subresource "status" only the status may be changed in place, and only the status is stored.
        const changed = structuredClone(o);
        how(changed);
        return changed;
      });
    }
  };
  const condition: OtherOwner["condition"] = (kind, name, type, status = "True") =>
    change(kind, name, (o) => {
      const lastTransitionTime = new Date(world.clock.now()).toISOString();
      const others = ((o.status?.conditions ?? []) as readonly Condition[]).filter((one) => one.type !== type);
      o.status = { ...o.status, conditions: [...others, { type, status, reason: type, message: "", lastTransitionTime }] };
    });

  const writes: string[] = [];
  let ourWrites = 0;
  const names = new Set<string>();
  const own = (kind: string, name: string): void => void names.add(`${kind} ${name}`);
  for (const object of owner.objects) {
    store.create(object, { user: AUTO });
    own(String(object["kind"]), object.metadata.name);
  }
  world.onChange(({ kind, verb, subresource, object, old = object, user }) => {
    if (user === PRODUCT) ourWrites += 1;
    const onNode = (one: ApiObject): boolean => names.has(`Node ${(one.spec as { nodeName?: string } | undefined)?.nodeName}`);
    if (kind === "Pod" ? !onNode(object) && !onNode(old) : !names.has(`${kind} ${object.metadata.name}`)) return;
    if (kind === "Pod") own(kind, object.metadata.name);
    if (user === PRODUCT) writes.push(`${verb} ${kind} ${object.metadata.name}${subresource === undefined ? "" : ` ${subresource}`}`);
  });
  /** Pods on a node that is being deleted are planned for, and are told where they should go. */
  const isAbout = ({ about, reason }: PublishedEvent): boolean =>
    names.has(`${about.kind} ${about.metadata.name}`) && !(about.kind === "Pod" && reason === "Nominated");

  const [first] = cloud.machines();
  if (first === undefined) throw new Error("the lab needs one node of its own, whose user data the other machines take");
  const [classLabel = ""] = Object.keys(labels).filter((key) => key.endsWith("nodeclass"));
  const userData = first.userData.replaceAll("karpenter.k8s.aws/ec2nodeclass", classLabel);
  const template = { name: "auto-mode", imageId: "ami-auto", userData, instanceProfile: "auto", securityGroupIds: [], tags: {} };
  const rest = {
    blockDeviceMappings: [],
    metadataOptions: { httpEndpoint: "enabled", httpProtocolIPv6: "disabled", httpPutResponseHopLimit: 1, httpTokens: "required" },
    detailedMonitoring: false,
  };
  await cloud.fleet.ensureLaunchTemplate({ ...template, ...rest });
  const tags = {
    "eks:eks-cluster-name": world.cluster,
    ...owner.tags,
    [`kubernetes.io/cluster/${world.cluster}`]: "owned",
  };
  const { instanceType, zone, imageId, subnetId = "" } = first.instance;
  const machineLabels = { "node.kubernetes.io/instance-type": instanceType, "topology.kubernetes.io/zone": zone };
  const machines: OtherMachine[] = [];
  for (let i = 0; i < count; i++) {
    const claim = `${owner.pool}-other${i}`;
    own("NodeClaim", claim);
    store.create(
      {
        apiVersion: "karpenter.sh/v1",
        kind: "NodeClaim",
        metadata: {
          name: claim,
          labels: { "karpenter.sh/nodepool": owner.pool, "karpenter.sh/capacity-type": "spot", ...machineLabels, ...labels },
          annotations: { "karpenter.sh/nodepool-hash": "1", "karpenter.sh/nodepool-hash-version": "v3" },
          finalizers: ["karpenter.sh/termination"],
        },
        spec: { requirements: [], nodeClassRef: owner.nodeClassRef, expireAfter: i === 0 ? "1m" : "336h", terminationGracePeriod: "24h" },
      },
      { user: AUTO },
    );
    const overrides = [{ instanceType, zone, subnetId, imageId, price: 1 }];
    const { instance } = await cloud.fleet.launch({
      clientToken: claim,
      capacityType: "spot",
      launchTemplates: [{ name: template.name, overrides }],
      tags,
    });
    const simulated = cloud.machines().find((one) => one.instance.id === instance?.id);
    if (simulated === undefined) throw new Error("the other owner's machine was not launched");
    const providerID = `aws:///${zone}/${simulated.instance.id}`;
    own("Node", simulated.nodeName);
    machines.push({ claim, node: simulated.nodeName, id: simulated.instance.id });
    // More than the node will have: the consistency check of an owner would complain.
    const amounts = { capacity: { cpu: "96", memory: "384Gi", pods: "110" }, allocatable: { cpu: "95", memory: "380Gi", pods: "110" } };
    change("NodeClaim", claim, (o) => {
      o.status = { ...o.status, providerID, nodeName: simulated.nodeName, imageID: "ami-auto", ...amounts };
    });
    condition("NodeClaim", claim, "Launched");
  }
  await pass(lab, MINUTE);
  for (const { claim, node } of machines) {
    for (const type of ["Registered", "Initialized", "Ready"]) condition("NodeClaim", claim, type);
    change("Node", node, (o) => {
      const registered = { "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" };
      o.metadata.labels = { ...o.metadata.labels, ...labels, ...registered, "karpenter.sh/nodepool": owner.pool };
      o.metadata.finalizers = ["karpenter.sh/termination"];
      o.spec.taints = [];
    });
  }
  return {
    machines,
    ourWrites: () => ourWrites,
    own,
    change,
    condition,
    disrupt(machine, reason) {
      if (machine === undefined) throw new Error("there is no such machine");
      condition("NodeClaim", machine.claim, "DisruptionReason");
      condition("NodeClaim", machine.claim, reason);
      change("Node", machine.node, (o) => {
        o.spec.taints = [...(o.spec.taints ?? []), { key: "karpenter.sh/disrupted", effect: "NoSchedule" }];
      });
    },
    async touched() {
      const ids = new Set(machines.map(({ id }) => id));
      return [
        ...writes,
        ...calls.filter(({ id }) => ids.has(id)).map(({ method, id }) => `${method} ${id}`),
        ...world.events.filter(isAbout).map(({ reason, about }) => `event ${reason} on ${about.kind} ${about.metadata.name}`),
        ...(await lab.deps.store.list(world.cluster))
          .filter(({ name }) => names.has(`NodeClaim ${name}`))
          .map(({ name }) => `record ${name}`),
        ...lab.log
          .filter((record) => JSON.stringify(record).includes("belongs to another controller"))
          .map(({ message }) => `log ${message}`),
      ];
    },
  };
}
