import { describe, expect, it } from "vitest";
import { nodeResources } from "#lab/world/machine-facts.ts";
import { parseToml } from "#lab/world/toml.ts";
import { readUserData } from "#lab/world/user-data.ts";
import { CATALOGUE } from "./support.ts";

const nodeConfig = (
  kubelet: string,
  cluster = "    name: lab\n    apiServerEndpoint: https://api\n    certificateAuthority: eA==\n    cidr: 10.100.0.0/16",
) => `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n${cluster}\n  kubelet:\n${kubelet}`;

const mime = (...parts: readonly (readonly [type: string, body: string])[]): string =>
  `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n${parts.map(([type, body]) => `--//\nContent-Type: ${type}\n\n${body}\n`).join("")}--//--\n`;

const UNREGISTERED = { key: "karpenter.sh/unregistered", effect: "NoExecute" };
const want = { cluster: "lab", endpoint: "https://api", labels: { team: "a", tier: "web" }, taints: [UNREGISTERED], maxPods: 29 };

describe("user data", () => {
  it("is merged from all NodeConfigs in order, ours last", () => {
    const user = nodeConfig("    config:\n      maxPods: 10\n    flags:\n      - --node-labels=mine=1");
    const ours = nodeConfig(
      '    config:\n      maxPods: 29\n      registerWithTaints:\n      - {key: karpenter.sh/unregistered, effect: NoExecute}\n    flags:\n    - --node-labels="team=a,tier=web"',
    );
    const read = readUserData(
      mime(["application/node.eks.aws", user], ["text/x-shellscript", "#!/bin/bash\necho hi"], ["application/node.eks.aws", ours]),
    );
    expect({ ...read, labels: want.labels }).toEqual(want);
  });

  it("is read from AL2's bootstrap command", () => {
    const script = `#!/bin/bash -xe
/etc/eks/bootstrap.sh 'lab' --apiserver-endpoint 'https://api' --b64-cluster-ca 'eA==' \\
--use-max-pods false \\
--kubelet-extra-args '--node-labels="team=a,tier=web" --register-with-taints="karpenter.sh/unregistered:NoExecute" --max-pods=29'`;
    expect(readUserData(mime(['text/x-shellscript; charset="us-ascii"', script]))).toEqual(want);
  });

  it.for([
    { name: "NodeConfig", text: nodeConfig("    config:\n      maxPods: 29\n      podsPerCore: 4") },
    { name: "bootstrap command", text: "#!/bin/bash\n/etc/eks/bootstrap.sh 'lab' --kubelet-extra-args '--pods-per-core=4 --max-pods=29'" },
  ])("gives podsPerCore by $name, which bounds the node's pods", ({ text }) => {
    const bootstrap = readUserData(text);
    expect(bootstrap).toMatchObject({ maxPods: 29, podsPerCore: 4 });
    const large = CATALOGUE.types.find(({ name }) => name === "m5.large");
    if (large === undefined) throw new Error("the catalogue lacks m5.large");
    const { capacity, allocatable } = nodeResources(large, bootstrap, 20 * 2 ** 30);
    expect(capacity).toMatchObject({ pods: "8", "hugepages-1Gi": "0", "hugepages-2Mi": "0" });
    expect(allocatable).toMatchObject({ pods: "8", "hugepages-1Gi": "0", "hugepages-2Mi": "0" });
  });

  it("is read from Bottlerocket's settings", () => {
    const toml = `[settings]
[settings.kubernetes]
api-server = "https://api"
cluster-certificate = "eA=="
cluster-name = "lab"
max-pods = 29

[settings.kubernetes.node-labels]
'team' = 'a'
"tier" = "web"

[settings.kubernetes.node-taints]
"karpenter.sh/unregistered" = [":NoExecute"]
"team" = ["a:NoSchedule", "b:NoExecute"]
`;
    const taints = [UNREGISTERED, { key: "team", value: "a", effect: "NoSchedule" }, { key: "team", value: "b", effect: "NoExecute" }];
    expect(readUserData(toml)).toEqual({ ...want, taints });
  });

  it.for([
    { name: "nothing", text: "", says: "the user data is empty" },
    { name: "a script that does not join", text: "#!/bin/bash\necho hi", says: "neither a NodeConfig nor a bootstrap command" },
    {
      name: "no service CIDR",
      text: nodeConfig("    config: {}", "    name: lab\n    apiServerEndpoint: x\n    certificateAuthority: y"),
      says: "lacks spec.cluster.cidr",
    },
    {
      name: "a forbidden label",
      text: nodeConfig("    flags: ['--node-labels=kubernetes.io/role=web']"),
      says: 'may not give itself the label "kubernetes.io/role"',
    },
    { name: "no API server", text: '[settings.kubernetes]\ncluster-name = "lab"', says: "settings.kubernetes.api-server" },
  ])("with this fault keeps a machine from joining: $name", ({ text, says }) => {
    expect(() => readUserData(text)).toThrow(says);
  });
});

describe("TOML", () => {
  it("reads tables, dotted and quoted keys, and arrays over lines", () => {
    expect(
      parseToml('a.b = 1\n[t."x.y"]\ns = "q\\"uote" # why\nlit = \'raw\\n\'\nlist = [\n  ["a", "b"], # first\n  [true],\n]\n'),
    ).toEqual({
      a: { b: 1 },
      t: { "x.y": { s: 'q"uote', lit: "raw\\n", list: [["a", "b"], [true]] } },
    });
  });

  it("leaves other objects alone whatever a key is called", () => {
    parseToml("[__proto__]\npolluted = 1");
    expect("polluted" in {}).toBe(false);
  });

  it("names the line that it cannot read", () => {
    expect(() => parseToml("[settings]\nfoo = bar")).toThrow('line 2 of the TOML settings: "bar" is no value; put text in quotes');
  });
});
