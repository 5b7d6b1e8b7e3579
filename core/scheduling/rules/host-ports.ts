import type { PodSpec } from "../../model/pod.ts";

/** A port that a pod takes on its node. */
export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

/** Ports of the regular containers, as scheduling counts them. */
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

function clash(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || isAnyAddress(a.ip) || isAnyAddress(b.ip));
}

/** First wanted port that is taken. */
export function takenPort(wanted: readonly HostPort[], taken: readonly HostPort[]): HostPort | undefined {
  return wanted.find((want) => taken.some((other) => clash(want, other)));
}
