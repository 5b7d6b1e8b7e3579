import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { clusterToken } from "#adapters/lambda/path-token.ts";
import { manifestsCommand } from "#cli/manifests/command.ts";
import { runCommandLine } from "#cli/run.ts";
import { WELL_KNOWN_LABELS } from "#core/model/labels.ts";
import { FUNCTION_NAMES, FUNCTIONS } from "#infra/functions.ts";
import { manifests } from "#infra/manifests.ts";

const CRDS = join(import.meta.dirname, "..", "..", "infra", "crds");

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources: Readonly<Record<string, unknown>>;
  readonly additionalPrinterColumns: readonly { readonly name: string; readonly priority?: number }[];
  readonly schema: { readonly openAPIV3Schema: unknown };
}

interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly plural: string; readonly categories: readonly string[]; readonly shortNames?: readonly string[] };
    readonly versions: readonly Version[];
    readonly conversion?: object;
  };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
  readonly webhooks?: readonly Webhook[];
}

interface Webhook {
  readonly name: string;
  readonly failurePolicy: string;
  readonly timeoutSeconds: number;
  readonly sideEffects: string;
  readonly clientConfig: { readonly url: string; readonly caBundle?: string };
  readonly matchConditions: readonly unknown[];
  readonly rules: readonly { readonly operations: readonly string[]; readonly resources: readonly string[] }[];
}

function crd(file: string): Crd {
  return parse(readFileSync(join(CRDS, `${file}.yaml`), "utf8")) as Crd;
}

function all(options: Omit<Parameters<typeof manifests>[0], "cluster"> = {}): readonly Manifest[] {
  return parseAllDocuments(manifests({ cluster: "c1", ...options })).map((document) => document.toJS() as Manifest);
}

const admission = { admissionUrl: "https://y.lambda-url.us-west-2.on.aws/", admissionToken: "fedcba9876543210" };
const notify = { notifyUrl: "https://x.lambda-url.us-west-2.on.aws/", notifyToken: "0123456789abcdef" };

/** Every object schema below a schema, with its path. */
function schemas(value: unknown, path = "$"): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  if (typeof value !== "object" || value === null) return [];
  return [
    [path, value as Readonly<Record<string, unknown>>],
    ...Object.entries(value).flatMap(([key, child]) => schemas(child, `${path}.${key}`)),
  ];
}

describe("CRDs", () => {
  it.for([
    {
      file: "karpenter.sh_nodepools",
      columns: ["NodeClass", "Nodes", "Ready", "Age"],
      wide: ["Weight", "CPU", "Memory"],
      subresources: ["status", "scale"],
    },
    {
      file: "karpenter.sh_nodeclaims",
      columns: ["Type", "Capacity", "Zone", "Node", "Ready", "Age"],
      wide: ["ImageID", "ID", "NodePool", "NodeClass", "Drifted"],
      subresources: ["status"],
    },
    { file: "karpenter.k8s.aws_ec2nodeclasses", columns: ["Ready", "Age"], wide: ["Role"], subresources: ["status"] },
    {
      file: "karpenter.sh_nodeoverlays",
      served: "v1alpha1",
      columns: ["Ready", "Age"],
      wide: ["Weight", "Price", "Adjustment"],
      subresources: ["status"],
    },
    {
      file: "autoscaling.x-k8s.io_capacitybuffers",
      served: "v1beta1",
      scope: "Namespaced",
      category: "autoscaling",
      columns: ["Strategy", "PodTemplate", "Replicas", "ConditionsType", "ConditionsStatus", "ConditionsReason", "Age"],
      subresources: ["status"],
    },
  ])("$file shows the columns that users know", (want) => {
    const { file, served = "v1", scope = "Cluster", category = "karpenter", columns, wide, subresources } = want;
    const { metadata, spec } = crd(file);
    expect(`${spec.names.plural}.${spec.group}`).toBe(metadata.name);
    expect(spec).toMatchObject({ scope, names: { categories: [category] } });
    expect(spec.versions).toMatchObject([{ name: served, served: true, storage: true }]);
    const [version] = spec.versions;
    expect(Object.keys(version?.subresources ?? {})).toEqual(subresources);
    const byPriority = Object.groupBy(version?.additionalPrinterColumns ?? [], ({ priority }) => (priority === 1 ? "wide" : "narrow"));
    expect(byPriority.narrow?.map(({ name }) => name)).toEqual(columns);
    expect(byPriority.wide?.map(({ name }) => name)).toEqual(wide);
  });

  it.for(readdirSync(CRDS))("%s gives each rule a message and each pattern a valid expression", (file) => {
    for (const [path, schema] of schemas(crd(file.replace(/\.yaml$/, "")).spec.versions[0]?.schema)) {
      if (typeof schema["rule"] === "string") expect(schema["message"], path).toBeTypeOf("string");
      const { pattern } = schema;
      if (typeof pattern === "string") expect(() => new RegExp(pattern), path).not.toThrow();
      const { required, properties } = schema;
      if (Array.isArray(required)) expect(Object.keys(properties as object), path).toEqual(expect.arrayContaining(required));
    }
  });

  it.for(["karpenter.sh_nodepools", "karpenter.sh_nodeclaims", "karpenter.sh_nodeoverlays"])(
    "%s allows exactly the AWS labels that the core knows",
    (file) => {
      const rules = schemas(crd(file)).flatMap(([, { rule }]) =>
        typeof rule === "string" && rule.includes("instance-family") ? [rule] : [],
      );
      const known = [...WELL_KNOWN_LABELS].filter((label) => label.startsWith("karpenter.k8s.aws/"));
      expect(rules.length).toBeGreaterThan(0);
      for (const rule of rules) {
        const allowed = [...rule.matchAll(/'(karpenter\.k8s\.aws\/[^']+)'/g)].map(([, label]) => label);
        expect(allowed.sort()).toEqual([...known, "karpenter.k8s.aws/ec2nodeclass"].sort());
      }
    },
  );

  it("each CRD says which version of the package has written it, with admission too", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
    for (const options of [{}, admission]) {
      const annotations = all(options).flatMap(({ kind, metadata }) =>
        kind === "CustomResourceDefinition" ? [(metadata as { readonly annotations?: object }).annotations] : [],
      );
      expect(annotations).toEqual(Array(5).fill({ "karpenter-serverless/version": version }));
    }
  });

  it("a NodeClaim accepts the requirements that a NodePool accepts", () => {
    const itemOf = (file: string): Readonly<Record<string, unknown>> | undefined =>
      schemas(crd(file)).find(([path]) => path.endsWith("requirements.items.properties"))?.[1];
    const { key: poolKey, ...pool } = itemOf("karpenter.sh_nodepools") ?? {};
    const { key: claimKey, ...claim } = itemOf("karpenter.sh_nodeclaims") ?? {};
    expect(JSON.stringify(claim).replace("the launch", "a launch")).toBe(JSON.stringify(pool));
    const rulesOf = (key: unknown): readonly string[] => schemas(key).flatMap(([, { rule }]) => (typeof rule === "string" ? [rule] : []));
    expect(rulesOf(poolKey).filter((rule) => !rulesOf(claimKey).includes(rule))).toEqual(["self != 'karpenter.sh/nodepool'"]);
  });
});

interface FlowSchema {
  readonly spec: {
    readonly priorityLevelConfiguration: { readonly name: string };
    readonly rules: readonly { readonly subjects: readonly { readonly group: { readonly name: string } }[] }[];
  };
}

describe("RBAC", () => {
  const roles = all().filter(({ kind }) => kind === "ClusterRole" || kind === "Role");
  const rules = (name: string) => roles.find(({ metadata }) => metadata.name === `karpenter-serverless:${name}`)?.rules ?? [];
  const may = (name: string, verb: string, resource: string): boolean =>
    rules(name).some(({ verbs, resources }) => verbs.includes(verb) && resources.includes(resource));

  it("each role is bound to the group of its function", () => {
    const bindings = all().filter(({ kind }) => kind === "ClusterRoleBinding");
    expect(bindings.map(({ metadata, subjects }) => [metadata.name, subjects?.map(({ kind, name }) => `${kind} ${name}`)])).toEqual(
      ["catalog", "disruption", "interruption", "lifecycle", "metrics", "provision"].map((name) => [
        `karpenter-serverless:${name}`,
        [`Group karpenter-serverless:${name}`],
      ]),
    );
  });

  it("each function that decides is served before ordinary users when the API server is overloaded, and scrapes are not", () => {
    const [schema, ...others] = all().filter(({ kind }) => kind === "FlowSchema") as unknown as readonly FlowSchema[];
    expect(others).toEqual([]);
    expect(schema?.spec.priorityLevelConfiguration.name).toBe("workload-high");
    const groups = schema?.spec.rules.flatMap(({ subjects }) => subjects.map(({ group }) => group.name)) ?? [];
    expect(groups.sort()).toEqual(
      FUNCTION_NAMES.filter((name) => FUNCTIONS[name].inClusters && name !== "metrics")
        .map((name) => `karpenter-serverless:${name}`)
        .sort(),
    );
  });

  it("no role has a wildcard or reads secrets", () => {
    for (const { rules = [] } of roles) {
      for (const rule of rules) {
        expect([...rule.apiGroups, ...rule.resources, ...rule.verbs]).not.toContain("*");
        expect(rule.resources).not.toContain("secrets");
      }
    }
  });

  it("the metrics function only reads", () => {
    expect([...new Set(rules("metrics").flatMap(({ verbs }) => verbs))].sort()).toEqual(["get", "list", "watch"]);
  });

  it.for([
    { verb: "create", resource: "pods/eviction", who: ["lifecycle"] },
    { verb: "delete", resource: "nodes", who: ["lifecycle"] },
    { verb: "delete", resource: "pods", who: ["lifecycle"] },
    { verb: "create", resource: "nodeclaims", who: ["lifecycle"] },
    { verb: "delete", resource: "nodeclaims", who: ["lifecycle"] },
    { verb: "update", resource: "nodes", who: ["lifecycle", "disruption"] },
    { verb: "update", resource: "nodeclaims/status", who: ["lifecycle", "disruption"] },
    { verb: "update", resource: "nodepools/status", who: ["lifecycle", "catalog"] },
    { verb: "patch", resource: "ec2nodeclasses/status", who: ["catalog"] },
    { verb: "update", resource: "nodeoverlays/status", who: ["catalog"] },
    { verb: "list", resource: "nodeoverlays", who: ["provision", "lifecycle", "disruption", "catalog"] },
    { verb: "update", resource: "capacitybuffers/status", who: ["provision"] },
    { verb: "patch", resource: "pods/status", who: ["provision", "lifecycle"] },
    { verb: "list", resource: "capacitybuffers", who: ["provision", "disruption"] },
    { verb: "get", resource: "podtemplates", who: ["provision", "disruption"] },
    { verb: "list", resource: "services", who: ["provision", "disruption"] },
  ])("only $who may $verb $resource", ({ verb, resource, who }) => {
    const able = ["provision", "lifecycle", "disruption", "interruption", "catalog"].filter((name) => may(name, verb, resource));
    expect(able).toEqual(who);
  });
});

describe("the webhook", () => {
  it("without a URL there is no webhook", () => {
    expect(all().some(({ kind }) => kind === "ValidatingWebhookConfiguration")).toBe(false);
  });

  it("a webhook can never block the API server", () => {
    const webhooks = all(notify).flatMap((manifest) => manifest.webhooks ?? []);
    expect(webhooks.length).toBeGreaterThan(0);
    for (const webhook of webhooks) {
      expect(webhook).toMatchObject({ failurePolicy: "Ignore", timeoutSeconds: 1, sideEffects: "None" });
      expect(webhook.matchConditions.length).toBeGreaterThan(1);
      expect(webhook.clientConfig).toEqual({
        url: `https://x.lambda-url.us-west-2.on.aws/v1/c1/${clusterToken(notify.notifyToken, "c1")}`,
      });
    }
  });

  it("the webhook of a cluster holds neither the stack's secret nor what opens the path of another cluster", () => {
    const text = (cluster: string) => manifests({ ...notify, cluster });
    expect(text("c1")).not.toContain(notify.notifyToken);
    expect(text("c1")).not.toContain(clusterToken(notify.notifyToken, "c2"));
    expect(text("c2")).toContain(clusterToken(notify.notifyToken, "c2"));
  });

  it("a webhook has the private authority when there is one", () => {
    const webhooks = all({ ...notify, caBundle: "Q0E=" }).flatMap((manifest) => manifest.webhooks ?? []);
    expect(new Set(webhooks.map(({ clientConfig }) => clientConfig.caBundle))).toEqual(new Set(["Q0E="]));
  });

  it.for([
    { name: "a URL without TLS", options: { ...notify, notifyUrl: "http://x" }, says: "only calls https URLs" },
    { name: "a URL without a token", options: { notifyUrl: notify.notifyUrl }, says: "--notify-token of at least 16" },
    { name: "a cluster name with a slash", options: { ...notify, cluster: "a/b" }, says: "no EKS cluster name" },
  ])("refuses $name in one sentence", ({ options, says }) => {
    expect(() => manifests({ cluster: "c1", ...options })).toThrow(says);
  });
});

describe("with the admission function's URL", () => {
  const url = `https://y.lambda-url.us-west-2.on.aws/v1/c1/${clusterToken(admission.admissionToken, "c1")}`;
  const versionsOf = (options: Parameters<typeof all>[0]) =>
    new Map(
      all(options).flatMap((manifest) =>
        manifest.kind === "CustomResourceDefinition" ? [[manifest.metadata.name, (manifest as unknown as Crd).spec] as const] : [],
      ),
    );

  it("CRDs serve v1beta1 beside the stored v1, and name the conversion webhook", () => {
    const before = versionsOf({});
    const after = versionsOf({ ...admission, caBundle: "Q0E=" });
    for (const name of ["nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"]) {
      const spec = after.get(name);
      expect(spec?.versions.slice(0, 1), name).toEqual(before.get(name)?.versions);
      expect(spec?.versions.slice(1), name).toMatchObject([{ name: "v1beta1", served: true, storage: false, deprecated: true }]);
      expect(spec?.conversion).toEqual({
        strategy: "Webhook",
        webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: `${url}/convert`, caBundle: "Q0E=" } },
      });
    }
    for (const name of ["nodeoverlays.karpenter.sh", "capacitybuffers.autoscaling.x-k8s.io"])
      expect(after.get(name)).toEqual(before.get(name));
  });

  it("without the admission URL no version is served that needs conversion", () => {
    for (const spec of versionsOf(notify).values()) {
      expect(spec.versions).toHaveLength(1);
      expect(spec.conversion).toBeUndefined();
    }
  });

  it("v1beta1 gives each rule a message and each pattern a valid expression", () => {
    for (const { versions } of versionsOf(admission).values()) {
      for (const [path, { rule, message, pattern }] of schemas(versions.at(-1)?.schema)) {
        if (typeof rule === "string") expect(message, path).toBeTypeOf("string");
        if (typeof pattern === "string") expect(() => new RegExp(pattern), path).not.toThrow();
      }
    }
  });

  it("the admission webhook gets definitions only, never NodeClaims or nodes, and cannot block the API server", () => {
    const webhooks = all(admission).flatMap((manifest) => manifest.webhooks ?? []);
    expect(webhooks.map(({ clientConfig }) => clientConfig)).toEqual([
      { url: `${url}/default` },
      { url: `${url}/default` },
      { url: `${url}/validate` },
    ]);
    for (const webhook of webhooks) {
      expect(webhook).toMatchObject({ failurePolicy: "Ignore", timeoutSeconds: 3, sideEffects: "None" });
      expect(webhook.matchConditions.length).toBeGreaterThan(1);
      for (const { operations, resources } of webhook.rules) {
        expect(operations).toEqual(["CREATE", "UPDATE"]);
        for (const resource of resources) expect(["nodepools", "ec2nodeclasses", "nodeoverlays"]).toContain(resource);
      }
    }
  });

  it.for([
    {
      name: "a URL without TLS",
      options: { ...admission, admissionUrl: "http://y" },
      says: "the admission function's URL (stack output AdmissionUrl)",
    },
    { name: "a URL without a token", options: { admissionUrl: admission.admissionUrl }, says: "--admission-token of at least 16" },
  ])("refuses $name in one sentence", ({ options, says }) => {
    expect(() => manifests({ cluster: "c1", ...options })).toThrow(says);
  });
});

describe("a bad command line", () => {
  it.for([
    { args: [], says: "--cluster NAME is missing; see npm run -s cli -- manifests --help" },
    { args: ["--bogus"], says: "there is no option --bogus; see npm run -s cli -- manifests --help" },
    { args: ["--cluster", "c", "--notify-token", "0123456789abcdef"], says: "of no use without --notify-url" },
    { args: ["--cluster", "c", "--admission-token", "0123456789abcdef"], says: "of no use without --admission-url" },
  ])("a bad command line ends with one sentence and exit code 2: $args", async ({ args, says }) => {
    let [stdout, stderr] = ["", ""];
    const streams = { stdout: { write: (text: string) => (stdout += text) }, stderr: { write: (text: string) => (stderr += text) } };
    const status = await runCommandLine([manifestsCommand], ["manifests", ...args], streams);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(says);
  });
});
