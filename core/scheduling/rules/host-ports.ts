import type { PodSpec } from "../../model/pod.ts";

/** A port of the node that a pod uses. */
export interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

/**
 * Host ports of the regular containers; an empty hostIP is 0.0.0.0
 * (karpenter: pkg/scheduling/hostportusage.go, GetHostPorts). On the host network each container port is a host port.
 * The API server writes that into pods and not into templates, so a DaemonSet that has no pod yet would seem to use no
 * ports: a node would be bought for a pod that loses its port to a daemon there
 * (kubernetes: pkg/apis/core/v1/defaults.go, defaultHostNetworkPorts).
 */
export function hostPorts({ containers = [], hostNetwork = false }: PodSpec): readonly HostPort[] {
  return containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ containerPort, hostPort, hostIP, protocol }) => {
      const port = hostPort || (hostNetwork && containerPort);
      return port ? [{ ip: hostIP === undefined || hostIP === "" ? "0.0.0.0" : hostIP, port, protocol: protocol ?? "TCP" }] : [];
    }),
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
