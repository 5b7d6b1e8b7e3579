import { useEffect, useState } from "preact/hooks";
import type { ClusterOverview, PodOverview, ViewIndex } from "../../core/overview/types.ts";

/** Whether the command still answers. */
export type Connection = "live" | "lost";

async function read<T>(path: string): Promise<T> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as T;
}

/** The index, read again whenever the command says that something has changed. */
export function useIndex(): { readonly index: ViewIndex | undefined; readonly connection: Connection } {
  const [index, setIndex] = useState<ViewIndex>();
  const [connection, setConnection] = useState<Connection>("live");
  useEffect(() => {
    const events = new EventSource("events");
    const load = (): void => {
      read<ViewIndex>("data/index.json").then(setIndex, () => setConnection("lost"));
    };
    events.addEventListener("revision", load);
    events.addEventListener("open", () => setConnection("live"));
    events.addEventListener("error", () => setConnection("lost"));
    return () => events.close();
  }, []);
  return { index, connection };
}

/** A document of a scene. The one before stays until the next is there, so that nothing flickers. */
function useDocument<T>(path: string | undefined, revision: number): T | undefined {
  const [document, setDocument] = useState<T>();
  useEffect(() => {
    if (path === undefined) return setDocument(undefined);
    let isWanted = true;
    const take = (found: T): void => {
      if (isWanted) setDocument(found);
    };
    // Lost connections show in the header.
    read<T>(path).then(take, () => {});
    return () => {
      isWanted = false;
    };
  }, [path, revision]);
  return document;
}

const pathOf = (scene: string | undefined, what: string): string | undefined =>
  scene === undefined ? undefined : `data/scenes/${encodeURIComponent(scene)}/${what}.json`;

export const useScene = (scene: string | undefined, revision: number): ClusterOverview | undefined =>
  useDocument<ClusterOverview>(pathOf(scene, "overview"), revision);

/** The pods of a scene; only read where they are shown. */
export const usePods = (scene: string | undefined, revision: number): readonly PodOverview[] | undefined =>
  useDocument<readonly PodOverview[]>(pathOf(scene, "pods"), revision);
