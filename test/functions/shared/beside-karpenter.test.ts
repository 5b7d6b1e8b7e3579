import { expect, it } from "vitest";
import { RefusedError, ThrottledError } from "#core/ports/errors.ts";
import { isPausedForKarpenter } from "#functions/shared/beside-karpenter.ts";
import { ProcessMemory } from "#functions/shared/process-memory.ts";
import { DEFAULT_SETTINGS } from "#functions/wiring/settings.ts";
import { recordingLog } from "../../support/fakes.ts";

type Deps = Parameters<typeof isPausedForKarpenter>[0];

/** A cluster whose API server answers a list of Leases so. */
function cluster(leases: () => unknown, settings: Partial<Deps["settings"]> = {}) {
  const log = recordingLog();
  const asked: string[] = [];
  const told = new Set<string>();
  const isFirstWithin = async (_cluster: string, key: string) => !told.has(key) && told.add(key) !== undefined;
  const list = async (kind: string, { fieldSelector = "" } = {}) => {
    asked.push(`${kind} ${fieldSelector}`);
    return kind === "Lease" ? leases() : [];
  };
  const deps = {
    ...{ cluster: { name: "c" }, memory: new ProcessMemory(), kubernetes: { list }, store: { isFirstWithin }, log, now: () => 1_000_000 },
    settings: { ...DEFAULT_SETTINGS, ...settings },
  } as unknown as Deps;
  return { deps, log, asked };
}

const RUNNING = [
  {
    metadata: { name: "karpenter-leader-election", namespace: "karpenter" },
    spec: { holderIdentity: "k", renewTime: new Date(999_000).toISOString() },
  },
];

it("the Lease is asked for by its name, so that no right to other Leases is needed", async () => {
  const { deps, asked, log } = cluster(() => []);
  expect(await isPausedForKarpenter(deps)).toBe(false);
  expect(asked).toEqual(["Lease metadata.name=karpenter-leader-election"]);
  expect(log.errors).toEqual([]);
});

it("many passes beside a Karpenter log one sentence", async () => {
  const { deps, log } = cluster(() => RUNNING);
  for (let pass = 0; pass < 3; pass++) expect(await isPausedForKarpenter(deps)).toBe(true);
  expect(log.errors).toHaveLength(1);
  expect(log.errors[0]).toMatch(
    /Lease karpenter\/karpenter-leader-election.*take its nodes over with .* adopt --cluster .*, scale its Deployment to 0, or set BESIDE_KARPENTER=true$/,
  );
});

it("with BESIDE_KARPENTER no Lease is read", async () => {
  const { deps, asked } = cluster(() => RUNNING, { besideKarpenter: true });
  expect([await isPausedForKarpenter(deps), asked]).toEqual([false, []]);
});

it("without the right to read Leases, as manifests of an older release leave it, work goes on and one line names the remedy", async () => {
  const { deps, log } = cluster(() => {
    throw new RefusedError("leases.coordination.k8s.io is forbidden");
  });
  for (let pass = 0; pass < 3; pass++) expect(await isPausedForKarpenter(deps)).toBe(false);
  expect(log.errors).toEqual([expect.stringContaining("apply the manifests of this release again")]);
});

it("a failure that passes is not taken for a cluster without Karpenter", async () => {
  const { deps } = cluster(() => {
    throw new ThrottledError("too many requests");
  });
  await expect(isPausedForKarpenter(deps)).rejects.toThrow("too many requests");
});
