import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { loadManifests, ManifestError } from "#manifests/read.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder("manifests");
});

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const names = (paths: string[], environment = {}) =>
  loadManifests(paths, environment).map((m) => `${m.object.kind}/${m.object.metadata.name}`);

function problems(text: string, environment = {}): readonly string[] {
  try {
    loadManifests([write("m.yaml", text)], environment);
  } catch (error) {
    if (error instanceof ManifestError) return error.problems.map((p) => p.replaceAll(`${folder}/`, ""));
    throw error;
  }
  return [];
}

/** A NodePool and an EC2NodeClass as in the guides. */
const STORY = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  template:
    spec:
      requirements:
        - key: kubernetes.io/arch
          operator: In
          values: ["amd64"]
        - key: karpenter.k8s.aws/instance-generation
          operator: Gt
          values: ["2"]
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default
      expireAfter: 720h # 30 * 24h = 720h
  limits:
    cpu: 1000
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  role: "KarpenterNodeRole-\${CLUSTER_NAME}" # replace with your cluster name
  amiSelectorTerms:
    - alias: "al2023@\${ALIAS_VERSION}"
  subnetSelectorTerms:
    - tags:
        karpenter.sh/discovery: "\${CLUSTER_NAME}"
  securityGroupSelectorTerms:
    - tags:
        karpenter.sh/discovery: "\${CLUSTER_NAME}"
`;

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: inflate
spec:
  replicas: 5
  selector:
    matchLabels:
      app: inflate
  template:
    metadata:
      labels:
        app: inflate
    spec:
      containers:
      - name: inflate
        resources:
          requests:
            cpu: 1
            memory: 1.5Gi
`;

describe("manifests", () => {
  it("are read from multi-document YAML, the class before the pool that names it", () => {
    const manifests = loadManifests([write("a.yaml", `${DEPLOYMENT}---\n${STORY}---\n# nothing\n`)]);
    expect(manifests.map((m) => [m.object.kind, m.document, m.line])).toEqual([
      ["EC2NodeClass", 3, 47],
      ["NodePool", 2, 22],
      ["Deployment", 1, 1],
    ]);
    expect(manifests[0]?.object.spec).toMatchObject({ role: "KarpenterNodeRole-lab", amiSelectorTerms: [{ alias: "al2023@latest" }] });
  });

  it("take placeholders from the environment before the lab's own", () => {
    const [nodeClass] = loadManifests([write("a.yaml", STORY)], { CLUSTER_NAME: "prod" });
    expect(nodeClass?.object.spec).toMatchObject({ role: "KarpenterNodeRole-prod" });
    const [bracketed] = loadManifests([write("b.yaml", STORY.replaceAll(/\$\{CLUSTER_NAME\}/g, "<<CLUSTER_NAME>>"))]);
    expect(bracketed?.object.spec).toMatchObject({ role: "KarpenterNodeRole-lab" });
  });

  it("are read from JSON, lists and folders", () => {
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: {} };
    write("x/b.json", JSON.stringify(service));
    write(
      "x/deep/a.yml",
      `apiVersion: v1\nkind: List\nitems:\n- ${JSON.stringify(service)}\n- {apiVersion: v1, kind: Namespace, metadata: {name: other}}\n`,
    );
    write("x/readme.md", "# not a manifest");
    expect(names([join(folder, "x")])).toEqual(["Namespace/other", "Service/s", "Service/s"]);
  });

  it("of a folder leave out files that hold something else, and say so; a file that is named must hold a manifest", () => {
    const policy = write("x/iam-policy.json", JSON.stringify({ Version: "2012-10-17", Statement: [] }));
    write("x/empty.yaml", "# nothing yet\n");
    write("x/d.yaml", DEPLOYMENT);
    const leftOut: string[] = [];
    const load = (path: string) => loadManifests([path], {}, (sentence) => void leftOut.push(sentence));
    expect(load(join(folder, "x")).map(({ object }) => object.kind)).toEqual(["Deployment"]);
    expect(leftOut).toEqual([`${policy} is left out, because it is no Kubernetes manifest: it has neither apiVersion nor kind`]);
    expect(() => load(policy)).toThrow("the document has no kind; add one");
    rmSync(join(folder, "x/d.yaml"));
    expect(() => load(join(folder, "x"))).toThrow("no Kubernetes object was found; give manifests");
    write("x/slip.yaml", "kind: Deployment\nmetadata: { name: web }\n");
    expect(() => load(join(folder, "x"))).toThrow("slip.yaml");
  });

  it("follow a plain kustomization, and ask for kustomize where it does more", () => {
    write("k/kustomization.yaml", "resources: [app, ../d.yaml]\nnamespace: other\n");
    write("k/app/kustomization.yaml", "resources: [d.yaml]\n");
    write("k/app/d.yaml", DEPLOYMENT);
    write("k/app/unused.yaml", "kind: Broken");
    write("d.yaml", DEPLOYMENT.replace("name: inflate\nspec", "name: second\nspec"));
    const loaded = loadManifests([join(folder, "k")]);
    expect(loaded.map((m) => [m.object.metadata.namespace, m.object.metadata.name])).toEqual([
      ["other", "inflate"],
      ["other", "second"],
    ]);
    write("k/app/kustomization.yaml", "resources: [d.yaml]\npatches: []\n");
    expect(() => loadManifests([join(folder, "k")])).toThrow(/patches needs kustomize itself; run `kubectl kustomize .* > all.yaml`/);
  });

  it.for([
    {
      name: "no kind",
      text: "apiVersion: v1\nmetadata: {name: a}",
      want: "m.yaml, document 1, line 1: the document has no kind; add one, such as `kind: NodePool`",
    },
    {
      name: "no apiVersion",
      text: "# a pool\nkind: NodePool\nmetadata: {name: a}",
      want: "m.yaml, document 1, line 2: NodePool has no apiVersion; add `apiVersion: karpenter.sh/v1`",
    },
    {
      name: "a beta",
      text: `${DEPLOYMENT}---\napiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}`,
      want: "m.yaml, document 2, line 22: NodePool is given as karpenter.sh/v1beta1; convert it to karpenter.sh/v1: only v1 is understood (nodeClassRef needs group and kind, expireAfter goes from disruption to template.spec, WhenUnderutilized is now WhenEmptyOrUnderutilized); `npm run -s cli -- convert m.yaml` does it",
    },
    {
      name: "an alpha",
      text: "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}",
      want: "m.yaml, document 1, line 1: Provisioner (karpenter.sh/v1alpha5) is an old API of Karpenter's; convert it to NodePool (karpenter.sh/v1): only v1 is understood; `npm run -s cli -- convert m.yaml` does it",
    },
    {
      name: "a version that is gone",
      text: "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}",
      want: "m.yaml, document 1, line 1: Deployment is given as extensions/v1beta1, which no present cluster serves; write it as apps/v1",
    },
    {
      name: "a bad quantity",
      text: DEPLOYMENT.replace("1.5Gi", "1.5GB"),
      want: 'm.yaml, document 1, line 20: spec.template.spec.containers[0].resources.requests.memory "1.5GB" is not a quantity; write a number with an optional suffix, as in "500m", "2" or "1.5Gi"',
    },
    {
      name: "a mistyped field",
      text: STORY.replace("consolidateAfter", "consolidateafter"),
      want: 'm.yaml, document 1, line 24: spec.disruption.consolidateafter is no field that is known here; did you mean "consolidateAfter"?',
    },
    {
      name: "a bad operator",
      text: STORY.replace("operator: Gt", "operator: GreaterThan"),
      want: 'm.yaml, document 1, line 13: spec.template.spec.requirements[1].operator "GreaterThan" is not known; use one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte',
    },
    {
      name: "a number where text belongs",
      text: STORY.replace('"2"', "2"),
      want: "m.yaml, document 1, line 14: spec.template.spec.requirements[1].values[0] must be text, not 2; put it in quotes",
    },
    {
      name: "a duration in days",
      text: STORY.replace("720h", "30d"),
      want: 'm.yaml, document 1, line 19: spec.template.spec.expireAfter "30d" is not valid; write a duration such as "30s", "5m", "720h" (no days)',
    },
    {
      name: "no role",
      text: STORY.replace(/ {2}role:.*\n/, ""),
      want: "m.yaml, document 2, line 30: spec needs exactly one of role and instanceProfile",
    },
    {
      name: "a selector that misses",
      text: DEPLOYMENT.replace("      app: inflate\n  template", "      app: other\n  template"),
      want: "m.yaml, document 1, line 7: spec.selector does not match spec.template.metadata.labels; make them agree",
    },
    {
      name: "a placeholder that nobody fills",
      text: DEPLOYMENT.replace("name: inflate\nspec", `name: "\${WHO}"\nspec`),
      want:
        "m.yaml, document 1, line 4: metadata.name holds the placeholder $" + "{WHO}; set the environment variable WHO, or write the value",
      more: 1,
    },
    {
      name: "a placeholder in angle brackets",
      text: STORY.replace("KarpenterNodeRole-", "<<NODE_ROLE>>").replace(/\$\{CLUSTER_NAME\}" # .*/, '"'),
      want: "m.yaml, document 2, line 31: spec.role holds the placeholder <<NODE_ROLE>>; set the environment variable NODE_ROLE, or write the value",
      more: 1,
    },
    {
      name: "a placeholder in words",
      text: STORY.replace("KarpenterNodeRole-", "<<node role>>"),
      want: "m.yaml, document 2, line 31: spec.role holds the placeholder <<node role>>; write the value in its place",
      more: 1,
    },
    {
      name: "a variable of the shell",
      text: STORY.replace(/role: .*/, "role: $NODE_ROLE"),
      want: "m.yaml, document 2, line 31: spec.role holds the placeholder $NODE_ROLE; write the value in its place",
      more: 1,
    },
    {
      name: "a name in capitals",
      text: DEPLOYMENT.replace("name: inflate\nspec", "name: Inflate\nspec"),
      want: "m.yaml, document 1, line 4: metadata.name \"Inflate\" is not a name; use lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",
    },
    { name: "broken YAML", text: "kind: Pod\n  x: [", want: "m.yaml, document 1, line 1: this is not valid YAML:" },
    {
      name: "text",
      text: "hello",
      want: "m.yaml, document 1, line 1: this is no Kubernetes object but text; write a map with apiVersion, kind and metadata",
    },
    {
      name: "a Helm template",
      text: "{{- if .Values.x }}\nkind: Pod\n{{- end }}",
      want: "m.yaml, line 1: this is a Helm template; render it with `helm template` and give its output instead",
    },
    {
      name: "a Jinja template",
      text: "kind: Pod\n{% if x %}\n",
      want: "m.yaml, line 2: this is a Jinja template; render it and give its output instead",
    },
    {
      name: "an expression of a template in place of a value",
      text: DEPLOYMENT.replace("replicas: 5", "replicas: {{ replicas }}"),
      want: "m.yaml, line 6: this is a template with expressions in {{ }}; render it and give its output instead",
    },
    {
      name: "an expression of a template within a value",
      text: DEPLOYMENT.replace("name: inflate\nspec", "name: {{ name }}-web\nspec"),
      want: "m.yaml, line 4: this is a template with expressions in {{ }}; render it and give its output instead",
    },
    { name: "nothing", text: "# empty\n", want: "m.yaml: no Kubernetes object was found; give manifests" },
  ])("are refused in one sentence: $name", ({ text, want, more = 0 }) => {
    const found = problems(text);
    expect(found[0]?.slice(0, want.length)).toBe(want);
    expect(found).toHaveLength(1 + more);
    expect(found[0]).not.toContain("\n");
  });

  it.for(["Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"])("%s names may hold any character of a path segment", (kind) => {
    const named = (name: string): string => `apiVersion: rbac.authorization.k8s.io/v1\nkind: ${kind}\nmetadata: {name: "${name}"}\n`;
    for (const name of ["system:aggregated-metrics-reader", "cert-manager:leaderelection", "Admins_of.Prod@example.com"])
      expect(problems(named(name))).toEqual([]);
    const fix = `use text without '/' and '%' other than "." and ".."`;
    for (const name of ["..", "a/b", "50%"])
      expect(problems(named(name))).toEqual([`m.yaml, document 1, line 3: metadata.name "${name}" is not a name of a ${kind}; ${fix}`]);
  });

  it("a template makes no warning of the parser", () => {
    const warnings: string[] = [];
    const emit = vi.spyOn(process, "emitWarning").mockImplementation((warning) => void warnings.push(String(warning)));
    problems("kind: Pod\nspec: { a: {{ x }}, b: {{ y }} }\n");
    emit.mockRestore();
    expect(warnings).toEqual([]);
  });

  it("are refused when a path does not exist", () => {
    expect(() => loadManifests(["no/such/file.yaml"])).toThrow("no/such/file.yaml: there is no such file or folder; check the path");
  });

  it("keep the placeholders of scripts, and unknown kinds as they are", () => {
    write("a.yaml", STORY.replace("  role:", `  userData: "echo \${HOME_OF_MINE}"\n  role:`));
    write("b.yaml", "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {}\n");
    expect(names([folder])).toEqual(["EC2NodeClass/default", "NodePool/default", "HorizontalPodAutoscaler/web"]);
  });
});
