import type { Pause } from "#core/model/pause.ts";
import type { ConfigMap } from "#core/model/workloads.ts";
import { PAUSE_CONFIG_MAP, pauseDocument, pauseFromJson, pauseOfConfigMap, seenDocument } from "#core/pause/pause.ts";
import { UnreadableRecordError } from "#core/ports/errors.ts";
import type { NodeClaimStore } from "#core/ports/node-claim-store.ts";
import type { ClusterApi, KubeObject } from "../account/ports.ts";

// What pauses a cluster, as the commands read it.

interface PauseReaders {
  readonly store: Pick<NodeClaimStore, "getDocument">;
  readonly api: Pick<ClusterApi, "find">;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** All pauses of a cluster, in force or not. Of a cluster that does not answer, what the functions have seen last. */
export async function readPauses(cluster: string, readers: PauseReaders): Promise<readonly Pause[]> {
  const found = await Promise.all([tablePause(cluster, readers), configMapPause(cluster, readers)]);
  return found.filter((pause) => pause !== undefined);
}

/** What the command `pause` has written. */
export const tablePause = (cluster: string, readers: Pick<PauseReaders, "store" | "now">): Promise<Pause | undefined> =>
  document(pauseDocument(cluster), readers);

const CONFIG_MAP: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: PAUSE_CONFIG_MAP };

async function configMapPause(cluster: string, readers: PauseReaders): Promise<Pause | undefined> {
  try {
    const found = await readers.api.find(CONFIG_MAP);
    return found && pauseOfConfigMap(found as ConfigMap, readers.now);
  } catch {
    return document(seenDocument(cluster), readers);
  }
}

async function document(name: string, { store, now }: Pick<PauseReaders, "store" | "now">): Promise<Pause | undefined> {
  try {
    const found = await store.getDocument(name);
    return found && pauseFromJson(Buffer.from(found.bytes).toString(), now);
  } catch (error) {
    if (!(error instanceof UnreadableRecordError)) throw error;
    return pauseFromJson(undefined, now);
  }
}
