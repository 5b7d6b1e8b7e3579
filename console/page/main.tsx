import { type JSX, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ClusterOverview, SceneFigures, ViewIndex } from "#core/insight/overview/types.ts";
import { Claims, Disruption } from "./activity.tsx";
import { Change } from "./change.tsx";
import { Clusters } from "./clusters.tsx";
import { CostSection } from "./cost.tsx";
import { type Connection, SPANS, useIndex, usePast, usePods, useScene } from "./data.ts";
import { Details } from "./details.tsx";
import { clock, counted, duration, money, monthly, percent } from "./format.ts";
import { History } from "./history.tsx";
import { Nodes } from "./nodes.tsx";
import "./page.css";
import { Stat } from "./parts.tsx";
import { MAX_PICTURE_NODES, Picture } from "./picture.tsx";
import { Pods, Waiting } from "./pods.tsx";
import { Pools } from "./pools.tsx";
import { type Go, useRoute } from "./route.ts";
import type { Route } from "./route-text.ts";
import { Narrative, Timeline } from "./timeline.tsx";

function Page(): JSX.Element {
  const { index, connection } = useIndex();
  const [route, go] = useRoute();
  const story = index?.stories?.find(({ name }) => name === route.params["story"]) ?? index?.stories?.[0];
  const frame = story === undefined ? 0 : Math.min(story.frames.length - 1, Number(route.params["at"] || 0));
  const scene = story?.frames[frame]?.scene ?? index?.scenes.find(({ id }) => id === route.params["cluster"])?.id ?? index?.scenes[0]?.id;
  const revision = index?.revision ?? 0;
  const overview = useScene(scene, revision);
  const hasPast = scene !== undefined && index?.past?.[scene] !== undefined;
  const days = SPANS.find((one) => String(one) === route.params["days"]) ?? 1;
  const past = usePast(index, scene, days);
  const isChange = index?.change !== undefined && (route.section === "" || route.section === "change");
  const node = isChange ? undefined : overview?.nodes.find(({ name }) => name === route.params["node"]);
  const isOfMany = index !== undefined && isManyClusters(index);
  const isSmall = overview !== undefined && overview.nodes.length <= MAX_PICTURE_NODES;
  const pods = usePods(route.section === "pods" || node !== undefined || isSmall ? scene : undefined, revision);
  if (index === undefined)
    return (
      <p class="empty">{connection === "lost" ? "The command does not answer: it has ended, or the URL is not complete." : "Reading …"}</p>
    );
  return (
    <>
      <Header index={index} connection={connection} overview={overview} scene={scene} go={go} isChange={isChange} />
      {overview === undefined ? (
        <>
          <p class="empty" role="status">
            {index.scenes.find(({ id }) => id === scene)?.problem ?? "Reading the cluster …"}
          </p>
          {isOfMany && <Clusters index={index} go={go} />}
        </>
      ) : (
        <>
          {!isChange && <Headline figures={isOfMany && route.section === "clusters" ? sumOf(index) : figuresOf(overview)} />}
          <Sections index={index} overview={overview} scene={scene} route={route} go={go} isChange={isChange} />
          {!(isOfMany && route.section === "clusters") && <Remarks index={index} overview={overview} scene={scene} />}
          <div class={`content${story === undefined ? "" : " with-story"}`}>
            <main>
              {isChange && index.change !== undefined ? (
                <Change change={index.change} start={overview.at} route={route} go={go} />
              ) : route.section === "pods" ? (
                <Pods overview={overview} pods={pods} route={route} go={go} />
              ) : route.section === "waiting" ? (
                <Waiting overview={overview} />
              ) : route.section === "claims" ? (
                <Claims overview={overview} />
              ) : route.section === "pools" ? (
                <Pools overview={overview} go={go} />
              ) : route.section === "disruption" ? (
                <Disruption overview={overview} go={go} />
              ) : route.section === "cost" ? (
                <CostSection overview={overview} points={index.costs?.[scene ?? ""] ?? []} {...{ hasPast, past, days, go }} />
              ) : route.section === "history" && hasPast ? (
                <History {...{ past, days, route, go }} />
              ) : isOfMany && route.section === "clusters" ? (
                <Clusters index={index} go={go} />
              ) : (
                <Nodes overview={overview} route={route} go={go}>
                  {isSmall && <Picture overview={overview} pods={pods} go={go} />}
                </Nodes>
              )}
            </main>
            {node !== undefined && (
              <Details {...{ overview, node, pods }} storyOf={hasPast ? scene : undefined} onClose={() => go({ params: { node: "" } })} />
            )}
            {story !== undefined && <Narrative story={story} frame={frame} go={go} />}
          </div>
          {story !== undefined && index.stories !== undefined && (
            <Timeline stories={index.stories} story={story} frame={frame} isFresh={(route.params["at"] ?? "") === ""} go={go} />
          )}
        </>
      )}
    </>
  );
}

interface HeaderProps {
  readonly index: ViewIndex;
  readonly connection: Connection;
  readonly overview: ClusterOverview | undefined;
  readonly scene: string | undefined;
  readonly go: Go;
  readonly isChange: boolean;
}

function Header({ index, connection, overview, scene, go, isChange }: HeaderProps): JSX.Element {
  const { kind, title, scenes } = index;
  return (
    <header class="top">
      <h1>
        <span class="faint">karpenter-serverless</span> {kind === "live" && scenes.length > 1 ? "" : title}
      </h1>
      {scenes.length > 1 && (
        <nav aria-label="Clusters">
          {scenes.length > MAX_TABS ? (
            <select
              aria-label="Cluster"
              value={scene}
              onChange={({ currentTarget }) => go({ params: { cluster: currentTarget.value, node: "", q: "" } }, "push")}
            >
              {scenes.map(({ id, name, problem }) => (
                <option key={id} value={id}>
                  {name}
                  {problem !== undefined && " ⚠"}
                </option>
              ))}
            </select>
          ) : (
            scenes.map(({ id, name, problem }) => (
              <button
                type="button"
                key={id}
                class="tab"
                aria-pressed={!isChange && id === scene}
                title={problem ?? name}
                onClick={() => go({ ...(isChange && { section: "nodes" }), params: { cluster: id, node: "", q: "" } }, "push")}
              >
                {name}
                {problem !== undefined && " ⚠"}
              </button>
            ))
          )}
        </nav>
      )}
      <span class={`connection ${connection}`} role="status">
        {connection === "lost" ? (
          "the command has ended"
        ) : kind === "live" && overview !== undefined ? (
          <Freshness at={overview.at} />
        ) : (
          KINDS[kind]
        )}
      </span>
      <Theme />
    </header>
  );
}

/** More clusters are a list to choose from. */
const MAX_TABS = 6;

const KINDS: Readonly<Record<ViewIndex["kind"], string>> = { live: "live", file: "a file", lab: "simulated", "what-if": "a rehearsal" };

/** How old the picture is. */
function Freshness({ at }: { readonly at: number }): JSX.Element {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span title={`read at ${clock(at)}`}>
      <span class="dot ready" aria-hidden="true" /> live, {duration(now - at) || "0s"} old
    </span>
  );
}

const THEMES = ["auto", "light", "dark"] as const;

/** Follows the system's choice of light and dark until a reader chooses. */
function Theme(): JSX.Element {
  const [theme, setTheme] = useState<(typeof THEMES)[number]>("auto");
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
  }, [theme]);
  return (
    <label class="theme">
      <span class="hidden">Theme</span>
      <select value={theme} onChange={({ currentTarget }) => setTheme(currentTarget.value as typeof theme)}>
        {THEMES.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

type Figures = Omit<SceneFigures, "at"> & { readonly note: string };

function figuresOf({ cost, nodes, pods, claims, waiting, nodePools }: ClusterOverview): Figures {
  return {
    ...{ cost, nodes: nodes.length, pods: pods.total, waiting: pods.waiting, claims: claims.length },
    spotNodes: nodes.filter(({ capacityType }) => capacityType === "spot").length,
    left: waiting.filter(({ state }) => state === "left").reduce((sum, group) => sum + group.pods.length, 0),
    note: counted(nodePools.length, "NodePool"),
  };
}

/** The figures of all clusters that could be read. */
function sumOf({ scenes }: ViewIndex): Figures {
  const read = scenes.flatMap(({ figures }) => figures ?? []);
  const sum = (of: (one: SceneFigures) => number): number => read.reduce((total, one) => total + of(one), 0);
  return {
    cost: {
      perHour: sum(({ cost }) => cost.perHour),
      onDemandPerHour: sum(({ cost }) => cost.onDemandPerHour),
      unpriced: sum(({ cost }) => cost.unpriced),
    },
    ...{ nodes: sum(({ nodes }) => nodes), spotNodes: sum(({ spotNodes }) => spotNodes), pods: sum(({ pods }) => pods) },
    ...{ waiting: sum(({ waiting }) => waiting), left: sum(({ left }) => left), claims: sum(({ claims }) => claims) },
    note: `of ${counted(read.length, "cluster")}`,
  };
}

function Headline({ figures }: { readonly figures: Figures }): JSX.Element {
  const { cost, nodes, spotNodes, pods, claims, waiting, left, note } = figures;
  const saved = cost.onDemandPerHour - cost.perHour;
  return (
    <dl class="headline">
      <Stat
        label="Cost"
        value={`${money(cost.perHour)}/h`}
        note={
          cost.unpriced > 0 ? `${monthly(cost.perHour)}, without ${counted(cost.unpriced, "node")} of unknown price` : monthly(cost.perHour)
        }
      />
      <Stat
        label="On demand"
        value={`${money(cost.onDemandPerHour)}/h`}
        note={saved > 0.00005 ? `${percent(saved / cost.onDemandPerHour)} saved by spot and reservations` : "the same"}
      />
      <Stat label="Nodes" value={nodes.toLocaleString("en-US")} note={spotNodes > 0 ? `${spotNodes} spot` : note} />
      <Stat label="Pods" value={pods.toLocaleString("en-US")} note="bound or waiting" />
      <Stat label="Waiting" value={waiting} note={left > 0 ? `${left} without a place` : "for a node"} tone={left > 0 ? "bad" : ""} />
      <Stat label="On their way" value={claims} note={claims === 1 ? "NodeClaim" : "NodeClaims"} />
    </dl>
  );
}

interface SectionsProps {
  readonly index: ViewIndex;
  readonly overview: ClusterOverview;
  readonly scene: string | undefined;
  readonly route: Route;
  readonly go: Go;
  readonly isChange: boolean;
}

/** Whether the scenes are clusters beside each other. */
const isManyClusters = ({ kind, scenes }: ViewIndex): boolean => kind !== "what-if" && scenes.length > 1;

function Sections({ index, overview, scene, route, go, isChange }: SectionsProps): JSX.Element {
  const { nodes, pods, nodePools, claims, commands } = overview;
  const past = index.past?.[scene ?? ""];
  const sections: readonly (readonly [string, string, number?])[] = [
    ...(index.change === undefined ? [] : [["change", "What if"] as const]),
    ...(isManyClusters(index) ? [["clusters", "Clusters", index.scenes.length] as const] : []),
    ["nodes", "Nodes", nodes.length],
    ["pods", "Pods", pods.total],
    ["waiting", "Waiting", pods.waiting],
    ["claims", "On their way", claims.length],
    ["pools", "NodePools", nodePools.length],
    ["disruption", "Disruption", commands.length],
    ["cost", "Cost"],
    ...(past === undefined ? [] : [["history", "History", past.events.length + past.moreEvents] as const]),
  ];
  const shown = isChange ? "change" : sections.some(([key]) => key === route.section) ? route.section : "nodes";
  return (
    <nav class="sections" aria-label="Sections">
      {sections.map(([key, title, count]) => (
        <a
          key={key}
          href={`#${key}`}
          aria-current={key === shown ? "page" : undefined}
          onClick={(event) => {
            event.preventDefault();
            go({ section: key, params: { q: "", sort: "" } }, "push");
          }}
        >
          {title}
          {count !== undefined && !isChange && " "}
          {count !== undefined && !isChange && <span class="count">{count.toLocaleString("en-US")}</span>}
        </a>
      ))}
    </nav>
  );
}

function Remarks({
  index,
  overview,
  scene,
}: {
  readonly index: ViewIndex;
  readonly overview: ClusterOverview;
  readonly scene: string | undefined;
}): JSX.Element {
  const problem = index.scenes.find(({ id }) => id === scene)?.problem;
  const texts = [...(problem === undefined ? [] : [problem]), ...overview.remarks];
  return (
    <>
      {texts.map((text) => (
        <p key={text} class={`remark${text === problem ? " problem" : ""}`} role={text === problem ? "alert" : "note"}>
          {text}
        </p>
      ))}
    </>
  );
}

const root = document.getElementById("page");
if (root !== null) render(<Page />, root);
