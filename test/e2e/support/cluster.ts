import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { parse } from "yaml";
import { run, startChild } from "./child.ts";
import { projectRoot } from "./paths.ts";

const sourceDir = join(projectRoot, "test", "e2e", "cluster");
const binary = join(sourceDir, "testcluster");

/** A running Kubernetes control plane with fake kubelets. */
export type TestCluster = {
  readonly clusterName: string;
  /** `https://127.0.0.1:port` of kube-apiserver. */
  readonly server: string;
  /** The certificate authority's PEM in base64, as EKS gives it (`cluster.certificateAuthority.data`). */
  readonly caData: string;
  /** A kubeconfig file of an administrator. */
  readonly kubeconfig: string;
  /** The audit log, one JSON event a line. */
  readonly auditLog: string;
  /** Base URL of /boot, /halt, /join and /iam-identities. */
  readonly control: string;
  /** A serving certificate for 127.0.0.1, signed by `caData`, for webhooks that the API server calls. */
  readonly tls: { readonly cert: string; readonly key: string };
  /** Runs kubectl as an administrator and returns its output. */
  readonly kubectl: (...call: KubectlCall) => Promise<string>;
  /**
   * GETs a path of the API server as an administrator, parsed. It costs a hundredth of a kubectl, so it is for polling.
   */
  readonly get: <T>(path: string) => Promise<T>;
  /** Boots a fake instance from its user data. Throws the sentence of the bootstrap when the instance cannot join. */
  readonly boot: (machine: BootRequest) => Promise<BootedNode>;
  /** Ends the machine: its kubelet stops reporting, and the Node object stays, as on AWS. */
  readonly halt: (machine: { readonly providerID: string } | { readonly nodeName: string }) => Promise<void>;
  /** Replaces the IAM principals that EKS tokens may name: the cluster's access entries. */
  readonly setIdentities: (identities: readonly ClusterIdentity[]) => Promise<void>;
  /** Holds the whole control plane still: connections are accepted, and nothing is answered. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  readonly stop: () => Promise<void>;
};

type KubectlCall = readonly [...args: string[]] | readonly [...args: string[], options: { readonly input: string }];

/** The body of `POST /boot`; see test/e2e/cluster/README.md. */
export type BootRequest = {
  readonly instanceId: string;
  readonly zone: string;
  readonly region: string;
  readonly instanceType: string;
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly architecture?: "amd64" | "arm64";
  readonly privateDnsName: string;
  /** Decoded text, not base64. */
  readonly userData: string;
  /** A Go duration ("5s") from registration to Ready. */
  readonly readyAfter?: string;
};

/** The result of a boot. */
export type BootedNode = { readonly name: string; readonly providerID: string; readonly created: boolean };

/** An IAM principal, its key, and its user and groups in the cluster. */
export type ClusterIdentity = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly arn: string;
  readonly username: string;
  readonly groups: readonly string[];
};

/**
 * Builds the cluster's binary when a source is newer, and returns its path. The first build takes about ten CPU
 * minutes.
 */
export async function buildCluster(): Promise<string> {
  const sources = readdirSync(sourceDir, { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.(go|yaml|sh)$|^go\.(mod|sum)$/.test(name) && !/_test\.go$|^smoke\.sh$/.test(name),
  );
  const newest = Math.max(...sources.map((name) => statSync(join(sourceDir, name)).mtimeMs));
  if (!existsSync(binary) || statSync(binary).mtimeMs < newest) {
    await run(join(sourceDir, "build.sh"), []);
  }
  return binary;
}

/**
 * Starts a cluster (about 3 s) on free ports of 127.0.0.1. `args` are further flags of `testcluster up`, `env` further
 * variables of it.
 */
export async function startCluster(options: {
  readonly dataDir: string;
  readonly clusterName: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}): Promise<TestCluster> {
  const { dataDir, clusterName, args = [], env = {} } = options;
  const testcluster = await buildCluster();
  mkdirSync(dataDir, { recursive: true });
  const readyFile = join(dataDir, "ready.json");
  rmSync(readyFile, { force: true });
  const child = await startChild({
    name: "the test cluster",
    command: testcluster,
    args: ["up", "--data-dir", dataDir, "--cluster-name", clusterName, "--pod-stop-after=200ms", ...args],
    env: { ...process.env, ...env },
    logFile: join(dataDir, "up.log"),
    isReady: async () => existsSync(readyFile) && readFileSync(readyFile, "utf8").endsWith("\n"),
    readyTimeoutMs: 300_000,
  });
  const ready = JSON.parse(readFileSync(readyFile, "utf8")) as Ready;
  const call = async (path: string, body: unknown): Promise<string> => {
    const response = await fetch(`${ready.control}${path}`, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${path}: ${response.status}: ${text.trim()}`);
    }
    return text;
  };
  const get = reader(ready);
  const pki = (name: string): string => readFileSync(join(dataDir, "pki", name), "utf8");
  return {
    clusterName,
    server: ready.server,
    caData: readFileSync(ready.caFile).toString("base64"),
    kubeconfig: ready.kubeconfig,
    auditLog: ready.auditLog,
    control: ready.control,
    tls: { cert: pki("apiserver.crt"), key: pki("apiserver.key") },
    kubectl: async (...given) => {
      const last = given.at(-1);
      const options = typeof last === "object" ? last : undefined;
      const kubectlArgs = given.flatMap((arg) => (typeof arg === "string" ? [arg] : []));
      return await run(testcluster, ["kubectl", "--kubeconfig", ready.kubeconfig, ...kubectlArgs], options);
    },
    get,
    boot: async (machine) => JSON.parse(await call("/boot", machine)) as BootedNode,
    halt: async (machine) => {
      await call("/halt", machine);
    },
    setIdentities: async (identities) => {
      await call("/iam-identities", identities);
    },
    // The child leads a process group of its own.
    freeze: () => void process.kill(-child.pid, "SIGSTOP"),
    thaw: () => void process.kill(-child.pid, "SIGCONT"),
    stop: child.stop,
  };
}

/** Reads with the administrator's certificate over persistent connections. */
function reader({ server, kubeconfig }: Ready): TestCluster["get"] {
  const config = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const decoded = (base64: string | undefined): Buffer => Buffer.from(base64 ?? "", "base64");
  const user = config.users[0]?.user;
  const agent = new Agent({
    keepAlive: true,
    ca: decoded(config.clusters[0]?.cluster["certificate-authority-data"]),
    cert: decoded(user?.["client-certificate-data"]),
    key: decoded(user?.["client-key-data"]),
  });
  return (path) =>
    new Promise((resolve, reject) => {
      const asked = request(new URL(path, server), { agent, timeout: 30_000 }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          if (response.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`GET ${path}: ${response.statusCode}: ${text.slice(0, 500)}`));
        });
      });
      asked.once("timeout", () => asked.destroy(new Error(`GET ${path}: no answer within 30 s`)));
      asked.once("error", reject);
      asked.end();
    });
}

type Kubeconfig = {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
};

type Ready = {
  readonly server: string;
  readonly kubeconfig: string;
  readonly auditLog: string;
  readonly caFile: string;
  readonly control: string;
};
