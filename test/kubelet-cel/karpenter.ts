import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** Values of a type's variables, in the order name, vcpus, memory_mib, default_enis, ips_per_eni, max_pods. */
export type TypeRow = readonly [name: string, vcpus: number, memory: number, enis: number, ips: number, pods: number];

/** An error's text, or the integer and what it becomes as cpu, memory and ephemeral-storage ("": left out). */
export type Result = string | readonly [integer: string, cpu: string, memory: string, storage: string];

export interface KarpenterAnswers {
  readonly expressions: readonly { readonly refused?: string; readonly results?: readonly Result[] }[];
  /** The problems of each configuration. */
  readonly kubelets: readonly (readonly string[])[];
}

interface Question {
  readonly types: readonly TypeRow[];
  readonly expressions: readonly string[];
  readonly kubelets: readonly unknown[];
}

/** Asks Karpenter's own packages. The first build takes some minutes and downloads modules. */
export function askKarpenter(question: Question): KarpenterAnswers {
  const folder = resolve(import.meta.dirname, "../../.cache");
  const binary = join(folder, "kubelet-cel");
  mkdirSync(folder, { recursive: true });
  if (process.env["KUBELET_CEL_BUILT"] !== "1")
    execFileSync("go", ["build", "-o", binary, "."], {
      cwd: join(import.meta.dirname, "go"),
      env: { ...process.env, CGO_ENABLED: "0", GOTOOLCHAIN: "auto" },
      stdio: "inherit",
    });
  return JSON.parse(execFileSync(binary, { input: JSON.stringify(question), encoding: "utf8", maxBuffer: 2 ** 30 })) as KarpenterAnswers;
}
