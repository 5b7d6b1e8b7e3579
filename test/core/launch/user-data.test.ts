import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseMime } from "#core/launch/mime.ts";
import { parseToml } from "#core/launch/toml.ts";
import { renderUserData } from "#core/launch/user-data.ts";
import type { UserDataInput } from "#core/launch/user-data-input.ts";

const cluster = { name: "prod", endpoint: "https://ABC.eks.example", caBundle: "Q0E=", serviceCidr: "10.100.0.0/16" };

function input(overrides: Partial<UserDataInput> = {}): UserDataInput {
  return {
    family: "AL2023",
    cluster,
    labels: { "karpenter.sh/nodepool": "default", team: "a", "topology.kubernetes.io/zone": "z", "x.k8s.io/y": "1" },
    taints: [{ key: "dedicated", value: "gpu", effect: "NoSchedule" }],
    startupTaints: [{ key: "cni/not-ready", effect: "NoExecute" }],
    maxPods: 29,
    capacityType: "spot",
    ...overrides,
  };
}

const LABELS = '--node-labels="karpenter.sh/capacity-type=spot,karpenter.sh/do-not-sync-taints=true,karpenter.sh/nodepool=default,team=a"';
const TAINTS = '--register-with-taints="dedicated=gpu:NoSchedule,cni/not-ready:NoExecute,karpenter.sh/unregistered:NoExecute"';

describe("AL2023", () => {
  it("AL2023's user data has our NodeConfig as the last part", () => {
    const kubelet = {
      clusterDNS: ["10.0.0.10"],
      evictionHard: { "memory.available": "5%" },
      systemReserved: { cpu: 1 },
      cpuCFSQuota: false,
    };
    const text = renderUserData(input({ kubelet, instanceStorePolicy: "RAID0" }));
    expect(text.startsWith('MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//\n')).toBe(true);
    expect(text.endsWith("\n--//--\n")).toBe(true);
    const [part] = parseMime(text);
    expect(part?.contentType).toBe("application/node.eks.aws");
    expect(parse(part?.body ?? "")).toEqual({
      apiVersion: "node.eks.aws/v1alpha1",
      kind: "NodeConfig",
      spec: {
        cluster: { name: "prod", apiServerEndpoint: cluster.endpoint, certificateAuthority: "Q0E=", cidr: "10.100.0.0/16" },
        instance: { localStorage: { strategy: "RAID0" } },
        kubelet: {
          config: {
            clusterDNS: ["10.0.0.10"],
            evictionHard: { "memory.available": "5%" },
            systemReserved: { cpu: "1" },
            cpuCFSQuota: false,
            maxPods: 29,
            registerWithTaints: [
              { key: "dedicated", value: "gpu", effect: "NoSchedule" },
              { key: "cni/not-ready", effect: "NoExecute" },
              { key: "karpenter.sh/unregistered", effect: "NoExecute" },
            ],
          },
          flags: [LABELS],
        },
      },
    });
  });

  it.for([
    { name: "a script", userData: "#!/bin/bash\necho: hi\n", types: ['text/x-shellscript; charset="us-ascii"'] },
    { name: "a NodeConfig", userData: "# mine\napiVersion: node.eks.aws/v1alpha1\nspec: {}\n", types: ["application/node.eks.aws"] },
    { name: "bare commands", userData: "yum install -y x\n", types: ['text/x-shellscript; charset="us-ascii"'] },
    {
      name: "its own MIME parts",
      userData:
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/cloud-config\n\na: 1\n--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n\nls\n--B--\n',
      types: ["text/cloud-config", "text/x-shellscript"],
    },
  ])("AL2023's user data has $name before our part", ({ userData, types }) => {
    const parts = parseMime(renderUserData(input({ userData })));
    expect(parts.map(({ contentType }) => contentType)).toEqual([...types, "application/node.eks.aws"]);
    if (types.length === 2) expect(parts[1]?.body).toBe("#!/bin/sh\n\nls");
  });

  it("a MIME document without a boundary is refused", () => {
    expect(() => renderUserData(input({ userData: "Content-Type: text/plain\n\nx" }))).toThrow(/without a boundary/);
  });

  it("a NodeConfig quotes strings that YAML would read as another type", () => {
    const [part] = parseMime(
      renderUserData(input({ labels: { a: "true", b: "1" }, taints: [{ key: "k", value: "yes", effect: "NoSchedule" }] })),
    );
    expect(parse(part?.body ?? "", { version: "1.1" }).spec.kubelet.config.registerWithTaints[0]).toEqual({
      key: "k",
      value: "yes",
      effect: "NoSchedule",
    });
  });
});

describe("AL2", () => {
  it("AL2's user data calls bootstrap.sh last, one flag per line", () => {
    const kubelet = { podsPerCore: 4, kubeReserved: { memory: "1Gi", cpu: "100m" }, evictionSoft: { "memory.available": "5%" } };
    const parts = parseMime(renderUserData(input({ family: "AL2", userData: "echo hi", kubelet, instanceStorePolicy: "RAID0" })));
    expect(parts.map(({ body }) => body.split("\n")[0])).toEqual(["echo hi", "#!/bin/bash -xe"]);
    const command = parts[1]?.body.split("\n").slice(2).join("\n").replaceAll(" \\\n", " ");
    expect(command).toBe(
      `/etc/eks/bootstrap.sh 'prod' --apiserver-endpoint 'https://ABC.eks.example' --b64-cluster-ca 'Q0E=' --use-max-pods false --kubelet-extra-args '${LABELS} ${TAINTS} --max-pods=29 --pods-per-core=4 --kube-reserved="cpu=100m,memory=1Gi" --eviction-soft="memory.available<5%"' --local-disks raid0`,
    );
  });

  it("AL2's user data asks for IPv6 when the cluster's DNS has an IPv6 address", () => {
    expect(renderUserData(input({ family: "AL2", kubelet: { clusterDNS: ["fd00::a"] } }))).toContain(
      "--ip-family ipv6 \\\n--dns-cluster-ip 'fd00::a'",
    );
  });
});

describe("Bottlerocket", () => {
  const userData = `
[settings.motd] # a comment
text = "hello \\"you\\""
[settings.kubernetes]
api-server = "https://other"
allowed-unsafe-sysctls = ["net.core.somaxconn"]
[settings.kubernetes.node-labels]
mine = "1"
team = "b"
[settings.kubernetes.node-taints]
gone = ["x:NoSchedule"]
`;

  it("Bottlerocket's settings overwrite the user's, merge labels, replace taints and keep the rest", () => {
    const settings = parseToml(renderUserData(input({ family: "Bottlerocket", userData, kubelet: { imageGCHighThresholdPercent: 80 } })));
    expect(settings).toEqual({
      settings: {
        motd: { text: 'hello "you"' },
        kubernetes: {
          "api-server": cluster.endpoint,
          "cluster-certificate": "Q0E=",
          "cluster-name": "prod",
          "allowed-unsafe-sysctls": ["net.core.somaxconn"],
          "max-pods": 29n,
          "image-gc-high-threshold-percent": "80",
          "node-labels": {
            mine: "1",
            team: "a",
            "karpenter.sh/capacity-type": "spot",
            "karpenter.sh/do-not-sync-taints": "true",
            "karpenter.sh/nodepool": "default",
          },
          "node-taints": {
            dedicated: ["gpu:NoSchedule"],
            "cni/not-ready": [":NoExecute"],
            "karpenter.sh/unregistered": [":NoExecute"],
          },
        },
      },
    });
  });

  it.for([
    { imageVersion: "latest", dirs: false },
    { imageVersion: "1.46.0", dirs: false },
    { imageVersion: "v1.45.9", dirs: true },
    { imageVersion: undefined, dirs: true },
  ])("Bottlerocket $imageVersion is given the directories to bind: $dirs", ({ imageVersion, dirs }) => {
    const text = renderUserData(input({ family: "Bottlerocket", instanceStorePolicy: "RAID0", ...(imageVersion && { imageVersion }) }));
    expect(text).toContain("[settings.bootstrap-commands.000-mount-instance-storage]");
    expect(text.includes('"--dirs", "/var/lib/containerd"')).toBe(dirs);
  });

  it.for([
    { toml: "a = 1\nb = what", message: /line 2: "what" is no value: put quotes around a text$/ },
    { toml: "cluster-dns-ip = 10.0.0.10", message: /line 1: "10.0.0.10" is no value: put quotes around a text$/ },
    { toml: "a = 1\na = 2", message: /line 2: "a" is set twice$/ },
    { toml: "[a]\nb = 1\n[a]\nc = 2", message: /line 3: "a" is set twice$/ },
    { toml: "[a\nb = 1", message: /line 1: illegal character in key: a line is \[table\] or key = value$/ },
    { toml: "settings:\n  motd: hi", message: /line 1: illegal character in key: a line is \[table\] or key = value$/ },
    { toml: 'a = "x', message: /line 1: unfinished string$/ },
    { toml: "a = 1 2", message: /line 1: each key-value declaration must be followed by an end-of-line$/ },
    { toml: '[a]\npassword = "hush\\q"', message: /line 2: unrecognised escape sequence$/ },
  ])("the TOML $toml is refused with its line", ({ toml, message }) => {
    expect(() => renderUserData(input({ family: "Bottlerocket", userData: toml }))).toThrow(message);
  });

  it.for([
    { toml: "a = -9_223", want: "a = -9223" },
    { toml: "a = 9007199254740993", want: "a = 9007199254740993" },
    { toml: "a = 1.0", want: "a = 1.0" },
    { toml: "a = 1e30", want: "a = 1e+30" },
    { toml: "a = -inf", want: "a = -inf" },
    { toml: "a = 2026-01-01T00:00:00+01:00", want: "a = 2026-01-01T00:00:00.000+01:00" },
    { toml: 'a = "\\u007f\\n"', want: 'a = "\\u007f\\n"' },
    { toml: "[[a]]\nb = 1\n[[a]]\nb = 2", want: "a = [{ b = 1 }, { b = 2 }]" },
  ])("keeps what $toml says", ({ toml, want }) => {
    expect(renderUserData(input({ family: "Bottlerocket", userData: toml })).split("\n")[0]).toBe(want);
  });
});

it("Windows' user data has the user's PowerShell before the bootstrap", () => {
  const lines = renderUserData(input({ family: "Windows2022", userData: "Write-Host hi" })).split("\n");
  expect([lines[0], lines[1], lines.at(-1)]).toEqual(["<powershell>", "Write-Host hi", "</powershell>"]);
  expect(lines[3]).toContain("-EKSClusterName 'prod'");
  expect(lines[3]).toContain(`-KubeletExtraArgs '${LABELS} ${TAINTS} --max-pods=29'`);
});

it("a custom image's user data is unchanged", () => {
  expect(renderUserData(input({ family: "Custom", userData: "anything" }))).toBe("anything");
});
