import { join } from "node:path";
import { removeDir } from "../e2e/support/child.ts";
import { startCluster } from "../e2e/support/cluster.ts";
import { projectRoot } from "../e2e/support/paths.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TENANT_NAMESPACE } from "./draw/fields.ts";
import { lawfulObjects } from "./law.ts";

/**
 * Shows a real API server the objects of some seeds, as dry runs, and prints by kind how many it admits and why it
 * refuses others. A refusal is a mistake of draw/: what no API server admits proves nothing.
 */
export async function askServer(seed: number, runs: number, count: number): Promise<void> {
  const dataDir = temporaryFolder("hostile-admit");
  const cluster = await startCluster({ dataDir, clusterName: "hostile" });
  const byKind = new Map<string, { admitted: number; refused: Map<string, number> }>();
  try {
    await cluster.kubectl("create", "namespace", TENANT_NAMESPACE);
    await cluster.kubectl("apply", "--server-side", "-f", join(projectRoot, "infra", "crds"));
    for (let next = seed; next < seed + runs; next++) {
      for (const { object } of lawfulObjects(next, count).objects) {
        const kind = object.kind ?? "";
        const told = byKind.get(kind) ?? { admitted: 0, refused: new Map<string, number>() };
        byKind.set(kind, told);
        try {
          await cluster.kubectl("create", "--dry-run=server", "-f", "-", { input: JSON.stringify(object) });
          told.admitted++;
        } catch (error) {
          const why = reason(String(error));
          told.refused.set(why, (told.refused.get(why) ?? 0) + 1);
        }
      }
    }
  } finally {
    await cluster.stop();
    removeDir(dataDir);
  }
  for (const [kind, { admitted, refused }] of [...byKind].sort()) {
    const sum = [...refused.values()].reduce((total, times) => total + times, 0);
    console.log(`${kind}: ${admitted} admitted, ${sum} refused`);
    for (const [why, times] of [...refused].sort((a, b) => b[1] - a[1]).slice(0, 8)) console.log(`  ${times} × ${why}`);
  }
}

/** The server's reason without the names and values that it quotes. */
const reason = (text: string): string =>
  (/(is invalid:|Forbidden:|denied|cannot be handled|strict decoding).*/s.exec(text)?.[0] ?? text)
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\s+/g, " ")
    .slice(0, 220);
