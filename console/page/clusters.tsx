import type { JSX } from "preact";
import type { Scene, ViewIndex } from "#core/insight/overview/types.ts";
import { counted, money, monthly, percent } from "./format.ts";
import { NumbersHead } from "./parts.tsx";
import type { Go } from "./route.ts";

/** All clusters beside each other, and their sum. */
export function Clusters({ index, go }: { readonly index: ViewIndex; readonly go: Go }): JSX.Element {
  const { scenes, past = {} } = index;
  const days = scenes.flatMap(({ id }) => past[id] ?? []);
  const read = scenes.flatMap(({ figures }) => figures ?? []);
  const sum = (of: (one: (typeof read)[number]) => number): number => read.reduce((total, one) => total + of(one), 0);
  const hasPast = days.length > 0;
  return (
    <section class="cards" aria-label="Clusters">
      <article class="card wide">
        <table class="plain-table">
          <caption>{counted(scenes.length, "cluster")}</caption>
          <NumbersHead
            of="Cluster"
            titles={["Nodes", "Pods", "Waiting", "On their way", "$/h", "On demand", "Saved", ...(hasPast ? ["Last day"] : [])]}
          />
          <tbody>
            {scenes.map((scene) => (
              <Row key={scene.id} scene={scene} dollars={hasPast ? past[scene.id]?.dollars : undefined} hasPast={hasPast} go={go} />
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">all</th>
              <td class="number">{sum(({ nodes }) => nodes)}</td>
              <td class="number">{sum(({ pods }) => pods).toLocaleString("en-US")}</td>
              <td class="number">{sum(({ waiting }) => waiting)}</td>
              <td class="number">{sum(({ claims }) => claims)}</td>
              <Prices perHour={sum(({ cost }) => cost.perHour)} onDemand={sum(({ cost }) => cost.onDemandPerHour)} />
              {hasPast && <td class="number">{money(days.reduce((total, { dollars }) => total + dollars, 0))}</td>}
            </tr>
          </tfoot>
        </table>
        <p class="faint">{monthly(sum(({ cost }) => cost.perHour))}</p>
      </article>
    </section>
  );
}

interface RowProps {
  readonly scene: Scene;
  readonly dollars: number | undefined;
  readonly hasPast: boolean;
  readonly go: Go;
}

function Row({ scene: { id, name, figures, problem }, dollars, hasPast, go }: RowProps): JSX.Element {
  return (
    <tr>
      <th scope="row">
        <button type="button" class="link" onClick={() => go({ section: "nodes", params: { cluster: id, node: "", q: "" } }, "push")}>
          {name}
        </button>
        {problem !== undefined && <p class="problem">{problem}</p>}
      </th>
      {figures === undefined ? (
        <td colSpan={hasPast ? 8 : 7} class="faint">
          {problem === undefined ? "is being read" : "not read"}
        </td>
      ) : (
        <>
          <td class="number">{figures.nodes}</td>
          <td class="number">{figures.pods.toLocaleString("en-US")}</td>
          <td class={`number${figures.left > 0 ? " problem" : ""}`}>
            {figures.waiting}
            {figures.left > 0 && `, ${figures.left} without a place`}
          </td>
          <td class="number">{figures.claims}</td>
          <Prices perHour={figures.cost.perHour} onDemand={figures.cost.onDemandPerHour} />
          {hasPast && <td class="number">{dollars === undefined ? "–" : money(dollars)}</td>}
        </>
      )}
    </tr>
  );
}

function Prices({ perHour, onDemand }: { readonly perHour: number; readonly onDemand: number }): JSX.Element {
  return (
    <>
      <td class="number">{money(perHour)}</td>
      <td class="number faint">{money(onDemand)}</td>
      <td class="number">{onDemand - perHour > 0.00005 ? percent((onDemand - perHour) / onDemand) : "–"}</td>
    </>
  );
}
