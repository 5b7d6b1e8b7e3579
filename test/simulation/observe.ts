import type { CallHooks, KillVerdict, PortCall } from "#lab/world/intercept.ts";
import { INVARIANTS } from "./invariants/all.ts";
import { CLUSTER } from "./invariants/facts.ts";
import { look, type Scene, type Watcher } from "./invariants/invariant.ts";

/** A broken invariant. */
export interface Violation {
  /** Name of the invariant. */
  readonly invariant: string;
  readonly detail: string;
  /** Virtual time, ms since the epoch. */
  readonly at: number;
}

export interface Observer {
  readonly violations: readonly Violation[];
  /** Starts watching the scene; to be called once, at the start of the run. */
  watch(scene: Scene): void;
  /** Hooks that apply the faults first, so that invariants see only calls that have an effect. */
  around(faults: CallHooks): CallHooks;
  /** Checks the whole state. */
  check(): Promise<void>;
  /** Checks the whole state for the last time. */
  finish(): Promise<void>;
  /** Reports a violation that no invariant module covers. */
  report(invariant: string, detail: string): void;
}

/**
 * Checks all invariants during a run. `isOther`: whether the running invocation is of another version of the code, as a
 * violation then says.
 */
export function observer(isOther: () => boolean = () => false, invariants = INVARIANTS): Observer {
  const violations: Violation[] = [];
  const watchers: Watcher[] = [];
  let scene: Scene | undefined;
  const now = (): number => scene?.lab.world.clock.now() ?? 0;
  const report = (invariant: string, detail: string): void =>
    void violations.push({ invariant, detail: isOther() ? `${detail} (by the other version)` : detail, at: now() });

  const about = (call: PortCall): Promise<undefined> | undefined => {
    const published = watchers.flatMap((watcher) => watcher.onCall?.(call) ?? []);
    return published.length === 0 ? undefined : Promise.all(published).then(() => undefined);
  };

  return {
    violations,
    report,
    watch(watched) {
      scene = watched;
      const { world, cloud } = watched.lab;
      const { history } = watched;
      world.onChange(history.onChange);
      watchers.push({ onLaunch: history.onLaunch, onResult: history.onResult });
      cloud.onEvent(history.onEvent);
      for (const { name, watch } of invariants) watchers.push(watch(watched, (detail) => report(name, detail)));
      world.onChange((change) => {
        for (const watcher of watchers) watcher.onChange?.(change);
      });
      cloud.onEvent(({ "detail-type": type, detail }) => {
        if (type !== "EC2 Instance State-change Notification" || detail["state"] !== "pending") return;
        const machine = cloud.machines().find(({ instance }) => instance.id === detail["instance-id"]);
        if (machine?.instance.tags[CLUSTER] !== world.cluster) return;
        for (const watcher of watchers) watcher.onLaunch?.(machine);
      });
    },
    around: (faults) => ({
      before(call) {
        const verdict = faults.before?.(call);
        const goOn = (v: KillVerdict): Promise<KillVerdict> | KillVerdict => (v === undefined ? about(call) : v);
        return verdict instanceof Promise ? verdict.then(goOn) : goOn(verdict);
      },
      after(call, result) {
        for (const watcher of watchers) watcher.onResult?.(call, result);
        return faults.after?.(call, result);
      },
    }),
    async check() {
      if (scene === undefined) return;
      const sight = await look(scene);
      for (const watcher of watchers) watcher.check?.(sight);
    },
    async finish() {
      if (scene === undefined) return;
      const sight = await look(scene);
      const { table, lab } = scene;
      const told = await table.history(lab.world.cluster, { since: 0, until: now() + 1 });
      for (const watcher of watchers) watcher.atEnd?.(sight, told);
    },
  };
}
