import { useEffect, useState } from "preact/hooks";
import type { ClusterOverview, PastEvent, PastOverview, PodOverview, ViewIndex } from "#core/insight/overview/types.ts";

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

/** The days that the page shows; the history is kept for thirty unless HISTORY_DAYS says otherwise. */
export const SPANS = [1, 7, 30] as const;

/** How often a longer time than a day is read again while it is shown, ms. */
const PAST_EVERY_MS = 60_000;

/** What happened in so many days; the last day is in the index. */
export function usePast(index: ViewIndex | undefined, scene: string | undefined, days: number): PastOverview | undefined {
  const day = scene === undefined ? undefined : index?.past?.[scene];
  const [minute, setMinute] = useState(0);
  useEffect(() => {
    if (days === 1) return undefined;
    const timer = setInterval(() => setMinute((n) => n + 1), PAST_EVERY_MS);
    return () => clearInterval(timer);
  }, [days]);
  const longer = useDocument<PastOverview>(day === undefined || days === 1 ? undefined : pathOf(scene, `past/${days}`), minute);
  return days === 1 ? day : longer;
}

/** What is known of a NodeClaim; undefined where no history is read. */
export const useStory = (scene: string | undefined, nodeClaim: string, revision: number): readonly PastEvent[] | undefined =>
  useDocument<readonly PastEvent[]>(nodeClaim === "" ? undefined : pathOf(scene, `nodeclaims/${encodeURIComponent(nodeClaim)}`), revision);
