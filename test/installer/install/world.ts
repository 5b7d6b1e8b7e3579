import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedNodeClaimStore } from "#adapters/store/embedded-store.ts";
import type { ClusterRecord } from "#core/model/cluster-record.ts";
import { NotFoundError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { AddedCluster } from "#infra/added-cluster-stack.ts";
import { DEPLOYED } from "#infra/deployed.ts";
import type { DeploymentSettings } from "#infra/settings.ts";
import type { EventSource, InstallPorts, KubeObject, StackEvent, StackResource, UninstallPorts } from "#installer/account/ports.ts";
import { VERSION } from "#settings/version.ts";
import { memoryClusterRecords } from "../../support/cluster-records.ts";
import { INSTALL_KILLS_EVERY } from "../../support/effort.ts";

export const ACCOUNT = "111122223333";
export const ROLE = `arn:aws:iam::${ACCOUNT}:role/KarpenterNodeRole-c1`;
const STACK = "karpenter-serverless";
export const SECRET = "s".repeat(48);

/** What a person has after an installation, and what a test may prepare. */
export class World {
  readonly bucket = new Map<string, Uint8Array>();
  hasBucket = false;
  stack: { status: string; templateUrl: string; outputs: Readonly<Record<string, string>> } | undefined;
  /** What a stack that is whole says. */
  outputs: Readonly<Record<string, string>> = {
    ...{ Clusters: "c1", Version: "0.1.0", InterruptionQueueArn: "arn:queue" },
    ...{ NotifyUrl: "https://notify.example", NotifyTokenArn: "arn:secret" },
  };
  /** Those of each deployment. */
  readonly settings: DeploymentSettings[] = [];
  readonly events: StackEvent[] = [];
  resources: readonly StackResource[] = [];
  /** What the deployed template says of itself. */
  metadata: Readonly<Record<string, unknown>> = {};
  readonly objects = new Map<string, KubeObject>();
  /** How the next creation or update ends. */
  ending = "COMPLETE";
  hasAuditLog = false;
  auditGroupClass: string | undefined = "STANDARD";
  /** Subnets and security groups that the installer has tagged. */
  readonly taggedIds = new Set<string>();
  /** The types of resources that the account refuses in a stack whose settings make them. */
  refuses: readonly string[] = [];
  /** For so many looks what is under way does not end. */
  slow = 0;
  /** Whether the person may create CustomResourceDefinitions. */
  mayInstall = true;
  /** The Lease of a Karpenter that runs. */
  karpenter: string | undefined;
  /** The records in the stack's table. */
  readonly records: NodeClaimStore = embeddedNodeClaimStore();
  /** Milliseconds since the epoch; it goes on while a command waits. */
  now = Date.parse("2026-11-23T12:00:00Z");
  /** What others do while a command waits. */
  onSleep: () => void | Promise<void> = () => {};
  /** The functions end nothing while this is true. */
  endsNothing = false;
  /** EKS knows no cluster of this name any more. */
  isClusterGone = false;
  /** Why the stack cannot be removed. */
  undeletable: string | undefined;
  calls = 0;
  /** The call at which the installer is killed, before it or right after it had its effect. */
  killAt: { readonly call: number; readonly when: "before" | "after" } | undefined;

  /** The small stacks of clusters that were added, by name. */
  readonly small = new Map<string, { status: string; templateUrl: string; outputs: Readonly<Record<string, string>> }>();
  /** What each of them was made from, by the key of its template. */
  readonly added = new Map<string, AddedCluster>();
  readonly clusters = new Map<string, ClusterRecord>();
  /** The event sources of the stack, by their ids. */
  readonly sources = new Map<string, EventSource>();
  /** Updates and creations of the functions' stack, and removals. */
  readonly orders: string[] = [];

  /** What remains, for comparison. */
  end(): object {
    return {
      small: [...this.small].map(([name, { status, outputs }]) => [
        name,
        status === "UPDATE_COMPLETE" ? "CREATE_COMPLETE" : status,
        outputs,
      ]),
      // How often a record was written does not matter.
      clusters: [...this.clusters.values()].map(({ version: _, ...record }) => record),
      sources: [...this.sources],
      bucket: [...this.bucket.keys()].sort(),
      stack: this.stack,
      objects: [...this.objects].sort(([a], [b]) => (a < b ? -1 : 1)),
    };
  }

  ports(changed: Partial<InstallPorts["account"]> = {}): InstallPorts {
    const call = <T>(effect: () => T): Promise<T> => this.#call(effect);
    return {
      synthesize: async (settings, outDir) => {
        this.settings.push(settings);
        mkdirSync(join(outDir, "asset.1"));
        writeFileSync(join(outDir, "asset.1/index.mjs"), "export const handler = 1;");
        const name = settings.stackName;
        writeFileSync(join(outDir, `${name}.template.json`), "{}");
        const files = {
          a: { source: { path: "asset.1", packaging: "zip" }, destinations: { here: { objectKey: "code.zip" } } },
          b: { source: { path: `${name}.template.json`, packaging: "file" }, destinations: { here: { objectKey: "template.json" } } },
        };
        writeFileSync(join(outDir, `${name}.assets.json`), JSON.stringify({ files }));
      },
      synthesizeAdded: async (added) => {
        const text = JSON.stringify({ cluster: added.cluster, createNodeRoles: added.createNodeRoles, roles: added.functionRoles });
        this.added.set(`${createHash("sha256").update(text).digest("hex")}.template.json`, added);
        return text;
      },
      live: { logGroupClass: async () => this.auditGroupClass },
      clusterRecords: () => memoryClusterRecords(this.clusters, call),
      eventSources: {
        read: (id) => call(() => this.sources.get(id) ?? { batchSize: 10 }),
        change: (id, to) => call(() => void this.sources.set(id, to)),
      },
      account: {
        caller: async () => ({ account: ACCOUNT, arn: `arn:aws:iam::${ACCOUNT}:role/me` }),
        cluster: async () => ({
          ...{ status: "ACTIVE", version: "1.33", authenticationMode: "API" },
          ...{ isPublic: true, publicCidrs: ["0.0.0.0/0"], hasAutoMode: false, hasAuditLog: this.hasAuditLog, egress: "AWS_MANAGED" },
        }),
        hasCluster: async () => !this.isClusterGone,
        lambdaLimit: async () => ({ limit: 1_000, unreserved: 1_000 }),
        roleArn: async () => ROLE,
        accessEntryType: async () => "EC2_LINUX",
        tagged: async () => 2,
        tagForDiscovery: (ids) =>
          call(() => {
            for (const id of ids) this.taggedIds.add(id);
          }),
        ...changed,
      },
      bucket: (account) => ({
        name: `bucket-${account}`,
        ensure: () =>
          call(() => {
            this.hasBucket = true;
          }),
        has: (key) => call(() => this.bucket.has(key)),
        put: (key, body) =>
          call(() => {
            if (!this.hasBucket) throw new Error("there is no bucket");
            this.bucket.set(key, body);
          }),
        url: (key) => `https://bucket/${key}`,
      }),
      stacks: {
        describe: (name) => call(() => (isSmall(name) ? this.#settleSmall(name) : this.#settle())),
        create: (name, templateUrl) =>
          call(() => (isSmall(name) ? this.#beginSmall(name, "CREATE", templateUrl) : this.#begin("CREATE", templateUrl))),
        update: (name, templateUrl) =>
          call(() => {
            if (isSmall(name)) {
              if (this.small.get(name)?.templateUrl === templateUrl) return false;
              this.#beginSmall(name, "UPDATE", templateUrl);
              return true;
            }
            if (this.stack?.templateUrl === templateUrl) return false;
            this.#begin("UPDATE", templateUrl);
            return true;
          }),
        remove: (name) =>
          call(() => {
            this.orders.push(`DELETE ${name}`);
            if (isSmall(name)) this.small.delete(name);
            else if (this.undeletable !== undefined && this.stack !== undefined) {
              this.#tell(STACK, "DELETE_IN_PROGRESS");
              this.#tell("NodeRole", "DELETE_FAILED", this.undeletable);
              this.stack = { ...this.stack, status: "DELETE_FAILED" };
            } else this.stack = undefined;
          }),
        resources: () => call(() => this.resources),
        events: () => call(() => [...this.events].reverse()),
        metadata: (name) => call(() => (isSmall(name) ? this.#metadataOf(name) : this.metadata)),
      },
      clusterApi: () => ({
        observe: () => call(() => ({ mayInstall: this.mayInstall, ...(this.karpenter !== undefined && { karpenter: this.karpenter }) })),
        find: (object) => call(() => this.objects.get(keyOf(object))),
        apply: (object) => call(() => this.#apply(object)),
        patch: (object, change) => call(() => this.#patch(object, change)),
        remove: (object) => call(() => this.#remove(object)),
        list: ({ kind }) =>
          call(() => {
            const listed = [...this.objects.values()].filter((object) => object.kind === kind);
            this.#finalize(listed);
            return listed;
          }),
      }),
      secret: () => call(() => SECRET),
      sleep: async (ms) => {
        this.now += ms;
        await this.onSleep();
      },
    };
  }

  /** What the cluster has left in the account, beside its stack. */
  readonly left = { instances: [] as string[], profiles: [] as string[], templates: 0, tables: [] as string[] };
  /** What the person says; undefined where there is nobody to ask. */
  agrees: boolean | undefined;

  uninstallPorts(): UninstallPorts & { readonly records: () => NodeClaimStore } {
    const { left } = this;
    const without = (kind: "profiles" | "tables", name: string): void => {
      left[kind] = left[kind].filter((one) => one !== name);
    };
    return {
      ...this.ports(),
      leftBehind: {
        instances: () => this.#call(() => left.instances),
        terminate: (ids) =>
          this.#call(() => {
            left.instances = left.instances.filter((id) => !ids.includes(id));
          }),
        removeLaunchTemplates: () =>
          this.#call(() => {
            const { templates } = left;
            left.templates = 0;
            return templates;
          }),
        instanceProfiles: () => this.#call(() => left.profiles),
        removeInstanceProfile: (name) => this.#call(() => without("profiles", name)),
        tables: () => this.#call(() => left.tables),
        removeTable: (name) => this.#call(() => without("tables", name)),
      },
      confirm: async () => this.agrees,
      records: () => callingStore(this.records, (effect) => this.#call(effect)),
      now: () => this.now,
    };
  }

  /** A call at which the program may be killed. */
  call<T>(effect: () => T): Promise<T> {
    return this.#call(effect);
  }

  /** An update of the stack begins. */
  begin(_name: string, templateUrl: string): void {
    this.#begin("UPDATE", templateUrl);
  }

  async #call<T>(effect: () => T): Promise<T> {
    this.calls += 1;
    const left = this.killAt === undefined ? Number.POSITIVE_INFINITY : this.killAt.call - this.calls;
    const isLast = left === 0;
    // A program that is killed asks nothing more, also where it would go on after a question that fails.
    if (left < 0 || (isLast && this.killAt?.when === "before")) throw new Killed("killed");
    const value = effect();
    if (isLast) throw new Killed("killed");
    return value;
  }

  #begin(verb: "CREATE" | "UPDATE", templateUrl: string): void {
    if (verb === "CREATE" && this.stack !== undefined) throw new Error(`stack ${STACK} in us-west-2: Stack [${STACK}] already exists`);
    if (verb === "UPDATE" && this.stack === undefined) throw new Error("UPDATE of a stack that is not there");
    if (this.bucket.get(templateUrl.split("/").at(-1) ?? "") === undefined) throw new Error("there is no template");
    this.#tell(STACK, `${verb}_IN_PROGRESS`);
    this.orders.push(`${verb} ${STACK}`);
    this.stack = { status: `${verb}_IN_PROGRESS`, templateUrl, outputs: this.stack?.outputs ?? {} };
  }

  #beginSmall(name: string, verb: "CREATE" | "UPDATE", templateUrl: string): void {
    if (this.bucket.get(templateUrl.split("/").at(-1) ?? "") === undefined) throw new Error("there is no template");
    if (verb === "CREATE" && this.small.has(name)) throw new Error(`stack ${name} in us-west-2: Stack [${name}] already exists`);
    this.orders.push(`${verb} ${name}`);
    this.#tell(name, `${verb}_IN_PROGRESS`);
    this.small.set(name, { status: `${verb}_IN_PROGRESS`, templateUrl, outputs: this.small.get(name)?.outputs ?? {} });
  }

  #settleSmall(name: string): { readonly status: string; readonly outputs: Readonly<Record<string, string>> } | undefined {
    const stack = this.small.get(name);
    if (stack === undefined || !stack.status.endsWith("_IN_PROGRESS")) return stack;
    const added = this.added.get(stack.templateUrl.split("/").at(-1) ?? "");
    const cluster = added?.cluster.name ?? "";
    const outputs = {
      ...{ ServedBy: STACK, Cluster: cluster, Version: VERSION },
      ...{ LifecycleRoleArn: roleOf(cluster, "lifecycle"), CatalogRoleArn: roleOf(cluster, "catalog") },
      ...(added?.createNodeRoles && { ClustersWithNodeRole: cluster }),
    };
    this.small.set(name, { ...stack, status: `${stack.status.split("_")[0]}_COMPLETE`, outputs });
    return { ...stack };
  }

  #metadataOf(name: string): Readonly<Record<string, unknown>> {
    const added = this.added.get(this.small.get(name)?.templateUrl.split("/").at(-1) ?? "");
    return added === undefined ? {} : { [DEPLOYED]: { version: VERSION, cluster: added.cluster, createNodeRoles: added.createNodeRoles } };
  }

  /** What is under way ends a look later. */
  #settle(): { readonly status: string; readonly outputs: Readonly<Record<string, string>> } | undefined {
    const { stack } = this;
    if (stack === undefined) return undefined;
    const seen = { ...stack };
    if (this.slow > 0) this.slow -= 1;
    else if (stack.status.endsWith("_IN_PROGRESS")) {
      const verb = stack.status.split("_")[0];
      if (this.refuses.length > 0) this.ending = this.#refused() === undefined ? "COMPLETE" : "an SCP denies it.";
      const failed = this.ending !== "COMPLETE";
      if (failed) this.#tell("Notify", `${verb}_FAILED`, this.ending, this.#refused() ?? "AWS::Lambda::Function");
      else this.#tell("Notify", `${verb}_COMPLETE`);
      const status = !failed ? `${verb}_COMPLETE` : verb === "CREATE" ? "ROLLBACK_COMPLETE" : "UPDATE_ROLLBACK_COMPLETE";
      const outputs = failed ? {} : this.outputs;
      this.stack = { ...stack, status, outputs };
    }
    return seen;
  }

  /** Finalizers hold an object until the functions have done their part. */
  #remove(object: KubeObject): void {
    const key = keyOf(object);
    const found = this.objects.get(key);
    if (found?.metadata.finalizers === undefined) this.objects.delete(key);
    else this.objects.set(key, { ...found, metadata: { ...found.metadata, deletionTimestamp: "2026-11-23T12:00:00Z" } });
  }

  /** What the functions do while there are any: they end NodeClaims, then the classes to which none refers. */
  #finalize(objects: readonly KubeObject[]): void {
    if (this.endsNothing || !/_COMPLETE$/.test(this.stack?.status ?? "")) return;
    for (const object of objects) {
      const isHeld = object.kind === "EC2NodeClass" && [...this.objects.values()].some(isClaimOfOurs);
      if (object.metadata.deletionTimestamp !== undefined && !isHeld) this.objects.delete(keyOf(object));
    }
  }

  #tell(resource: string, status: string, reason = "", type = "AWS::CloudFormation::Stack"): void {
    this.events.push({ id: String(this.events.length), resource, type, status, reason });
  }

  /** The first type of the last deployment's resources that the account refuses. */
  #refused(): string | undefined {
    const { publicUrl, clusters } = this.settings.at(-1) ?? {};
    const made = [
      ...(publicUrl === "functionUrl" ? ["AWS::Lambda::Url"] : publicUrl === "apiGateway" ? ["AWS::ApiGatewayV2::Api"] : []),
      ...(clusters?.[0]?.sources.includes("audit") ? ["AWS::Logs::SubscriptionFilter"] : []),
    ];
    return made.find((type) => this.refuses.includes(type));
  }

  #patch(object: KubeObject, change: object): void {
    const found = this.objects.get(keyOf(object));
    if (found === undefined) throw new NotFoundError(`no ${keyOf(object)}`);
    this.objects.set(keyOf(object), merged(found, change) as KubeObject);
  }

  #apply(object: KubeObject): void {
    const served = [...this.objects.keys()].some((key) => key.startsWith(`CustomResourceDefinition/${object.kind.toLowerCase()}`));
    if (/karpenter/.test(object.apiVersion) && !served) throw new NotFoundError(`no ${object.kind}`);
    this.objects.set(keyOf(object), object);
  }
}

const isSmall = (stack: string): boolean => stack.includes("-access-");

/** The role of a function in the small stack of a cluster. */
export const roleOf = (cluster: string, name: string): string =>
  `arn:aws:iam::${ACCOUNT}:role/karpenter-serverless/${STACK}/${name}/${cluster}-role`;

/** The installer's process ends here. */
export class Killed extends Error {}

/**
 * Runs that are killed before or after one of `calls` calls, each run again to its end: their worlds, both answers, and
 * where the first was killed. Of all calls, each INSTALL_KILLS_EVERY-th is tried.
 */
export async function* killedAndRunAgain<W extends World, A>(
  make: () => W | Promise<W>,
  run: (world: W) => Promise<{ readonly answer: A }>,
  calls: number,
): AsyncGenerator<{ readonly world: W; readonly first: A; readonly second: A; readonly at: string }> {
  for (let call = 1; call <= calls; call += INSTALL_KILLS_EVERY) {
    for (const when of ["before", "after"] as const) {
      const world = await make();
      world.killAt = { call, when };
      const { answer: first } = await run(world);
      world.killAt = undefined;
      const { answer: second } = await run(world);
      yield { world, first, second, at: `${when} call ${call}` };
    }
  }
}

export const keyOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

/** RFC 7386. */
function merged(target: unknown, change: unknown): unknown {
  if (typeof change !== "object" || change === null || Array.isArray(change)) return change;
  const result: Record<string, unknown> = { ...(target as object) };
  for (const [key, value] of Object.entries(change)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

/** The store, each of whose calls is one at which the program may be killed. */
function callingStore(store: NodeClaimStore, call: <T>(effect: () => T) => Promise<T>): NodeClaimStore {
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return async (...args: unknown[]) => await await call(() => method.apply(target, args) as Promise<unknown>);
    },
  });
}

const isClaimOfOurs = ({ kind, metadata }: KubeObject): boolean => kind === "NodeClaim" && metadata.finalizers !== undefined;
