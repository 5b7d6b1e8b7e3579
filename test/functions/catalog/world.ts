import { bundledCatalogue } from "#adapters/catalogue/bundled.ts";
import { managedObjects } from "#adapters/kubernetes/managed-objects.ts";
import type { NodeClaim } from "#core/model/node-claim.ts";
import type { NodeClaimRecord } from "#core/model/node-claim-record.ts";
import type { EC2NodeClass } from "#core/model/node-class.ts";
import type { NodePool } from "#core/model/node-pool.ts";
import type { CapacityReservation, CloudInventory, Image } from "#core/ports/cloud-inventory.ts";
import { ConflictError } from "#core/ports/errors.ts";
import type { Kind, Kinds, Kubernetes, PublishedEvent } from "#core/ports/kubernetes.ts";
import type { Log } from "#core/ports/log.ts";
import type { WakeUp } from "#core/ports/wake-ups.ts";
import type { CatalogDeps } from "#functions/catalog/deps.ts";
import type { Memory } from "#functions/catalog/node-classes.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";

type Stored = Kinds[Kind];

/** A cluster and an account in memory: what was written, asked and said can be read. */
export class TestWorld {
  now = Date.parse("2026-11-21T12:00:00Z");
  readonly objects = new Map<string, Stored>();
  readonly writes: string[] = [];
  readonly wakeUps: WakeUp[] = [];
  readonly events: PublishedEvent[] = [];
  readonly errors: string[] = [];
  readonly documents = new Map<string, { readonly bytes: Uint8Array; readonly version: string }>();
  /** Calls of the inventory, by name. */
  readonly calls: string[] = [];
  /** Inventory methods that fail. */
  readonly broken = new Set<string>();
  readonly memory: Memory = new Map();
  subnets = [
    { id: "subnet-a", zone: "us-west-2a", zoneId: "usw2-az2", availableIps: 100 },
    { id: "subnet-b", zone: "us-west-2b", zoneId: "usw2-az1", availableIps: 200 },
  ];
  reservations: CapacityReservation[] = [];
  records: NodeClaimRecord[] = [];
  #version = 0;

  put(kind: Kind, object: Stored): void {
    this.#version += 1;
    this.objects.set(`${kind}/${object.metadata.name}`, {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(this.#version) },
    } as Stored);
  }

  get<K extends Kind>(kind: K, name: string): Kinds[K] {
    const object = this.objects.get(`${kind}/${name}`);
    if (object === undefined) throw new Error(`no ${kind} ${name}`);
    return object as Kinds[K];
  }

  #write(kind: Kind, what: "update" | "status", object: Stored): Stored {
    const key = `${kind}/${object.metadata.name}`;
    const present = this.objects.get(key);
    if (present === undefined || present.metadata.resourceVersion !== object.metadata.resourceVersion)
      throw new ConflictError(`${key} has changed`);
    this.writes.push(`${what} ${key}`);
    const merged =
      what === "status"
        ? { ...present, status: (object as { status?: unknown }).status }
        : { ...object, status: (present as { status?: unknown }).status };
    if (merged.metadata.deletionTimestamp !== undefined && !merged.metadata.finalizers?.length) this.objects.delete(key);
    else this.put(kind, merged as Stored);
    return this.objects.get(key) ?? (merged as Stored);
  }

  readonly kubernetes = {
    get: async (kind: Kind, name: string) => this.objects.get(`${kind}/${name}`),
    list: async (kind: Kind) => [...this.objects].filter(([key]) => key.startsWith(`${kind}/`)).map(([, object]) => object),
    update: async (kind: Kind, object: Stored) => this.#write(kind, "update", object),
    updateStatus: async (kind: Kind, object: Stored) => this.#write(kind, "status", object),
    publish: async (event: PublishedEvent) => {
      this.events.push(event);
    },
    version: async () => {
      this.calls.push("version");
      return "1.36";
    },
  } as unknown as Kubernetes;

  #asked<T>(name: string, answer: (...args: never[]) => T): (...args: never[]) => Promise<T> {
    return async (...args) => {
      this.calls.push(name);
      if (this.broken.has(name)) throw new Error(`${name} is out of order`);
      return answer(...args);
    };
  }

  readonly inventory = {
    subnets: this.#asked("subnets", () => this.subnets),
    securityGroups: this.#asked("securityGroups", () => [{ id: "sg-1", name: "cluster" }]),
    capacityReservations: this.#asked("capacityReservations", () => this.reservations),
    placementGroup: this.#asked("placementGroup", () => ({ id: "pg-1", strategy: "cluster" })),
    images: this.#asked("images", (terms: { readonly id?: string }[]): readonly Image[] =>
      terms.map(({ id = "ami-own" }) => ({
        id,
        name: `image of ${id}`,
        architecture: id.includes("arm64") ? "arm64" : "x86_64",
        creationDate: "2026-11-01T00:00:00.000Z",
      })),
    ),
    parameter: this.#asked(
      "parameter",
      (name: string) => `ami-${name.includes("arm64") ? "arm64" : "x86"}-${name.includes("standard") ? "std" : "gpu"}`,
    ),
    ensureInstanceProfile: this.#asked("ensureInstanceProfile", ({ name }: { readonly name: string }) => name),
    removeInstanceProfile: this.#asked("removeInstanceProfile", () => undefined),
    instanceTypes: this.#asked("instanceTypes", () => [
      {
        InstanceType: "m5.large",
        ProcessorInfo: { SupportedArchitectures: ["x86_64"], SustainedClockSpeedInGhz: 3.1, Manufacturer: "Intel" },
        VCpuInfo: { DefaultVCpus: 2 },
        MemoryInfo: { SizeInMiB: 8192 },
        SupportedUsageClasses: ["on-demand", "spot"],
      },
    ]),
    instanceTypeZones: this.#asked("instanceTypeZones", () => ({ "m5.large": ["us-west-2b", "us-west-2a"] })),
    zones: this.#asked("zones", () => [
      { name: "us-west-2b", zoneId: "usw2-az1" },
      { name: "us-west-2a", zoneId: "usw2-az2" },
    ]),
    onDemandPrices: this.#asked("onDemandPrices", () => ({ "m5.large": 0.1 })),
    spotPrices: this.#asked("spotPrices", () => ({ "m5.large": { "us-west-2a": 0.05 } })),
  } as unknown as CloudInventory;

  readonly #log: Log = {
    debug: () => undefined,
    info: () => undefined,
    error: (message, fields) => {
      this.errors.push(`${message}: ${String(fields?.["error"])}`);
    },
    with: () => this.#log,
  };

  readonly deps: CatalogDeps = {
    cluster: { name: "prod", endpoint: "https://x", caBundle: "Q0E=", serviceCidr: "10.100.0.0/16" },
    memory: new ProcessMemory(),
    kubernetes: managedObjects(this.kubernetes),
    inventory: this.inventory,
    store: {
      putDocument: async (name: string, bytes: Uint8Array, version: string) => {
        this.documents.set(name, { bytes, version });
      },
      documentVersion: async (name: string) => this.documents.get(name)?.version,
      getDocument: async (name: string) => this.documents.get(name),
      isFirstWithin: async () => true,
      list: async () => this.records,
    } as unknown as CatalogDeps["store"],
    wakeUps: {
      wake: async (wakeUps: readonly WakeUp[]) => {
        this.wakeUps.push(...wakeUps);
      },
    },
    catalogue: async () => bundledCatalogue("us-west-2"),
    settings: { ...DEFAULT_SETTINGS, nodeOverlay: true },
    log: this.#log,
    now: () => this.now,
  };
}

const nodeClassRef = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };

export function nodeClass(
  overrides: { readonly spec?: Partial<EC2NodeClass["spec"]>; readonly metadata?: Partial<EC2NodeClass["metadata"]> } = {},
): EC2NodeClass {
  return {
    metadata: { name: "default", uid: "class-uid", generation: 1, ...overrides.metadata },
    spec: {
      subnetSelectorTerms: [{ tags: { a: "b" } }],
      securityGroupSelectorTerms: [{ tags: { a: "b" } }],
      amiSelectorTerms: [{ alias: "al2023@latest" }],
      role: "node-role",
      ...overrides.spec,
    },
  };
}

export function nodePool(name = "default"): NodePool {
  return { metadata: { name, generation: 1 }, spec: { template: { spec: { requirements: [], nodeClassRef } } } };
}

export function nodeClaim(name: string, annotations: Readonly<Record<string, string>> = {}, drifted = false): NodeClaim {
  return {
    metadata: { name, labels: { "karpenter.sh/nodepool": "default" }, annotations },
    spec: { requirements: [], nodeClassRef },
    status: {
      providerID: `aws:///z/${name}`,
      capacity: { cpu: "2" },
      ...(drifted && { conditions: [{ type: "Drifted", status: "True" as const }] }),
    },
  };
}
