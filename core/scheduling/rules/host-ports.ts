import type { PodSpec } from "../../model/pod.ts";

/** A port of the node that a pod uses. */
export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

/**
 * Host ports of the regular containers; an empty hostIP is 0.0.0.0
 * (karpenter: pkg/scheduling/hostportusage.go, GetHostPorts).
 */
export function hostPorts(spec: PodSpec): readonly HostPort[] {
  return (spec.containers ?? []).flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort, hostIP, protocol }) =>
      hostPort ? [{ ip: hostIP === undefined || hostIP === "" ? "0.0.0.0" : hostIP, port: hostPort, protocol: protocol ?? "TCP" }] : [],
    ),
  );
}

function isAnyAddress(ip: string): boolean {
  return ip === "0.0.0.0" || ip === "::";
}

/** Whether two ports exclude each other (karpenter: pkg/scheduling/hostportusage.go, HostPort.Matches). */
function clash(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || isAnyAddress(a.ip) || isAnyAddress(b.ip));
}

/** The first wanted port that is taken; undefined when all are free. */
export function takenPort(wanted: readonly HostPort[], taken: readonly HostPort[]): HostPort | undefined {
  return wanted.find((want) => taken.some((other) => clash(want, other)));
}
