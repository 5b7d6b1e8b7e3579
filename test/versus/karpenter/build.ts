import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { goEnvironment } from "#infra/data/go-environment.ts";
import { cacheDir } from "../../e2e/support/paths.ts";

/** The release that go.mod names. */
export const KARPENTER_VERSION = "1.15.2";

/**
 * Builds Karpenter's controller and returns its path; takes 5 to 15 minutes the first time, then seconds. The variable
 * KARPENTER names a binary to use instead.
 */
export function buildKarpenter(): string {
  const given = process.env["KARPENTER"];
  if (given !== undefined) return given;
  const binary = join(cacheDir("karpenter"), `controller-${KARPENTER_VERSION}`);
  const version = `-X sigs.k8s.io/karpenter/pkg/operator.Version=${KARPENTER_VERSION}`;
  execFileSync("go", ["build", "-ldflags", version, "-o", binary, "github.com/aws/karpenter-provider-aws/cmd/controller"], {
    cwd: import.meta.dirname,
    env: goEnvironment(),
    stdio: "inherit",
  });
  return binary;
}
